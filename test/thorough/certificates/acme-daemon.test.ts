// The real daemon with a real directory: it starts with a self-signed certificate, gets one by HTTP-01, and HTTP, inbound
// SMTP and submission take it without a restart.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import tls from 'node:tls';
import t from 'tap';
import { findFreePort } from '../../support/free-port.ts';
import { pebbleMissing, startPebble } from '../../support/pebble.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { until } from '../../support/until.ts';
import { startWorld } from '../../support/world.ts';

const skip = pebbleMissing();
const [HOST, LINKS, SMTP] = ['mail.postrider.test', 'links.postrider.test', 'out.postrider.test'];
/** Ample for one connection at each listener. */
const TAKEN_MS = 60_000;

for (const engine of ['uws', 'node']) {
  t.test(`all listeners on ${engine} take a certificate of the directory`, { skip }, async (t) => {
    const [httpPort, port, tlsPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
    const settings = {
      http: { engine },
      service: { links_url: `https://${LINKS}`, ehlo_name: SMTP },
      submission: { host: '127.0.0.1', port, tls_port: tlsPort },
    };
    const { postrider, dns } = await startWorld(t, { settings });
    for (const name of [HOST, LINKS, SMTP]) dns.set(name, 'A', ['127.0.0.1']);
    const pebble = await startPebble(t, { dns, httpPort });
    const runtimeDir = path.join(postrider.folder, 'run');
    fs.mkdirSync(runtimeDir);
    fs.appendFileSync(
      postrider.configFile,
      `\n[tls]\nacme = true\nacme_terms_accepted = true\nacme_directory = "${pebble.directory}"\nacme_root = "${pebble.rootFile}"\n` +
        `acme_host = "127.0.0.1"\nacme_http_port = ${httpPort}\nruntime_dir = "run"\n`,
    );
    const ca = pebble.issuerRoot;
    let daemon = await postrider.serve();
    t.same(daemon.find({ msg: 'a self-signed certificate is in use until the directory has issued one' }).length, 2);
    const issued = await daemon.logged({ msg: 'certificate issued', names: `${LINKS} ${HOST}` });
    t.match(issued.not_after, /^20/);
    await daemon.logged({ msg: 'certificate issued', names: SMTP });

    const trusted = {
      [HOST]: () => overTls(daemon.httpPort, HOST, ca),
      [LINKS]: () => overTls(daemon.httpPort, LINKS, ca),
      submission: () => overTls(tlsPort, SMTP, ca),
      'submission with STARTTLS': () => overStartTls(port, SMTP, ca),
      'inbound SMTP': () => overStartTls(smtpPort(), SMTP, ca),
    };
    const smtpPort = () => Number(daemon.find({ msg: 'ready' })[0]?.smtp_port);
    for (const [name, works] of Object.entries(trusted)) await until(name, works, TAKEN_MS);
    t.same(fs.readdirSync(runtimeDir), [], 'no key stays in a file');
    const everywhere = fs
      .readdirSync(path.join(postrider.folder, 'data'))
      .map((name) => path.join(postrider.folder, 'data', name));
    for (const file of everywhere.filter((name) => fs.statSync(name).isFile()))
      t.notMatch(fs.readFileSync(file, 'latin1'), 'PRIVATE KEY', file);
    t.match(await plainHttp(httpPort, HOST), { status: 308, location: 'https://mail.postrider.test/portal' });

    t.same(await daemon.stop(), { code: 0, signal: null });
    daemon = await postrider.serve();
    for (const [name, works] of Object.entries(trusted)) t.ok(await works(), `${name}, at once after a restart`);
    t.same(daemon.find({ msg: 'getting a certificate' }), []);
    const { findings } = (await doctor(postrider)) as {
      findings: { check: string; health: string; message: string }[];
    };
    const certificates = findings.filter(({ check }) => check.endsWith('certificate'));
    t.match(certificates, [
      { check: 'HTTP certificate', health: 'ok', message: /is valid until .*renew/ },
      { check: 'SMTP certificate', health: 'ok' },
    ]);
  });
}

t.test('on port 443 alone, where HTTPS itself proves the names', { skip }, async (t) => {
  const tlsPort = await findFreePort();
  const settings = {
    http: { engine: 'node', port: tlsPort },
    service: { links_url: `https://${LINKS}`, ehlo_name: SMTP },
  };
  const { postrider, dns } = await startWorld(t, { settings });
  for (const name of [HOST, LINKS, SMTP]) dns.set(name, 'A', ['127.0.0.1']);
  const nobody = await findFreePort();
  const pebble = await startPebble(t, { dns, httpPort: nobody, tlsPort, reusedProofs: 0 });
  fs.appendFileSync(
    postrider.configFile,
    `\n[tls]\nacme = true\nacme_terms_accepted = true\nacme_challenge = "tls-alpn-01"\nacme_directory = "${pebble.directory}"\n` +
      `acme_root = "${pebble.rootFile}"\nacme_http_port = ${nobody}\n`,
  );
  const daemon = await postrider.serve();
  await daemon.logged({ msg: 'certificate issued', names: `${LINKS} ${HOST}` });
  await daemon.logged({ msg: 'certificate issued', names: SMTP });
  await until(HOST, () => overTls(tlsPort, HOST, pebble.issuerRoot), TAKEN_MS);
  await t.rejects(plainHttp(nobody, HOST), { code: 'ECONNREFUSED' });
  for (const [offered, agreed] of [
    [['h2', 'http/1.1'], 'http/1.1'],
    [['acme-tls/1'], null],
    [['h2'], null],
  ] as const)
    t.equal(await protocolOf(tlsPort, [...offered]), agreed, offered.join());
});

t.test('without a port for challenges mail goes on, and everyone is told why', { skip }, async (t) => {
  const taken = http.createServer().listen(0, '127.0.0.1');
  t.teardown(() => taken.close());
  await until('the port', () => taken.address());
  const { port } = taken.address() as { port: number };
  const acme = {
    acme: true,
    acme_terms_accepted: true,
    acme_directory: 'https://localhost:1/dir',
    acme_host: '127.0.0.1',
    acme_http_port: port,
  };
  const { postrider } = await startWorld(t, { settings: { tls: acme } });
  const daemon = await postrider.serve();
  const line = await daemon.logged({ msg: 'certificates wait: the port for challenges cannot be opened' });
  t.match(line.reason, /tls\.acme_http_port: cannot listen on \S+ \(another program uses this port/);
  t.equal(await overTls(daemon.httpPort, HOST, undefined), false, 'self-signed');
  const smtpPort = Number(daemon.find({ msg: 'ready' })[0]?.smtp_port);
  t.equal(await overStartTls(smtpPort, HOST, undefined), false, 'STARTTLS, self-signed');
  const { findings } = (await doctor(postrider)) as { findings: { check: string; health: string; message: string }[] };
  t.match(
    findings.filter(({ check }) => check === 'HTTP certificate'),
    [{ health: 'fail', message: /self-signed/ }],
  );
});

async function doctor(postrider: { runHere(...args: string[]): Promise<{ stdout: string }> }): Promise<unknown> {
  return JSON.parse((await postrider.runHere('doctor', '--json')).stdout);
}

function authorized(socket: tls.TLSSocket): boolean {
  const { authorized: isTrusted } = socket;
  socket.destroy();
  return isTrusted;
}

/** Whether a client that knows the root trusts it. */
function overTls(port: number, servername: string, ca: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', servername, rejectUnauthorized: false, ...(ca && { ca }) };
    const socket = tls.connect(options, () => resolve(authorized(socket)));
    socket.once('error', () => resolve(false));
  });
}

/** What client and server agree on; null: on nothing. */
function protocolOf(port: number, ALPNProtocols: string[]): Promise<string | false | null> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', servername: HOST, rejectUnauthorized: false, ALPNProtocols };
    const socket = tls.connect(options, () => {
      resolve(socket.alpnProtocol);
      socket.destroy();
    });
    socket.once('error', () => resolve(null));
  });
}

async function overStartTls(port: number, servername: string, ca: string | undefined): Promise<boolean> {
  const client = await SmtpClient.hello(port);
  return authorized(await client.startTls({ servername, rejectUnauthorized: false, ...(ca && { ca }) }));
}

function plainHttp(port: number, host: string): Promise<{ status?: number; location?: string }> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: '/portal', headers: { Host: host }, agent: false };
    http
      .get(options, ({ statusCode, headers, resume }) => {
        void resume;
        resolve({ ...(statusCode && { status: statusCode }), ...(headers.location && { location: headers.location }) });
      })
      .once('error', reject);
  });
}

// Several daemons on one PostgreSQL and a real directory: the names of HTTP are those of all, and each daemon has one of
// its own in SMTP.
import fs from 'node:fs';
import http from 'node:http';
import tls from 'node:tls';
import t, { type Test } from 'tap';
import type { Daemon, Installation } from '../../support/daemon-process.ts';
import { findFreePort } from '../../support/free-port.ts';
import { startNodes } from '../../support/nodes.ts';
import { pebbleMissing, startPebble } from '../../support/pebble.ts';
import { postgresMissing } from '../../support/postgres-server.ts';
import { until } from '../../support/until.ts';

const skip = pebbleMissing() || postgresMissing();
const [HOST, LINKS] = ['mail.postrider.test', 'links.postrider.test'];
const SHARED = `${LINKS} ${HOST}`;
const NODES = [
  { name: 'a', smtp: 'out-a.postrider.test', ip: '127.0.0.1' },
  { name: 'b', smtp: 'out-b.postrider.test', ip: '127.0.0.2' },
] as const;
/** Where the names of all lead to. */
const BALANCER = '127.0.0.3';
/** A run of the timer and the one after it. */
const RUNS_MS = 150_000;

interface Machine {
  name: string;
  smtp: string;
  ip: string;
  postrider: Installation;
  daemon: Daemon;
}

async function startMachines(t: Test) {
  const service = (smtp: string) => ({ service: { links_url: `https://${LINKS}`, ehlo_name: smtp } });
  const [first, second] = NODES;
  const { nodes, dns, install } = await startNodes(t, [first.name], service(first.smtp));
  await nodes[0]!.daemon.stop();
  const installations = [nodes[0]!.postrider, install(second.name, service(second.smtp))];
  const httpPort = await findFreePort();
  const pebble = await startPebble(t, { dns, httpPort, reusedProofs: 0 });
  const machines: Machine[] = [];
  for (const [at, { name, smtp, ip }] of NODES.entries()) {
    const postrider = installations[at]!;
    dns.set(smtp, 'A', [ip]);
    fs.appendFileSync(
      postrider.configFile,
      `\n[tls]\nacme = true\nacme_terms_accepted = true\nacme_directory = "${pebble.directory}"\nacme_root = "${pebble.rootFile}"\n` +
        `acme_host = "${ip}"\nacme_http_port = ${httpPort}\n`,
    );
    machines.push({ name, smtp, ip, postrider, daemon: await postrider.serve() });
  }
  return { dns, pebble, httpPort, machines };
}

t.test(
  'a certificate is in use by all, whoever has ordered it and whoever has proven its names',
  { skip },
  async (t) => {
    const { dns, pebble, httpPort, machines } = await startMachines(t);
    for (const { daemon, smtp } of machines) {
      await daemon.logged({ msg: 'certificate issued', names: smtp });
      await daemon.logged({ msg: 'a certificate waits for DNS', names: SHARED });
      t.same(daemon.find({ msg: 'getting a certificate' }).length, 1, 'each gets its own');
    }
    // As unhelpful as a balancer can be: each challenge goes to the daemon that has not ordered.
    const asked = await balance(t, httpPort, () => machines.filter((machine) => !isOrdering(machine)));
    for (const name of [HOST, LINKS]) dns.set(name, 'A', [BALANCER]);
    await machines[0]!.postrider.json('certificate', 'renew', HOST);
    const issued = { msg: 'certificate issued', names: SHARED };
    await until('a certificate', () => machines.some(({ daemon }) => daemon.find(issued).length > 0), RUNS_MS);
    t.equal(machines.filter(isOrdering).length, 1, 'one orders it');
    const [other] = machines.filter((machine) => !isOrdering(machine));
    t.same([...new Set(asked)], [other!.name], 'the other one has proven the names');
    t.equal(await statusOf(other!, httpPort), 404, 'and answers no more when the order is over');

    // Its timer runs at once, and looks for all certificates.
    await other!.postrider.json('certificate', 'renew', other!.smtp);
    await other!.daemon.logged({ msg: 'a certificate from the store is in use', names: SHARED });
    for (const { name, daemon } of machines) {
      await until(name, () => overTls(daemon.httpPort, pebble.issuerRoot));
      t.same(daemon.find({ msg: 'no certificate issued' }), [], name);
    }
  },
);

function isOrdering({ daemon }: Machine): boolean {
  return daemon.find({ msg: 'getting a certificate', names: SHARED }).length > 0;
}

/** Of a challenge with any token. */
function statusOf({ ip }: Machine, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const path = `/.well-known/acme-challenge/${'a'.repeat(43)}`;
    const asking = http.get({ host: ip, port, path, agent: false }, (answer) => resolve(answer.resume().statusCode));
    asking.once('error', reject);
  });
}

/** Hands each challenge to the first of these; the list of whom it asked. */
async function balance(t: Test, port: number, targets: () => Machine[]): Promise<string[]> {
  const asked: string[] = [];
  const server = http.createServer((call, answer) => {
    const { name, ip } = targets()[0]!;
    asked.push(name);
    const options = { host: ip, port, path: call.url ?? '/', headers: { Host: call.headers.host ?? '' }, agent: false };
    const passing = http.get(options, (from) => from.pipe(answer.writeHead(from.statusCode ?? 502, from.headers)));
    passing.once('error', () => answer.destroy());
  });
  server.listen(port, BALANCER);
  t.teardown(() => server.close());
  await until('the balancer', () => server.address());
  return asked;
}

/** Whether a client that knows the root trusts it. */
function overTls(port: number, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', servername: HOST, ca, rejectUnauthorized: false };
    const socket = tls.connect(options, () => {
      resolve(socket.authorized);
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}

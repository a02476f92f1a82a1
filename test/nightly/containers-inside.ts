// Run by containers.test.ts in a network of its own: what install.md and the compose files say, with a real Docker.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import t, { type Test } from 'tap';
import { pasteCurlLine } from '../sandbox/curl-line.ts';
import { type ApiAnswer, type ApiCall, callApi, type Json, toToml } from '../support/daemon-process.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { addAddresses, startDocker } from '../support/docker.ts';
import { startMailSink } from '../support/mail-sink.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { createTestAuthority } from '../support/test-authority.ts';
import { until } from '../support/until.ts';
import { registerSender } from '../support/world.ts';

const { CHECKOUT: folder = '', SUITE: suite = '' } = process.env;
const root = path.join(folder, '../..');
const packaging = path.join(folder, 'packaging');
const ORIGIN = 'http://127.0.0.1:8080';
/** Of DNS, PostgreSQL and the receiving server, and of the two daemons. */
const [OUTSIDE, FIRST, SECOND] = ['192.0.2.1', '192.0.2.11', '192.0.2.12'] as const;
const USER = 925;
const START_MS = 60_000;

// Who has started it ends it.
t.setTimeout(0);
const docker = await startDocker(t, root, folder);
addAddresses(root, OUTSIDE, FIRST, SECOND);

/** This machine may permit fewer open files than the service asks for; without a right to more, no container starts. */
function lessFiles(test: Test, services: readonly string[]): string[] {
  const most = Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }));
  if (!(most < 65_536)) return [];
  test.comment(`nofile is ${most} here, as this machine permits no more`);
  const lines = services.map((name) => `  ${name}: { ulimits: { nofile: ${most} } }\n`);
  fs.writeFileSync(path.join(packaging, 'less-files.yaml'), `services:\n${lines.join('')}`);
  return ['--file', 'packaging/less-files.yaml'];
}

function composeWith(test: Test, file: string, services: readonly string[], ...options: string[]) {
  const all = ['compose', '--file', `packaging/${file}`, ...lessFiles(test, services), ...options];
  const compose = (...args: string[]) => docker(...all, ...args);
  const json = async (service: string, ...args: string[]) =>
    JSON.parse(await compose('exec', '-T', service, 'postrider', ...args, '--json')) as Json;
  test.teardown(async () => {
    if (!test.passing()) test.comment((await compose('logs', '--tail', '40')).slice(-8000));
    await compose('down', '--volumes');
  });
  return { compose, json };
}

async function inspect(
  container: string,
): Promise<{ Config: { User: string }; State: { Health: { Status: string }; ExitCode: number } }> {
  return JSON.parse(await docker('inspect', container))[0];
}

t.before(async () => {
  await docker('import', 'base.tar', `docker.io/library/debian:${suite}-slim`);
  await docker('import', 'nginx.tar', 'nginx-of-debian');
  fs.writeFileSync(
    path.join(folder, 'nginx.Dockerfile'),
    'FROM nginx-of-debian\nRUN rm /etc/nginx/sites-enabled/default\nCMD ["nginx", "-g", "daemon off;"]\n',
  );
  await docker('build', '--file', 'nginx.Dockerfile', '--tag', 'docker.io/library/nginx:stable', '.');
  // As install.md says it.
  await docker('build', '--file', 'packaging/Dockerfile', '--tag', 'postrider', '.');
});

t.test('the sandbox', async (t) => {
  const { compose } = composeWith(t, 'compose.yaml', ['sandbox'], '--profile', 'sandbox');
  await compose('up', '--detach', 'sandbox');
  const words = () => compose('logs', '--no-log-prefix', 'sandbox');
  await until('it is ready', async () => /Ctrl-C stops it/.test(await words()), START_MS);
  const printed = await words();
  const { status, body } = await pasteCurlLine(t, /(curl -sS .*)$/m.exec(printed)![1]!);
  t.equal(status, '202', body);
  const [, key = ''] = /API key +(\S+)/.exec(printed) ?? [];
  const [, host, port] = /SMTP +(\S+):(\d+) /.exec(printed) ?? [];
  const transport = createTransport({ host, port: Number(port), auth: { user: 'apikey', pass: key } });
  const mail = { from: 'hello@hello.verified.test', to: 'you@example.com', subject: 'Hello', text: 'Hello.' };
  t.match((await transport.sendMail(mail)).response, /^250 /);
  transport.close();
  await until('both are delivered', async () => {
    const { status, body } = await callApi(ORIGIN, key, 'GET /emails?state=delivered');
    if (status !== 200) throw new Error(JSON.stringify(body));
    return (body.emails as unknown[]).length === 2;
  });
});

t.test('the service', async (t) => {
  fs.writeFileSync(path.join(packaging, 'postrider.toml'), '[service]\nbase_url = "https://mail.example.com"\n');
  const { compose, json } = composeWith(t, 'compose.yaml', ['postrider']);
  await compose('up', '--detach', 'postrider');
  const container = (await compose('ps', '--quiet', 'postrider')).trim();
  await until('it is healthy', async () => (await inspect(container)).State.Health.Status === 'healthy', 3 * START_MS);
  t.equal((await fetch(`${ORIGIN}/healthz`)).status, 200);
  t.match(await json('postrider', 'tenant', 'create', '--name', 'Acme'), { id: String });
  const status = await compose('exec', '-T', 'postrider', 'cat', '/proc/1/status');
  t.match(status, new RegExp(`^Uid:\\s+${USER}\\s`, 'm'), 'not root');
  t.match(status, /^CapEff:\s+0+$/m, 'nothing that root may');
  await t.rejects(compose('exec', '-T', 'postrider', 'touch', '/var/tmp/x'), /Read-only file system/);
  const { client } = await SmtpClient.open(25);
  t.match(await client.ask('EHLO client.test'), /^250/, 'its port for bounces is published');
  client.close();

  await compose('stop', 'postrider');
  t.equal((await inspect(container)).State.ExitCode, 0, 'it was closed, not killed');
  await compose('start', 'postrider');
  await until(
    'it is back',
    () =>
      fetch(`${ORIGIN}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    START_MS,
  );
  t.match(
    await json('postrider', 'tenant', 'list'),
    { tenants: [{ name: 'Acme' }] },
    'what was in the volume is there',
  );
});

t.test('two daemons on one PostgreSQL, and a balancer', async (t) => {
  const [dns, sink] = [await startDnsServer({ address: OUTSIDE }), await startMailSink({ host: OUTSIDE })];
  t.teardown(() => Promise.all([dns.close(), sink.close()]));
  dns.set('receiver.test', 'MX', [{ exchange: 'mx.receiver.test', preference: 10 }]);
  dns.set('mx.receiver.test', 'A', [OUTSIDE]);
  const authority = createTestAuthority();
  t.teardown(() => authority.close());
  const { certFile, keyFile } = authority.issue('localhost');
  const server = await startPostgres(t, {
    settings: { listen_addresses: '*', ssl: 'on' },
    files: { 'server.crt': certFile, 'server.key': keyFile },
  });
  await server.run('postgres', `CREATE ROLE postrider LOGIN PASSWORD 'secret'`);
  await server.run('postgres', 'CREATE DATABASE postrider OWNER postrider');
  await server.useRules('hostssl all postrider all scram-sha-256', 'local all all trust', 'host all owner all trust');

  const settings = {
    service: { base_url: 'https://mail.example.com' },
    http: { trusted_proxies: ['172.16.0.0/12'] },
    dns: { servers: [dns.endpoint], authority_port: dns.port, allow_private: true },
    delivery: { port: sink.port, allow_private: true, retry_steps: ['1s', '2s'] },
    intake: { min_disk_free: 0 },
  };
  fs.writeFileSync(path.join(packaging, 'postrider.toml'), toToml(settings));
  const url = `postgres://postrider:secret@${OUTSIDE}:${server.port}/postrider?sslmode=require`;
  fs.writeFileSync(path.join(packaging, '.env'), `STORE_URL=${url}\nMAIL_1_IP=${FIRST}\nMAIL_2_IP=${SECOND}\n`);
  const keyOfBoth = path.join(packaging, 'master.key');
  fs.writeFileSync(keyOfBoth, Buffer.alloc(32, 7).toString('base64'), { mode: 0o400 });
  fs.chownSync(keyOfBoth, USER, USER);

  const { compose, json } = composeWith(t, 'compose-nodes.yaml', ['mail-1', 'mail-2']);
  await compose('up', '--detach');
  await until(
    'the balancer reaches one',
    () =>
      fetch(`${ORIGIN}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    START_MS,
  );
  const stateOf = async (through: string) => {
    const { nodes } = await json(through, 'nodes', 'list');
    return (nodes as { node: string; state: string }[]).map(({ node, state }) => `${node} ${state}`).sort();
  };
  await until(
    'both live',
    async () => (await stateOf('mail-2').catch(() => [])).join() === 'mail-1 alive,mail-2 alive',
    START_MS,
  );
  for (const address of [FIRST, SECOND]) {
    const { client, greeting } = await SmtpClient.open(25, address, address);
    t.match(greeting, new RegExp(`^220 mail-${address === FIRST ? 1 : 2}\\.example\\.com`));
    client.close();
  }

  const call = (key: string | null, route: string, more?: ApiCall): Promise<ApiAnswer> =>
    callApi(ORIGIN, key, route, more);
  const postrider = { json: (...args: string[]) => json('mail-1', ...args) };
  const sender = await registerSender({ dns, postrider }, { call });
  let sent = 0;
  /** As a client does: again, with the same key, until there is an answer. */
  const send = async () => {
    const number = ++sent;
    const body = { from: `app@${sender.domain}`, to: `ann${number}@receiver.test`, subject: 'Hello', text: 'Hello.' };
    const headers = { 'Idempotency-Key': `mail-${number}` };
    await until('it is accepted', async () => {
      const answer = await call(sender.key, 'POST /emails', { body, headers }).catch(() => null);
      return answer?.status === 202;
    });
  };
  for (let count = 0; count < 20; count++) await send();
  await sink.received(sent);

  const stopped = compose('stop', 'mail-1');
  let isStopped = false;
  void stopped.then(() => (isStopped = true));
  while (!isStopped) await send();
  await stopped;
  for (let count = 0; count < 20; count++) await send();
  await sink.received(sent);
  t.same(await stateOf('mail-2'), ['mail-1 stopped', 'mail-2 alive']);
  t.equal(new Set(sink.mails.map(({ to }) => to)).size, sent, 'all of it has arrived');

  await compose('start', 'mail-1');
  await until(
    'both live again',
    async () => (await stateOf('mail-2')).join() === 'mail-1 alive,mail-2 alive',
    START_MS,
  );
});

// postrider setup without a proxy: the configuration with tls.acme, a daemon that waits for DNS, and the certificates of a
// real directory (pebble), which set-up waits for when DNS is right.
import path from 'node:path';
import t from 'tap';
import { startDnsServer } from '../../support/dns-server.ts';
import { findFreePort } from '../../support/free-port.ts';
import { pebbleMissing, startPebble } from '../../support/pebble.ts';
import { PROGRAM_ARGUMENTS } from '../../support/program.ts';
import { NO_ZONE_READER } from '../../support/read-zone.ts';
import { runServer } from '../../support/server-program.ts';
import { until } from '../../support/until.ts';
import { configOf, IP, publish, setupWorld } from './setup-world.ts';

const FLAGS = [
  ...['--yes', '--host', 'mail.service.test', '--https', 'self', '--operator', 'me@acme.test'],
  ...['--domain', 'acme.test', '--address', IP],
];

t.test('an IPv6 address gets listeners that answer it', async (t) => {
  const world = await setupWorld(t);
  const { stdout } = await world.setup(...FLAGS.with(-1, `${IP},2001:4860:4860::8888`));
  t.match(stdout, /AAAA/);
  const config = configOf(world)!;
  for (const line of ['host = "::"', 'acme_host = "::"', 'port = 443', 'acme = true', 'acme_terms_accepted = true'])
    t.ok(config.split('\n').includes(line), line);
  t.equal(config.match(/^host = "::"$/gm)?.length, 2, 'HTTP and SMTP');
  t.match(stdout, /^No certificate for mail\.service\.test yet: no daemon runs\./m);
  t.match(stdout, /^curl 'https:\/\/mail\.service\.test\/emails'/m);
});

t.test(
  'the daemon waits for DNS, and set-up for the certificate',
  { skip: pebbleMissing() || NO_ZONE_READER },
  async (t) => {
    const world = await setupWorld(t);
    // As the directory sees the world: the machine is this one, and at first another one, at which nobody answers.
    const outside = await startDnsServer({ records: { 'mail.service.test': { A: ['127.0.0.2'] } } });
    t.teardown(() => outside.close());
    const httpPort = await findFreePort();
    const pebble = await startPebble(t, { dns: outside, httpPort });
    Object.assign(world.env, {
      POSTRIDER_TLS_ACME_DIRECTORY: pebble.directory,
      POSTRIDER_TLS_ACME_ROOT: pebble.rootFile,
      POSTRIDER_TLS_ACME_HOST: '127.0.0.1',
      POSTRIDER_TLS_ACME_HTTP_PORT: String(httpPort),
    });
    const first = await world.setup(...FLAGS);
    t.match(configOf(world), /^acme = true$/m);
    t.match(first.stdout, /^No certificate for mail\.service\.test yet: no daemon runs\./m);

    Object.assign(world.env, {
      POSTRIDER_HTTP_HOST: '127.0.0.1',
      POSTRIDER_HTTP_PORT: String(await findFreePort()),
      POSTRIDER_SMTP_HOST: '127.0.0.1',
      POSTRIDER_SMTP_PORT: '0',
    });
    const daemon = runServer(process.execPath, [...PROGRAM_ARGUMENTS, 'serve', '--config', world.configFile], {
      env: world.env,
      cwd: path.dirname(world.configFile),
    });
    t.teardown(() => daemon.stop());
    // Not asked before: a command that finds no daemon holds the data folder itself.
    let log = '';
    daemon.child.stdout!.on('data', (part) => (log += part));
    await until('the daemon', () => log.includes('"msg":"ready"'));
    const list = async () =>
      JSON.parse((await world.run('certificate', 'list', '--json')).stdout || '{}').certificates?.[0];
    const waiting = await until('the look into DNS', async () => {
      const state = await list();
      return /^waits, because DNS has no address/.test(state?.remark) && state;
    });
    t.match(waiting, { state: 'none', failures: 0, listeners: ['http', 'smtp'] });

    const person = world.onTerminal('--address', IP);
    await person.sees(/^Checking again until all are right/m);
    publish(world.dns, (await world.run('dns', '--zone', '--address', IP)).stdout);
    await person.sees(/^Getting certificates …$/m);
    await person.sees(/^No certificate for mail\.service\.test yet: failed at 20.*: mail\.service\.test: /m);
    t.equal(await person.ended, 0);
    t.match(await list(), { state: 'none', failures: 1, last_failure: { reason: /^mail\.service\.test: / } });

    outside.set('mail.service.test', 'A', ['127.0.0.1']);
    const again = world.onTerminal('--address', IP);
    await again.sees(/^Certificate for mail\.service\.test: valid until 20/m);
    t.equal(await again.ended, 0);
    t.match(await list(), { state: 'valid', issuer: /Pebble/ });
    t.match(await world.run('certificate', 'renew', '--missing'), {
      code: 1,
      stderr: /none is missing: all are valid/,
    });
  },
);

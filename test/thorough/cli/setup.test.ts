// postrider setup as a program with flags: run again, beside an operator's configuration, and with what is wrong around it.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { renderDocumentedFile } from '../../../src/config/print.ts';
import { withDatabase } from '../../support/database.ts';
import { runProgram } from '../../support/program.ts';
import { NO_ZONE_READER } from '../../support/read-zone.ts';
import { testFolder } from '../../support/test-folder.ts';
import { configOf, IP, publish, setupWorld } from './setup-world.ts';

const CHECKOUT = path.resolve(import.meta.dirname, '../../..');

const NAMES = ['--host', 'mail.service.test', '--operator', 'me@acme.test', '--domain', 'acme.test', '--address', IP];
const FLAGS = [...NAMES, '--https', 'proxy'];

t.test('with flags: all is there, and a second run changes nothing', { skip: NO_ZONE_READER }, async (t) => {
  const world = await setupWorld(t);
  const first = await world.setup(...FLAGS, '--yes');
  t.equal(first.code, 1, 'the records are not published');
  t.match(first.stdout, /^ok {4}outbound port: \d+ is open: big\.test greeted$/m);
  t.match(first.stdout, /^fail {2}reverse name: 198\.41\.0\.4 is not set up correctly: /m);
  t.match(first.stdout, /^Login me@acme\.test, password \S+$/m);
  t.match(first.stdout, /^missing {2}MX: /m);
  t.match(first.stdout, /^acme\.test +TXT|^DKIM +\S+_domainkey\.acme\.test +TXT/m);
  const key = /^API key (\S+)$/m.exec(first.stdout)?.[1];
  t.ok(key, first.stdout + first.stderr);
  t.ok(first.stdout.includes(`Authorization: Bearer ${key}'`), 'the first call has it');
  const config = configOf(world)!;
  const changed = config.split('\n').filter((line) => !renderDocumentedFile().split('\n').includes(line));
  t.same(changed, [
    'trusted_proxies = ["127.0.0.1"]',
    'base_url = "https://mail.service.test"',
    'bounces_domain = "bounces.mail.service.test"',
    'operator_address = "me@acme.test"',
  ]);
  t.match(await world.run('config', 'check'), { code: 0 });

  const audit = () =>
    withDatabase(path.join(world.folder, 'data', 'postrider.db'), (db) =>
      db.prepare("SELECT action FROM audit WHERE action <> 'domain.checked' ORDER BY seq").pluck().all(),
    );
  const acts = ['user.created', 'tenant.created', 'domain.created', 'key.created'];
  t.same(audit(), acts, 'the audit log has all of it');

  const again = await world.setup(...FLAGS, '--yes', '--json');
  t.equal(again.code, 1);
  const result = JSON.parse(again.stdout);
  t.match(result, {
    config: { file: world.configFile, written: 'unchanged' },
    login: { email: 'me@acme.test', password: null },
    tenant: { name: 'acme.test', created: false },
    domain: { name: 'acme.test', created: false },
    key: null,
    records_right: false,
    verified: false,
  });
  t.equal(configOf(world), config);
  t.same(audit(), acts);

  publish(world.dns, result.zone);
  const done = await world.setup('--yes', '--address', IP);
  t.equal(done.code, 0, done.stdout + done.stderr);
  t.match(done.stdout, /^10 right\.$/m);
  t.notMatch(done.stdout, /^Tenant/m, 'who has domains is not asked for more');
  const late = await world.setup('--yes', '--https', 'self', '--address', IP);
  t.match(
    late.stdout,
    /^--https self changes nothing, because the configuration sets http\.trusted_proxies\. Change it/m,
  );
});

t.test('without a terminal: what is missing, at once', async (t) => {
  const world = await setupWorld(t);
  const bare = await world.setup('--host', 'mail.service.test', '--address', IP);
  t.equal(bare.code, 2);
  t.match(
    bare.stderr,
    /these are missing: --https, --bounces, --operator, --domain, --tenant\. --yes takes .* of --https, --bounces, --domain, --tenant/,
  );
  t.match(await world.setup('--yes', '--host', 'mail.service.test', '--address', IP), {
    code: 2,
    stderr: /these are missing: --operator\n/,
  });
  t.match(await world.setup('--https', 'me', '--yes'), { code: 2, stderr: /--https: .*self, proxy/ });
  t.match(await world.setup('--host', 'nonsense', '--yes'), { code: 2, stderr: /"nonsense" is not a domain name/ });
  t.equal(configOf(world), null, 'nothing is written');
  t.notOk(fs.existsSync(path.join(world.folder, 'data')));
});

t.test("an operator's configuration stays, and gets only what it lacks", async (t) => {
  const world = await setupWorld(t);
  const mine = '# mine\n[service]\nbase_url = "https://post.service.test" # as on the sign\n';
  fs.mkdirSync(path.dirname(world.configFile));
  fs.writeFileSync(world.configFile, mine, { mode: 0o640 });
  const { stdout } = await world.setup(...NAMES, '--yes');
  t.match(
    stdout,
    /^service\.base_url is "https:\/\/post\.service\.test" in \S+ and stays so; "https:\/\/mail\.service\.test" was given/m,
  );
  t.equal(
    configOf(world),
    '# mine\n[service]\noperator_address = "me@acme.test"\nbase_url = "https://post.service.test" # as on the sign\n',
  );
  t.equal(fs.statSync(world.configFile).mode & 0o777, 0o640);

  const odd = 'service = { base_url = "https://post.service.test" }\n';
  fs.writeFileSync(world.configFile, odd);
  const refused = await world.setup(...NAMES, '--yes');
  t.equal(refused.code, 1);
  t.match(
    refused.stderr,
    /can't be added to safely\. Add these keys by hand.*: service\.operator_address = "me@acme\.test"/,
  );
  t.equal(configOf(world), odd);
  fs.writeFileSync(world.configFile, '[service]\nbase_urk = 1\n');
  t.match(await world.setup(...NAMES, '--yes'), { code: 1, stderr: /service\.base_urk: unknown key; did you mean/ });
});

t.test('what is wrong around it is said in a sentence', async (t) => {
  const world = await setupWorld(t);
  Object.assign(world.env, { POSTRIDER_DELIVERY_PORT: '9', POSTRIDER_DOCTOR_KNOWN_DOMAINS: 'gone.big.test' });
  const closed = await world.setup(...FLAGS, '--yes');
  t.match(
    closed.stdout,
    /^fail {2}outbound port: 9 is closed: big\.test \(127\.0\.0\.1\): .*ECONNREFUSED\n +-> ask your hosting/m,
  );
  t.match(closed.stdout, /^fail {2}known domains: .* says gone\.big\.test does not exist/m, 'DNS that lies');
  t.match(closed.stdout, /^missing {2}/m, 'a script goes on');

  world.env.POSTRIDER_DNS_SERVERS = '127.0.0.1:9';
  const alone = await world.setup(...FLAGS, '--yes');
  t.match(alone.stdout, /^fail {2}resolver: DNS does not answer/m);
  t.match(alone.stdout, /^unknown {2}DKIM: .*acme\.test|^unknown {2}MX: /m);
  t.equal(alone.code, 1);
});

t.test('a file that cannot be written', async (t) => {
  const world = await setupWorld(t);
  fs.writeFileSync(path.join(world.folder, 'etc'), 'not a folder');
  const { code, stdout, stderr } = await world.setup(...FLAGS, '--yes');
  t.equal(code, 1);
  t.match(stderr, /postrider\.toml can't be written: /);
  t.notMatch(stdout, /API key/);
});

t.test('a value that somebody has written stays, whatever it is', async (t) => {
  const world = await setupWorld(t);
  const mine = '[http]\nhost = "127.0.0.1"\nport = 8080\n';
  fs.mkdirSync(path.dirname(world.configFile));
  fs.writeFileSync(world.configFile, mine);
  const { stdout } = await world.setup('--yes', ...NAMES, '--https', 'self');
  t.match(stdout, /^--https self changes nothing, because the configuration sets http\.host, http\.port\. Change it/m);
  t.ok(configOf(world)!.startsWith(mine));
  t.notMatch(configOf(world), /^acme = true$/m);
});

const NEEDS_ROOT = { skip: process.getuid?.() === 0 ? false : 'only root sets a machine up' };

t.test('a checkout that only root can enter is refused before anything is asked', NEEDS_ROOT, async (t) => {
  const closed = testFolder(t);
  fs.chmodSync(closed, 0o700);
  const root = path.join(closed, 'postrider');
  for (const name of ['bin', 'config', 'scripts', 'src', 'systemd', 'package.json', 'package-lock.json'])
    fs.cpSync(path.join(CHECKOUT, name), path.join(root, name), { recursive: true, preserveTimestamps: true });
  fs.symlinkSync(path.join(CHECKOUT, 'node_modules'), path.join(root, 'node_modules'));
  // Without flags and without a terminal it would change nothing, either.
  const { code, stderr } = await runProgram(['setup'], { root });
  t.equal(code, 1);
  t.equal(
    stderr,
    `postrider setup: only its owner can enter ${closed}: move ${root} to /opt/postrider, and run postrider setup there; nothing was changed\n`,
  );
});

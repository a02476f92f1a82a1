// postrider dns as a program: the list without a database, the zone file published by a real server, the checks with
// their exit codes, and waiting until all stand.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { IdSource } from '../../src/base/ids.ts';
import { Vault } from '../../src/base/vault.ts';
import { loadServiceIdentity } from '../../src/domains/service-identity.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { newTenant } from '../../src/tenants/tenant-service.ts';
import { install } from '../support/daemon-process.ts';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts';
import { noOtherUser, OTHER_USER } from '../support/other-user.ts';
import { PROGRAM_ARGUMENTS, type Program, runProgram } from '../support/program.ts';
import { NO_ZONE_READER, readZone } from '../support/read-zone.ts';
import { programWithDns } from './program-with-dns.ts';

const IP = '198.41.0.4';

const settings = ({ port }: TestDnsServer) =>
  `authority_port = ${port}\nallow_private = true\n\n[service]\nbase_url = "https://mail.service.test"\n`;

async function programWithZones(t: Test) {
  const made = await programWithDns(t, settings);
  for (const zone of ['service.test', 'acme.test', 'in-addr.arpa']) made.dns.addZone(zone);
  return made;
}

/** As a daemon that has run, and a tenant who has added a domain, leave it. */
async function fillDatabase({ dataDir }: Program): Promise<void> {
  fs.mkdirSync(dataDir);
  const store = await openSqliteStore({ file: path.join(dataDir, 'postrider.db') });
  const [ids, clock, vault] = [new IdSource(), { now: () => Date.now() }, new Vault([Buffer.alloc(32, 1)])];
  const dkim = { domain: 'bounces.mail.service.test', selector: 'postrider' };
  const { dkim: made } = await loadServiceIdentity({ store, vault, clock, dkim });
  const tenant = newTenant({ id: ids.next(), name: 'Acme', status: 'active', createdAt: clock.now() });
  await store.tenants.createTenant(tenant);
  const domain = { name: 'acme.test', selector: 'pr202611', publicKeyB64: made.publicKeyB64, createdAt: clock.now() };
  const privateKey = vault.seal(Buffer.from('a key'), 'here');
  await store.domains.createDomain({ id: ids.next(), tenantId: tenant.id, ...domain, privateKey });
  await store.close();
}

type Published = Parameters<TestDnsServer['set']>;

function publish(dns: TestDnsServer, zone: string): void {
  for (const [name, type, value] of readZone(zone)) {
    const [preference = '', exchange = ''] = value.split(' ');
    const data = type === 'MX' ? [{ preference: Number(preference), exchange: exchange.replace(/\.$/, '') }] : [value];
    // The test's server knows no wildcards.
    dns.set(name.replace(/^\*/, 'postrider-doctor.invalid'), type as Published[1], data as Published[2]);
  }
}

t.test('before the first start: all that is known, and what is not with its reason', async (t) => {
  const { program } = await programWithZones(t);
  const { code, stdout, stderr } = await program.run('dns', '--address', `${IP},2001:503:BA3E::0:2:30`);
  t.equal(code, 0, stderr);
  t.match(stdout, /^EHLO name +mail\.service\.test +A +service\.test +198\.41\.0\.4$/m);
  t.match(stdout, /^EHLO name +mail\.service\.test +AAAA +service\.test +2001:503:ba3e::2:30$/m);
  t.match(stdout, /^reverse name +4\.0\.41\.198\.in-addr\.arpa +PTR +hoster of 198\.41\.0\.4 +mail\.service\.test$/m);
  t.match(stdout, /^MX +bounces\.mail\.service\.test +MX +service\.test +10 mail\.service\.test$/m);
  t.match(stdout, /^DKIM +\S+ +TXT +service\.test +unknown: .*first start/m);
  t.notOk(fs.existsSync(program.dataDir), 'nothing is created');
});

t.test('addresses: as configured, then what the name has in DNS where this machine shows none', async (t) => {
  const { dns, program } = await programWithZones(t);
  const private_ = '[delivery]\nsource_addresses = ["10.0.0.5 out.service.test"]\n';
  const plain = fs.readFileSync(program.configFile, 'utf8');
  fs.writeFileSync(program.configFile, plain + private_);
  const unknown = await program.runHere('dns', '--service');
  t.match(
    unknown.stdout,
    /A +service\.test +unknown: this machine has only private addresses \(10\.0\.0\.5\): give .*--address$/m,
  );
  t.match(unknown.stdout, /^The PTR record of the public address .* is not listed/m);
  dns.set('mail.service.test', 'A', [IP]);
  const named = await program.runHere('dns', '--service');
  t.match(named.stdout, /^reverse name +4\.0\.41\.198\.in-addr\.arpa +PTR/m);
  t.match(named.stdout, /^This machine has only private addresses .* that mail\.service\.test has in DNS now/m);
  fs.writeFileSync(program.configFile, plain + private_.replace('10.0.0.5', '198.41.0.7'));
  const { records } = (await program.json('dns', '--service')) as { records: Record<string, string>[] };
  t.match(records[0], { what: 'EHLO name', name: 'out.service.test', type: 'A', value: '198.41.0.7' });
});

t.test('the zone file is published as it is, and then all is right', { skip: NO_ZONE_READER }, async (t) => {
  const { dns, program } = await programWithZones(t);
  await fillDatabase(program);
  const missing = await program.run('dns', '--check', '--address', IP);
  t.equal(missing.code, 1);
  t.match(
    missing.stdout,
    /^missing {2}MX: bounces\.mail\.service\.test has no MX record.*\n +-> in the zone of service\.test: bounces\.mail\.service\.test MX 10 mail\.service\.test$/m,
  );
  t.match(missing.stdout, /^10 missing\.$/m);

  const { stdout: zone } = await program.run('dns', '--zone', '--address', IP);
  publish(dns, zone);
  dns.set('4.0.41.198.in-addr.arpa', 'PTR', ['mail.service.test']);
  const stands = await program.run('dns', '--check');
  t.equal(stands.code, 0, stands.stdout);
  t.match(stands.stdout, /^10 right\.$/m);

  dns.set('acme.test', 'TXT', ['v=spf1 -all']);
  const other = await program.runHere('dns', '--check', '--json');
  t.equal(other.code, 1, 'also as JSON');
  const { records } = JSON.parse(other.stdout);
  t.match(
    records.filter(({ state }: { state: string }) => state !== 'right'),
    [{ domain: 'acme.test', what: 'SPF', state: 'wrong', found: ['v=spf1 -all'], required: false, zone: 'acme.test' }],
  );
  t.equal((await program.runHere('dns', '--check', '--service')).code, 0);
  const ofDomain = await program.runHere('dns', '--zone', '--check', '--domain', 'ACME.test');
  t.same(readZone(ofDomain.stdout), [], 'what exists, and what would harm, are comments');
  t.match(ofDomain.stdout, /^; Left out: a different one exists/m);
});

t.test('--wait says what changes, and ends when all stand', async (t) => {
  const { dns, program } = await programWithZones(t);
  await fillDatabase(program);
  const waiting = program.runHere('dns', '--wait', '--domain', 'acme.test');
  await until(() => dns.queries.filter(({ name, type }) => name === '_dmarc.acme.test' && type === 'TXT').length >= 2);
  const { records } = (await program.json('dns', '--domain', 'acme.test')) as { records: Record<string, string>[] };
  for (const { name, value } of records) dns.set(name!, 'TXT', [value!]);
  const { code, stdout } = await waiting;
  t.equal(code, 0);
  t.match(stdout, /^3 missing\.\n\nChecking again/m);
  for (const what of ['DKIM', 'SPF', 'DMARC']) t.match(stdout, new RegExp(`^right +${what}: `, 'm'), what);
  t.match(stdout, /All 3 records are right\.\n$/);
});

t.test('--wait ends at Ctrl-C', async (t) => {
  const { program } = await programWithZones(t);
  const args = [...PROGRAM_ARGUMENTS, 'dns', '--wait', '--address', IP, '--config', program.configFile];
  const waiting = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => waiting.kill('SIGKILL'));
  const ended = once(waiting, 'close');
  for await (const line of createInterface({ input: waiting.stdout })) if (line.startsWith('Checking again')) break;
  waiting.kill('SIGINT');
  t.same(await ended, [null, 'SIGINT'], 'by the signal itself, as a shell expects');
});

t.test('beside a daemon: its key is in the list', async (t) => {
  const dns = await startDnsServer();
  t.teardown(() => dns.close());
  const service = { base_url: 'https://mail.service.test' };
  const installation = install(t, { dns, smtpPort: 1, settings: { service } });
  await installation.serve();
  const { stdout, code } = await installation.run('dns', '--service', '--address', IP);
  t.equal(code, 0);
  t.match(stdout, /^DKIM +\S+ +TXT +service\.test +v=DKIM1; k=rsa; p=MII\S+$/m);
});

t.test(
  'a user who may not read the database is told so, and not that there is nothing',
  { skip: noOtherUser },
  async (t) => {
    const { program } = await programWithZones(t);
    await fillDatabase(program);
    fs.chmodSync(program.folder, 0o755);
    fs.chmodSync(program.dataDir, 0o700);
    const { code, stdout, stderr } = await runProgram(['dns', '--config', program.configFile], OTHER_USER);
    t.equal(code, 1);
    t.equal(stdout, '');
    t.match(stderr, /^postrider dns: the data folder .* cannot be used: .*run the command as the service's user/);
  },
);

t.test('what cannot be answered is said in one sentence', async (t) => {
  const { program } = await programWithZones(t);
  const refused = async (...args: string[]) => {
    const { code, stdout, stderr } = await program.runHere('dns', ...args);
    t.equal(stdout, '');
    return [code, stderr];
  };
  t.match(await refused('--domain', 'other.test'), [1, /no tenant has the domain other\.test/]);
  t.match(await refused('--domain', 'bounces.mail.service.test'), [1, /is the service's own: postrider dns --service/]);
  t.match(await refused('--service', '--domain', 'acme.test'), [2, /exclude each other/]);
  t.match(await refused('--domain', 'acme.test', '--address', IP), [2, /--address is about the service's own/]);
  t.match(await refused('--zone', '--wait'), [2, /leave out --wait/]);
  t.match(await refused('--address', '198.41.0.256'), [2, /"198\.41\.0\.256" is not an IP address/]);
  t.match(await refused('--address', `${IP},`), [2, /"" is not an IP address/]);
  const { stdout } = await program.runHere('dns', '--service', '--address', '10.0.0.5');
  t.match(stdout, /^10\.0\.0\.5 is not a public address/m);
  fs.writeFileSync(program.configFile, '[data]\ndir = "data"\n');
  t.match(await refused(), [1, /service\.ehlo_name is ".*", which DNS can't have: set service\.base_url/]);
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

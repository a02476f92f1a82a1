// postrider doctor as a program: its exit code, its words and its JSON, without a daemon and beside one.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { doctorDaemon } from '../../src/cli/commands/doctor.ts';
import { spfTerm } from '../../src/domains/needed-records.ts';
import { machineAddresses } from '../../src/protocol/dns/addresses/own-addresses.ts';
import { reverseName } from '../../src/protocol/dns/lookup/resolver.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { install } from '../support/daemon-process.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { noOtherUser, OTHER_USER } from '../support/other-user.ts';
import { runProgram } from '../support/program.ts';
import { programWithDns } from './program-with-dns.ts';

const NO_NETWORK = '[doctor]\nmail_domains = []\nknown_domains = []\ntime_sources = []\nblocklists = []\n';

const withDns = (t: Test) => programWithDns(t, () => NO_NETWORK);

t.test('something is wrong: exit 1, everything is said, the remedy on a line of its own', async (t) => {
  const { program } = await withDns(t);
  const { code, stdout, stderr } = await program.run('doctor');
  t.equal(code, 1);
  t.equal(stderr, '');
  t.match(stdout, /^warn {2}daemon: postrider is not running\n {6}-> run: systemctl start postrider$/m);
  t.match(stdout, /^fail {2}MX: bounces\..*\n {6}-> publish: bounces\.\S+ MX 10 /m);
  t.match(stdout, /\d failures?, \d+ warnings?\.\n$/);
});

t.test('nothing is wrong: exit 0, and JSON that programs can read', async (t) => {
  const { dns, program } = await withDns(t);
  fs.appendFileSync(program.configFile, '[service]\nbase_url = "http://mail.service.test"\n');
  const { public: own } = machineAddresses();
  const ips = own.length > 0 ? own : ['198.41.0.4']; // behind a NAT
  for (const type of ['A', 'AAAA'] as const) {
    dns.set(
      'mail.service.test',
      type,
      ips.filter((ip) => ip.includes(':') === (type === 'AAAA')),
    );
  }
  for (const ip of ips) dns.set(reverseName(ip)!, 'PTR', ['mail.service.test']);
  dns.set('bounces.mail.service.test', 'MX', [{ exchange: 'mail.service.test', preference: 10 }]);
  dns.set('bounces.mail.service.test', 'TXT', [`v=spf1 ${ips.map(spfTerm).join(' ')} -all`]);
  const { code, stdout } = await program.run('doctor', '--json');
  const { health, findings } = JSON.parse(stdout);
  t.equal(code, 0);
  t.equal(health, 'warn');
  t.match(
    findings.find(({ check }: { check: string }) => check === 'SPF'),
    { health: 'ok', remedy: null },
  );
  t.match(
    findings.find(({ check }: { check: string }) => check === 'database'),
    { message: /not exist yet/ },
  );
});

t.test('a well-known domain that does not exist, as the DNS servers say', async (t) => {
  const { program, dns } = await withDns(t);
  const text = fs
    .readFileSync(program.configFile, 'utf8')
    .replace('known_domains = []', 'known_domains = ["big.test"]');
  fs.writeFileSync(program.configFile, text);
  const { code, stdout } = await program.run('doctor');
  t.equal(code, 1);
  t.ok(stdout.includes(`fail  known domains: ${dns.endpoint} says big.test does not exist: mail to such`), stdout);
});

t.test('a damaged database is found, and nothing is changed in it', async (t) => {
  const { program } = await withDns(t);
  const file = path.join(program.dataDir, 'postrider.db');
  const store = await openSqliteStore({ file });
  await store.close();
  const whole = await program.run('doctor');
  t.match(whole.stdout, /ok {4}database: \S+ is intact/);
  const bytes = fs.readFileSync(file);
  const pageBytes = 4096;
  bytes.fill(0xff, bytes.length - 3 * pageBytes, bytes.length - 2 * pageBytes);
  fs.writeFileSync(file, bytes);
  const { code, stdout } = await program.run('doctor');
  t.equal(code, 1);
  t.match(stdout, /fail {2}database: .*\n {6}-> run: postrider restore/);
  t.ok(fs.readFileSync(file).equals(bytes));
});

t.test('beside a daemon: its intake, its timers with their last results, and its own DKIM key', async (t) => {
  const dns = await startDnsServer();
  t.teardown(() => dns.close());
  const nobody = { mail_domains: [], known_domains: [], time_sources: [], blocklists: [] };
  const installation = install(t, { dns, smtpPort: 1, settings: { doctor: nobody } });
  const daemon = await installation.serve();
  const [intake] = await waitForRun(installation, 'intake');
  t.match(intake, { period_ms: 2000, last_result: 'open', last_run_at: /Z$/, next_run_at: /Z$/ });
  const { stdout } = await installation.run('doctor');
  t.match(stdout, /^ok {4}daemon: postrider is running$/m);
  t.match(stdout, /^(ok|warn) +signing: this machine creates [\d,]+ signatures per second and core/m);
  t.match(stdout, /^ok {4}intake: POST \/emails accepts new mail$/m);
  t.match(stdout, /^ok {4}timer: rate tiers every 1 h, next \S+Z; has not run yet$/m);
  t.match(stdout, /^fail {2}DKIM: .*is not published.*\n {6}-> publish: \S+ TXT v=DKIM1; k=rsa; p=MII/m);
  const healthy = await installation.runHere('doctor', 'daemon');
  t.match(healthy, { code: 0, stdout: /^intake: open\n\nTIMER / });
  t.notMatch(healthy.stdout, /^fail {2}/m);
  await daemon.kill();
  t.match(await installation.runHere('doctor', 'daemon'), { code: 1, stderr: /no daemon is running/ });
});

t.test('a daemon in trouble: doctor daemon exits with 1, and says why', async (t) => {
  const dns = await startDnsServer();
  t.teardown(() => dns.close());
  const installation = install(t, { dns, smtpPort: 1, settings: { intake: { max_memory_mib: 1 } } });
  await installation.serve();
  const { code, stdout } = await installation.runHere('doctor', 'daemon');
  t.equal(code, 1);
  t.match(stdout, /^intake: closed, the process uses \d+ MiB/);
  t.match(stdout, /\nfail {2}intake: POST \/emails does not accept new mail: the process uses .*\n$/);
  const asJson = JSON.parse((await installation.runHere('doctor', 'daemon', '--json')).stdout);
  t.match(asJson, { intake: { accepting: false }, failures: [{ check: 'intake', health: 'fail' }] });
});

t.test(
  'another user of the machine is told to be the right one, not to restore a backup',
  { skip: noOtherUser },
  async (t) => {
    const dns = await startDnsServer();
    t.teardown(() => dns.close());
    const nobody = { mail_domains: [], known_domains: [], time_sources: [], blocklists: [] };
    const installation = install(t, { dns, smtpPort: 1, settings: { doctor: nobody } });
    const daemon = await installation.serve();
    fs.chmodSync(installation.folder, 0o755);
    const asOther = () => runProgram(['doctor', '--config', installation.configFile], OTHER_USER);
    const dir = path.dirname(installation.databaseFile);
    // Closed as it is made, and opened by somebody: then the files in it are closed.
    for (const mode of [0o700, 0o755]) {
      fs.chmodSync(dir, mode);
      const { stdout } = await asOther();
      t.match(stdout, /^warn {2}database: .* couldn't be checked: .* permission denied; run .*sudo -u\)$/m);
      t.match(stdout, /^warn {2}daemon: postrider couldn't be asked: .*sudo -u\)$/m);
      const ofDatabase = stdout.split('\n').filter((line) => /^\S+ +(database|daemon):/.test(line));
      t.notMatch(stdout, /restore/);
      t.notMatch(ofDatabase.join('\n'), /restart/);
    }
    await daemon.kill();
  },
);

t.test("a sandbox's folder is not examined with a server's settings", async (t) => {
  const { program } = await withDns(t);
  fs.mkdirSync(path.join(program.dataDir, 'captured'), { recursive: true });
  t.match(await program.runHere('doctor'), { code: 1, stdout: '', stderr: /is a sandbox's: .*doctor daemon/ });
  t.match(await program.runHere('dns'), { code: 1, stdout: '', stderr: /is a sandbox's, .*domain records/ });
});

t.test('while a run is under way, its result is not shown as that of the run before', async (t) => {
  const times = { period_ms: 1000, next_run_at: '2026-11-24T10:00:01.000Z', last_run_at: '2026-11-24T10:00:00.000Z' };
  const shown = doctorDaemon.render({
    intake: { accepting: true, reason: null },
    timers: [
      { name: 'idle', ...times, last_result: '3 erased', running: false },
      { name: 'busy', ...times, last_result: '2 erased', running: true },
      { name: 'first', ...times, last_result: null, running: true },
    ],
    unstored_results: { messages: 1, since: '2026-11-24T10:00:00.000Z', reason: 'disk full', is_alarm: false },
    couriers: { reason: 'no room', since: '2026-11-24T10:00:00.000Z' },
    failures: [],
  });
  t.match(shown, /^idle .* 3 erased$/m);
  t.match(shown, /^busy .* running; before: 2 erased$/m);
  t.match(shown, /^first .* running$/m);
  t.match(shown, /^no mail is sent, couriers end at once since .*: no room$/m);
});

type Timer = Record<string, unknown>;

async function waitForRun(installation: ReturnType<typeof install>, name: string): Promise<Timer[]> {
  for (;;) {
    const { timers } = (await installation.json('doctor', 'daemon')) as { timers: Timer[] };
    const ran = timers.filter((timer) => timer.name === name && timer.last_result !== null);
    if (ran.length > 0) return ran;
    await new Promise(setImmediate);
  }
}

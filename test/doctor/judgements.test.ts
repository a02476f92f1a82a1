// Decisions from facts alone.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { DAY_MS } from '../../src/base/clock.ts';
import { judgeCertificate } from '../../src/doctor/certificates.ts';
import { judgeSharedNames, judgeStored } from '../../src/doctor/directory-certificates.ts';
import type { DaemonAnswer, StoredCertificate } from '../../src/doctor/doctor-settings.ts';
import { judgeDaemon, judgeDatabase, judgeKeyFile, judgeTimer } from '../../src/doctor/inside.ts';
import { judgeClock, judgeDisk } from '../../src/doctor/machine.ts';
import { judgeOutboundPort } from '../../src/doctor/outbound-port.ts';
import { judgeEhloName, judgeReverseName } from '../../src/doctor/own-names.ts';
import { judgeReportRecord, judgeSpf } from '../../src/doctor/own-records.ts';
import { judgeSigning } from '../../src/doctor/signing.ts';
import { decideIntake } from '../../src/observe/intake.ts';
import { measureSigning, WITHOUT_ADX, waysWith } from '../../src/observe/signing-speed.ts';
import { FIRST_PAIR } from '../http/test-only-certificates.ts';
import { TEST_ONLY_CERTIFICATE, TEST_ONLY_HOST, TEST_ONLY_KEY } from '../support/smtp-peer-tls.ts';

const NOW = Date.UTC(2026, 10, 22);
const found = (...records: string[]) => ({ kind: 'found' as const, records, ttlMs: 1 });
const about = { check: 'certificate', subject: 'file' };
const SOURCE = { isConfigured: true, missing: null };

t.test('certificates: dates, names, keys', async (t) => {
  const [certificate, key] = [Buffer.from(TEST_ONLY_CERTIFICATE), Buffer.from(TEST_ONLY_KEY)];
  const facts = { certificate, key, hosts: [TEST_ONLY_HOST] };
  const ends = Date.parse('2120-01-01T00:00:00Z');
  t.match(judgeCertificate(about, facts, NOW), { health: 'ok' });
  t.match(judgeCertificate(about, facts, ends - 13 * DAY_MS), { health: 'warn', remedy: { command: /renew/ } });
  t.match(judgeCertificate(about, facts, ends + DAY_MS), { health: 'fail', message: /expired at/ });
  t.match(judgeCertificate(about, facts, Date.UTC(2019, 1)), { health: 'fail', message: /not valid before/ });
  t.match(judgeCertificate(about, { ...facts, hosts: [TEST_ONLY_HOST, 'links.test', 'other.test'] }, NOW), {
    health: 'warn',
    message: /, but not for links\.test and other\.test$/,
    remedy: { advice: `get a certificate for ${TEST_ONLY_HOST} and links.test and other.test` },
  });
  t.match(judgeCertificate(about, { ...facts, key: Buffer.from(FIRST_PAIR.key) }, NOW), {
    health: 'fail',
    message: /its key/,
  });
  t.match(judgeCertificate(about, { ...facts, certificate: readFileSync(import.meta.filename) }, NOW), {
    health: 'fail',
  });
});

t.test('the clock: the second of the header and the way there are no difference', async (t) => {
  const answer = (sentAt: number, receivedAt: number) =>
    judgeClock([{ kind: 'answer', source: 'https://time.test', theirTime: NOW, sentAt, receivedAt }]);
  t.match(answer(NOW + 900, NOW + 950), { health: 'ok' });
  t.match(answer(NOW - 3000, NOW + 10), { health: 'ok' }, 'a slow answer');
  t.match(answer(NOW + 7_000, NOW + 7_100), { health: 'warn', message: /6 s ahead/ });
  t.match(answer(NOW - 200_000, NOW - 199_900), { health: 'fail', message: /200 s behind/ });
  const lying = { kind: 'answer' as const, source: 'https://wrong.test', theirTime: 0, sentAt: NOW, receivedAt: NOW };
  const right = { ...lying, source: 'https://right.test', theirTime: NOW };
  t.match(judgeClock([lying, right]), { health: 'ok' }, 'one wrong server does not make us wrong');
});

t.test('disk, database, daemon', async (t) => {
  t.match(
    [0.5, 0.12, 0.05, null].map((share) => judgeDisk('/data', { diskFreeShare: share, reusableShare: 0 }, 0.1).health),
    ['ok', 'warn', 'fail', 'warn'],
  );
  t.match(judgeDisk('/data', { diskFreeShare: 0.12, reusableShare: 0 }, 0.1), {
    message: '12 % is free; new mail is not accepted below 10 %, and then again from 12 % on',
  });
  t.match(judgeDatabase('f', { kind: 'checked', problems: ['row 3 missing from index'], elapsedMs: 1 }), {
    health: 'fail',
    message: /row 3 missing/,
    remedy: { command: /postrider restore/ },
  });
  t.match(judgeDatabase('f', { kind: 'unfinished', elapsedMs: 60_000 }), { health: 'warn', message: /60 s/ });
  t.match(judgeDaemon({ kind: 'none' }, NOW), [{ health: 'warn' }]);
  t.match(judgeDaemon({ kind: 'silent', reason: 'no answer' }, NOW), [{ health: 'fail' }]);
  const closed = {
    intake: { accepting: false, reason: 'only 3 % of the disk is free' },
    unstored_results: null,
    couriers: null,
    timers: [],
    openssl_ia32cap: null,
  };
  t.match(judgeDaemon({ kind: 'running', facts: closed }, NOW), [
    { health: 'ok' },
    { health: 'fail', message: /3 %/ },
    { health: 'ok', check: 'results' },
  ]);
  const unstored = { messages: 7, since: '2026-11-24T10:00:00.000Z', reason: 'disk full', is_alarm: false };
  const resultsOf = (is_alarm: boolean) =>
    judgeDaemon({ kind: 'running', facts: { ...closed, unstored_results: { ...unstored, is_alarm } } }, NOW)[2];
  t.match(resultsOf(false), {
    ...{ health: 'warn', subject: 'delivery results' },
    message: /^of 7 messages could not be stored since .*: disk full$/,
  });
  const single = { ...closed, unstored_results: { ...unstored, messages: 1 } };
  t.match(judgeDaemon({ kind: 'running', facts: single }, NOW)[2], { message: /^of 1 message could/ });
  t.match(resultsOf(true), { health: 'fail', remedy: { advice: /results\.journal/ } });
  const dying = { ...closed, couriers: { reason: 'permission denied', since: '2026-11-24T10:00:00.000Z' } };
  t.match(judgeDaemon({ kind: 'running', facts: dying }, NOW)[3], {
    health: 'fail',
    message: /no mail is sent.*denied$/,
  });
});

t.test('the disk is full exactly when the daemon refuses new mail because of it', async (t) => {
  const limits = { minDiskFreeShare: 0.1, maxResidentBytes: Number.POSITIVE_INFINITY };
  for (const diskFreeShare of [0.02, 0.049, 0.05, 0.06, 0.0999, 0.1, 0.2]) {
    for (const reusableShare of [0, 0.001, 0.04, 0.05, 0.5]) {
      const room = { diskFreeShare, reusableShare };
      const refused = decideIntake({ ...room, residentBytes: 0, databaseFault: null }, limits, new Map()).has('disk');
      t.equal(judgeDisk('/data', room, 0.1).health === 'fail', refused, JSON.stringify(room));
    }
  }
  t.match(judgeDisk('/data', { diskFreeShare: 0.08, reusableShare: 0.5 }, 0.1), {
    health: 'warn',
    message: /^13 % is free, with space that the database can reuse; new/,
  });
});

t.test('timers: late, failed, fine', async (t) => {
  const timer = {
    name: 'x',
    period_ms: 3_600_000,
    next_run_at: new Date(NOW).toISOString(),
    last_run_at: null,
    last_result: 'done',
    running: false,
  };
  t.match(judgeTimer(timer, NOW + 60_000), { health: 'ok', message: /every 1 h/ });
  t.match(judgeTimer(timer, NOW + 3_700_000), { health: 'fail', message: /should have run/ });
  t.match(judgeTimer({ ...timer, last_result: null }, NOW), { message: /has not run yet/ });
  t.match(judgeTimer({ ...timer, last_result: null, running: true }, NOW), { message: /first run in progress/ });
  t.match(judgeTimer({ ...timer, last_result: 'failed: no luck' }, NOW), { health: 'warn', message: /no luck/ });
});

t.test('port, names, SPF, reports', async (t) => {
  const greeted = { kind: 'greeted' as const, domain: 'a.test', ip: '1', greeting: '220' };
  const away = { kind: 'unreachable' as const, domain: 'b.test', ip: '2', reason: 'no connection within 8 s' };
  t.match(judgeOutboundPort(25, null, [greeted, away]), { health: 'warn' }, 'one may be away');
  t.match(judgeOutboundPort(25, null, [away]), { health: 'fail' });
  t.match(judgeReverseName({ ip: '10.0.0.1', ehloName: 'm.test' }, SOURCE, { kind: 'bad', reason: '' }), {
    health: 'warn',
  });
  t.match(
    judgeReverseName(
      { ip: '8.8.8.8', ehloName: 'm.test' },
      { ...SOURCE, missing: 'not here' },
      { kind: 'bad', reason: '' },
    ),
    {
      health: 'fail',
      remedy: { setting: /source_addresses/ },
    },
  );
  for (const [isConfigured, used] of [
    [true, /no mail is sent from it/],
    [false, /large providers reject its mail/],
  ] as const) {
    const source = { ...SOURCE, isConfigured };
    t.match(judgeReverseName({ ip: '2001:503:ba3e::2:30', ehloName: 'm.test' }, source, { kind: 'bad', reason: '' }), {
      message: used,
    });
  }
  t.match(judgeEhloName('127.0.0.1', [], []), { health: 'fail', remedy: { setting: /base_url/ } });
  t.match(judgeEhloName('m.test', ['8.8.8.8'], [{ kind: 'no_domain' }]), {
    health: 'fail',
    remedy: { record: { name: 'm.test', type: 'A', value: '8.8.8.8' } },
  });
  t.match(judgeSpf('d.test', found('v=spf1 -all', 'v=spf1 +all'), []), { health: 'fail', message: /several/ });
  t.match(judgeSpf('d.test', found('v=spf1 ipv4:1.2.3.4 -all'), []), { health: 'fail', message: /ipv4:1\.2\.3\.4/ });
  t.match(judgeSpf('d.test', found('v=spf1 -all'), [{ ip: '8.8.8.8', result: { kind: 'unknown', reason: 'x' } }]), {
    health: 'warn',
  });
  const none = { kind: 'no_domain' as const };
  t.match(judgeReportRecord('d.test', none, [{ sender: 's.test', result: found('v=DMARC1;') }]), {
    message: /not about new ones/,
  });
  t.match(judgeReportRecord('d.test', found('v=DMARC1x'), []), { health: 'warn' }, 'another word is no permission');
});

t.test('SPF: what is published for other machines stays, and receivers find one record', async (t) => {
  const [ours, also] = ['127.0.0.32', '2001:db8::32'];
  const judge = (records: string[], ...refused: string[]) =>
    judgeSpf(
      'd.test',
      records.length === 0 ? { kind: 'no_records' as const } : found(...records),
      (refused.length === 0 ? [ours] : refused).map((ip) => ({ ip, result: { kind: 'not_pass', result: 'fail' } })),
    );
  const published: [records: string[], value: string][] = [
    [[], 'v=spf1 ip4:127.0.0.32 -all'],
    [['google-site-verification=x'], 'v=spf1 ip4:127.0.0.32 -all'],
    [['v=spf1 ip4:127.0.0.31 -all'], 'v=spf1 ip4:127.0.0.31 ip4:127.0.0.32 -all'],
    [['V=SPF1  ip4:127.0.0.31 mx -all', 'other'], 'v=spf1 ip4:127.0.0.31 ip4:127.0.0.32 mx -all'],
    [['v=spf1 -all'], 'v=spf1 ip4:127.0.0.32 -all'],
    [['v=spf1 ip4:127.0.0.31'], 'v=spf1 ip4:127.0.0.31 ip4:127.0.0.32'],
    [['v=spf1'], 'v=spf1 ip4:127.0.0.32'],
    [['v=spf1 redirect=_spf.d.test'], 'v=spf1 ip4:127.0.0.32 redirect=_spf.d.test'],
    [['v=spf1 -ip4:127.0.0.0/8 -all'], 'v=spf1 ip4:127.0.0.32 -ip4:127.0.0.0/8 -all'],
    [['v=spf1 -all ip4:127.0.0.32'], 'v=spf1 ip4:127.0.0.32 -all'],
  ];
  for (const [records, value] of published) {
    t.match(judge(records), { health: 'fail', remedy: { record: { name: 'd.test', type: 'TXT', value } } }, value);
  }
  t.match(judge(['v=spf1 ip4:127.0.0.31 ~all'], ours, also), {
    message: /authorize 127\.0\.0\.32, 2001:db8::32/,
    remedy: { record: { value: 'v=spf1 ip4:127.0.0.31 ip4:127.0.0.32 ip6:2001:db8::32 ~all' } },
  });
  t.match(judge(['v=spf1 ip4:127.0.0.31 -all ip4:9.9.9.9', 'v=spf1 ipv4:1.2.3.4 redirect=x.test', 'v=spf1 +all']), {
    message: /several/,
    remedy: {
      advice:
        'publish one TXT record in place of the 3 at d.test: v=spf1 ip4:127.0.0.31 ip4:127.0.0.32 include:x.test -all',
    },
  });
  t.match(judge(['v=spf1 ipv4:127.0.0.31 -all']), {
    remedy: {
      advice:
        'correct or remove "ipv4:127.0.0.31" in the TXT record at d.test; this machine needs ip4:127.0.0.32 in it',
    },
  });
  const many = Array.from({ length: 28 }, (_, index) => `ip4:192.0.2.${100 + index}`).join(' ');
  t.match(judge([`v=spf1 ${many} -all`]), {
    remedy: { advice: /^add ip4:127\.0\.0\.32 to the TXT record at d\.test, and put ranges .* 4\d\d bytes/ },
  });
});

t.test('signing: the other way is advised where it is clearly faster, and taken back where it is not', async (t) => {
  t.match(judgeSigning({ perSecond: 4221.3, other: null }), {
    health: 'ok',
    message: /creates 4,221 signatures/,
    remedy: null,
  });
  const slightly = { way: WITHOUT_ADX, perSecond: 1090 };
  t.match(judgeSigning({ perSecond: 1000, other: slightly }), { health: 'ok' }, 'two looks differ by that');
  const clearly = { way: WITHOUT_ADX, perSecond: 1270 };
  t.match(judgeSigning({ perSecond: 1000, other: clearly }), {
    health: 'warn',
    message: /creates 1,000 .*; 1,270 with/,
    remedy: { advice: /add OPENSSL_ia32cap=:~0x80000 to/ },
  });
  t.match(judgeSigning({ perSecond: 1000, other: { way: null, perSecond: 1270 } }), {
    health: 'warn',
    remedy: { advice: /remove OPENSSL_ia32cap/ },
  });
});

t.test(
  'signing: there is a choice on some processors, and what somebody has chosen is compared with none',
  async (t) => {
    const [plain, fast] = [new Set(['avx2', 'adx']), new Set(['avx2', 'adx', 'avx512ifma'])];
    t.same(waysWith(null, plain), [null, WITHOUT_ADX]);
    t.same(waysWith(WITHOUT_ADX, plain), [WITHOUT_ADX, null]);
    t.same(waysWith(null, fast), [null]);
    t.same(waysWith(null, new Set()), [null]);
    for (const chosen of ['', '~0x1', WITHOUT_ADX]) t.same(waysWith(chosen, fast), [chosen, null]);
  },
);

t.test('signing is measured by processes that sign', async (t) => {
  for (const way of [null, WITHOUT_ADX]) {
    const { perSecond, other } = await measureSigning(way);
    t.ok(perSecond > 10 && perSecond < 100_000, `note: ${way ?? 'as it is'}: ${Math.round(perSecond)} per second`);
    t.ok(other === null || (other.perSecond > 10 && other.way !== way), `the other way: ${JSON.stringify(other)}`);
  }
});

t.test('master key: whoever else can read it is told of', async (t) => {
  const file = '/data/master.key';
  t.same(judgeKeyFile(null), []);
  t.match(judgeKeyFile({ file, openTo: null }), [{ check: 'master key', subject: file, health: 'ok' }]);
  t.match(judgeKeyFile({ file, openTo: 'its group' }), [
    { health: 'warn', message: 'is readable by its group', remedy: { command: 'chmod 600 /data/master.key' } },
  ]);
});

t.test('certificates of the directory: issued, renewed, refused, and why nobody tries', async (t) => {
  const [now, names] = [NOW, 'a.test'];
  const judge = (stored: StoredCertificate | null, answer: DaemonAnswer = { kind: 'none' }) =>
    judgeStored({ check: 'HTTP certificate', subject: names }, stored, { daemon: answer, now });
  const issued = { names, notAfter: now + DAY_MS, failures: 0, nextAttemptAt: now + 1, failure: null };
  t.match(judge(issued), { health: 'ok', message: /^is valid until .*, and is renewed from / });
  const failed = { ...issued, failures: 3, failure: { reason: 'a.test: no such name', at: now - 1 } };
  t.match(judge(failed), { health: 'warn', message: /was not renewed: a\.test: no such name \(.*attempt 3; next/ });
  t.match(judge({ ...failed, notAfter: now }), { health: 'fail', message: /^expired at .*no such name/ });
  t.match(judge({ ...failed, notAfter: null }), { health: 'fail', message: /^is self-signed.*no such name/ });
  t.match(judge(null), { health: 'fail', message: /the daemon has not tried yet$/ });
  const timer = { name: 'certificates', period_ms: 1, next_run_at: '', last_run_at: null, running: false };
  const facts = {
    intake: { accepting: true, reason: null },
    unstored_results: null,
    couriers: null,
    openssl_ia32cap: null,
  };
  const timers = [{ ...timer, last_result: 'the port is taken' }];
  const running: DaemonAnswer = { kind: 'running', facts: { ...facts, timers } };
  t.match(judge(null, running), { message: /: the port is taken$/ });
  const overdue = { ...issued, nextAttemptAt: now - DAY_MS };
  t.match(judge(overdue, running), { health: 'warn', message: /^is valid until .*due since .*: the port is taken$/ });
  t.match(judge(overdue), { health: 'warn', message: /: the daemon has not tried yet$/ });
  t.match(judge({ ...issued, nextAttemptAt: now - 1000 }, running), { health: 'ok' }, 'it is attempted every minute');
  t.match(judge({ ...overdue, notAfter: now }, running), {
    health: 'fail',
    message: /^expired at .*the port is taken$/,
  });
});

t.test('certificates of the directory: several daemons whose names TLS-ALPN-01 cannot prove', async (t) => {
  const node = (name: string, seenMsAgo: number | null) => ({ node: name, version: '1.0.0', seenMsAgo });
  t.same(judgeSharedNames(['a.test'], []), []);
  t.same(judgeSharedNames(['a.test'], [node('a', 10), node('gone', null), node('dead', 86_400_000)]), []);
  t.match(judgeSharedNames(['a.test', 'b.test'], [node('a', 10), node('b', 20)]), [
    { check: 'HTTP certificate', subject: 'a.test, b.test', health: 'warn', message: /only the one of 2 daemons/ },
  ]);
});

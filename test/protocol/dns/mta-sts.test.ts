// MTA-STS formats (RFC 8461), with mailauth as the second opinion.
import mtaSts from 'mailauth/lib/mta-sts.js';
import t from 'tap';
import { announcedPolicyId, namesMxHost, parsePolicy } from '../../../src/protocol/dns/published/mta-sts.ts';
import { ProcessorTime } from '../../support/patience.ts';

const announcements: [records: string[], id: string | null][] = [
  [['v=STSv1; id=20160831085700Z;'], '20160831085700Z'],
  [['v=STSv1;id=1'], '1'],
  [['v=STSv1 ; id=abc ; future=x'], 'abc'],
  [['v=spf1 -all', 'v=STSv1; id=7;'], '7'],
  [['v=STSv1; id=1;', 'v=STSv1; id=2;'], null],
  [['v=STSv2; id=1;'], null],
  [['v=STSv1; id=;'], null],
  [['v=STSv1; id=with space;'], null],
  [[`v=STSv1; id=${'a'.repeat(33)};`], null],
  [['v=STSv1'], null],
  [['id=1; v=STSv1;'], null],
  [[], null],
];

t.test('which policy a TXT record announces', async (t) => {
  for (const [records, id] of announcements) {
    t.equal(announcedPolicyId(records), id, JSON.stringify(records));
    const opinion = await mtaSts
      .resolvePolicy('x.test', { strict: true, resolver: async () => records.map((record) => [record]) })
      .catch(() => false);
    t.equal(opinion || null, id, 'mailauth agrees');
  }
});

const GOOD = 'version: STSv1\r\nmode: enforce\r\nmx: MX1.example.com\r\nmx: *.example.net.\r\nmax_age: 604800\r\n';

t.test('a policy', async (t) => {
  const policy = { mode: 'enforce', mx: ['mx1.example.com', '*.example.net'], maxAgeMs: 604_800_000 };
  t.strictSame(parsePolicy(GOOD), { ok: true, policy });
  t.strictSame(parsePolicy(GOOD.replaceAll('\r\n', '\n')), { ok: true, policy }, 'bare LF (section 3.2)');
  t.strictSame(parsePolicy(`${GOOD}mode: none\r\nfuture: x\r\n\r\n`), { ok: true, policy }, 'the first mode counts');
  t.match(parsePolicy('version: STSv1\nmode: none\nmax_age: 86400'), { policy: { mode: 'none', mx: [] } });
});

t.test('ages have two ends', async (t) => {
  const aged = (maxAge: string) => parsePolicy(GOOD.replace('604800', maxAge));
  t.match(aged('0'), { policy: { maxAgeMs: 300_000 } });
  t.match(aged('9999999999'), { policy: { maxAgeMs: 31_557_600_000 } });
});

const bad: [string, string][] = [
  ['nothing', ''],
  ['a web page', '<html><body>version: STSv1</body></html>'],
  ['no version', GOOD.replace('version: STSv1\r\n', '')],
  ['another version', GOOD.replace('STSv1', 'STSv2')],
  ['another mode', GOOD.replace('enforce', 'Enforce')],
  ['no age', GOOD.replace('max_age: 604800', '')],
  ['an age that is no number', GOOD.replace('604800', '1 week')],
  ['no mx', GOOD.replaceAll(/mx:.*\r\n/g, '')],
  ['an mx that is an address', GOOD.replace('MX1.example.com', '[192.0.2.1]')],
  ['a star in the middle', GOOD.replace('MX1.example.com', 'mx.*.com')],
];

t.test('what is no policy', async (t) => {
  for (const [name, text] of bad) {
    t.match(parsePolicy(text), { ok: false, reason: /^(it|one) / }, name);
    t.throws(() => mtaSts.parsePolicy(text, { strict: true }), `mailauth agrees: ${name}`);
  }
  const many = Array.from({ length: 101 }, (_, n) => `mx: mx${n}.example.com\r\n`).join('');
  t.match(parsePolicy(GOOD.replace('max_age', `${many}max_age`)), { ok: false, reason: /more than 100/ });
});

t.test('which hosts a policy names (section 4.1)', async (t) => {
  const patterns = ['mx1.example.com', '*.example.net'];
  const hosts: [string, boolean][] = [
    ['mx1.example.com', true],
    ['mx2.example.com', false],
    ['a.mx1.example.com', false],
    ['mx.example.net', true],
    ['a.mx.example.net', false],
    ['example.net', false],
    ['xexample.net', false],
    ['net', false],
    ['', false],
  ];
  for (const [host, named] of hosts) {
    t.equal(namesMxHost(patterns, host), named, host);
    const opinion = mtaSts.validateMx(host, { mode: 'enforce', mx: patterns } as never);
    t.equal(opinion.valid, named, `mailauth agrees: ${host}`);
  }
  t.equal(namesMxHost(['*.net'], 'net'), false);
});

t.test('a policy full of spaces takes no time', async (t) => {
  const time = new ProcessorTime();
  const policy = parsePolicy(`version: STSv1\nmode: enforce\nmx: a${' '.repeat(60_000)}b.example\nmax_age: 604800\n`);
  t.equal(policy.ok, false);
  // By backtracking it were several seconds.
  t.ok(time.usedMs < 500, `${time.usedMs} ms of processor time`);
});

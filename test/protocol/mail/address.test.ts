// The rules of RFC 5321/6531 one by one, then the verdicts of six other projects' suites.
import { readFileSync } from 'node:fs';
import t from 'tap';
import {
  type Address,
  envelopeForm,
  parseAddress,
  policyRefusal,
  recipientKey,
  suppressionKey,
  suppressionKeyOf,
  suppressionPrefix,
} from '../../../src/protocol/mail/addresses/address.ts';

function address(text: string): Address {
  const result = parseAddress(text);
  if (!result.ok) throw new Error(`${JSON.stringify(text)}: ${result.reason}`);
  return result.address;
}

function reason(text: string): string {
  const result = parseAddress(text);
  return result.ok ? 'accepted' : result.reason;
}

const label63 = 'a'.repeat(63);

t.test('an address is taken apart', async (t) => {
  t.same(address('Jo.Doe+x@Example.COM'), {
    local: 'Jo.Doe+x',
    domain: 'Example.COM',
    asciiDomain: 'example.com',
    form: 'dot-string',
    isLiteral: false,
    nonAsciiLocal: false,
  });
  t.same(address('"a b"@[IPv6:2001:DB8::1]'), {
    local: '"a b"',
    domain: '[IPv6:2001:DB8::1]',
    asciiDomain: '[ipv6:2001:db8::1]',
    form: 'quoted',
    isLiteral: true,
    nonAsciiLocal: false,
  });
  t.match(address('jürgen@Bücher.Example'), { asciiDomain: 'xn--bcher-kva.example', nonAsciiLocal: true });
  t.match(address('jo@faß.example'), { asciiDomain: 'xn--fa-hia.example', nonAsciiLocal: false });
  t.equal(address('jo@例え。jp').asciiDomain, 'xn--r8jz45g.jp', 'IDNA knows other dots too');
});

t.test('accepted', async (t) => {
  const texts = [
    '""@example.com',
    '"<>@,\\" \\\\"@example.com',
    `${'x'.repeat(64)}@example.com`,
    `a@${label63}.example`,
    'a@1.2.3.4',
    'a@3com',
    'a@r3---sn.example',
    'a@[0.0.0.0]',
    'a@[127.000.000.001]',
    'a@[ipv6:::]',
    'a@[IPv6:::ffff:192.0.2.1]',
    'a@[IPv6:1:2:3:4:5:6:7:8]',
    '\u{1f600}@example.com',
  ];
  for (const text of texts) t.ok(parseAddress(text).ok, text);
});

t.test('refused, with the rule that was broken', async (t) => {
  const cases: [string, RegExp][] = [
    ['', /empty/],
    ['jo', /no @/],
    ['@example.com', /nothing before/],
    ['jo@', /nothing after/],
    ['jo@@example.com', /more than one @/],
    ['a@b@example.com', /more than one @/],
    [' jo@example.com', /white space/],
    ['jo@example.com\n', /white space/],
    ['jo@exa\0mple.com', /control/],
    ['jo\u0085x@example.com', /control/],
    ['jo\ud800@example.com', /surrogate/],
    ['.jo@example.com', /dot/],
    ['jo.@example.com', /dot/],
    ['j..o@example.com', /dot/],
    ['j o@example.com', /quotes/],
    ['(c)jo@example.com', /quotes/],
    ['jo@example.com(c)', /character other/],
    ['jo@example.com.', /ends with a dot/],
    ['jo@.example.com', /dot at its start/],
    ['jo@ex_ample.com', /character other/],
    ['jo@exa mple.com', /character other/],
    ['jo@ü%2e.com', /character other/],
    ['jo@-example.com', /hyphen/],
    ['jo@example-.com', /hyphen/],
    ['jo@xn--0.example', /internationalized/],
    ['jo@\u200dü.example', /internationalized/],
    ['jo@\u00ad.example', /dot at its start/],
    [`jo@${label63}a.example`, /label of the domain is longer/],
    [`jo@${'ü'.repeat(60)}ÿĀ.example`, /label of the domain is longer/],
    [`${'x'.repeat(65)}@example.com`, /64 bytes/],
    [`${'ü'.repeat(33)}@example.com`, /64 bytes/],
    [`${'x'.repeat(63)}@${label63}.${label63}.${label63}`, /254 bytes/],
    [`a@${`${label63}.`.repeat(4)}b`, /253 bytes/],
    ['x'.repeat(100_000), /254 bytes/],
    ['"jo@example.com', /not closed/],
    ['"jo"x@example.com', /followed by an @/],
    ['"jo"."doe"@example.com', /followed by an @/],
    ['"j\\ü"@example.com', /not closed or contains an invalid/],
    ['jo@[1.2.3]', /literal/],
    ['jo@[1.2.3.256]', /literal/],
    ['jo@[1.2.3.4', /closing bracket/],
    ['jo@[IPv6:1::2::3]', /literal/],
    ['jo@[IPv6:1:2:3:4:5:6:7]', /literal/],
    ['jo@[IPv6:1:2:3:4:5:6:7::8:9]', /literal/],
    ['jo@[IPv6:fe80::1%eth0]', /literal/],
    ['jo@[IPv6:192.0.2.1::]', /literal/],
    ['jo@[2001:db8::1]', /literal/],
    ['jo@[x400:hello]', /literal/],
  ];
  for (const [text, rule] of cases) t.match(reason(text), rule, JSON.stringify(text).slice(0, 60));
});

t.test('an address of exactly 254 octets', async (t) => {
  const domain = `${label63}.${label63}.${'b'.repeat(61)}`;
  t.ok(parseAddress(`${'x'.repeat(64)}@${domain}`).ok);
  t.notOk(parseAddress(`${'x'.repeat(64)}@${domain}b`).ok);
});

t.test('valid syntax that policy refuses', async (t) => {
  t.match(policyRefusal(address('jo@[192.0.2.1]')), /IP address/);
  t.match(policyRefusal(address('jo@localhost')), /two labels/);
  for (const text of ['user@127.0.0.1', 'user@192.168.000.1', 'user@example.123', 'user@１２７.０.０.１', 'jo@1.2']) {
    t.match(policyRefusal(address(text)), /ends in a number/, text);
  }
  t.match(policyRefusal(address('user@127.0.0.1')), 'looks like an IP address');
  for (const text of ['a@1.2.example', 'a@example.1x', 'a@123.com']) t.equal(policyRefusal(address(text)), null, text);
  t.equal(policyRefusal(address('jo@example.com')), null);
});

t.test('the envelope form is ASCII unless the local part is not', async (t) => {
  t.equal(envelopeForm(address('Jo@Example.com')), 'Jo@Example.com');
  t.equal(envelopeForm(address('jo@bücher.example')), 'jo@xn--bcher-kva.example');
  t.equal(envelopeForm(address('jürgen@bücher.example')), 'jürgen@xn--bcher-kva.example');
});

t.test('recipients are merged by local part exactly and domain without case', async (t) => {
  const key = (text: string) => recipientKey(address(text));
  t.equal(key('jo@EXAMPLE.com'), key('jo@example.COM'));
  t.equal(key('jo@BÜCHER.example'), key('jo@xn--bcher-kva.example'));
  t.not(key('Jo@example.com'), key('jo@example.com'));
  t.equal(key('"jo"@example.com'), key('jo@example.com'), 'needless quotes change nothing');
  t.equal(key('"j\\o x"@example.com'), key('"jo x"@example.com'));
  t.not(key('"a@b"@example.com'), key('"a\\"@b"@example.com'));
});

t.test('suppression is checked without case', async (t) => {
  const key = (text: string) => suppressionKey(address(text));
  t.equal(key('"JO"@Example.com'), key('jo@example.com'));
  t.equal(key('JU\u0308RGEN@example.com'), key('jürgen@example.com'));
  t.not(key('jo.x@example.com'), key('jox@example.com'));
  t.equal(suppressionKeyOf('"JO"@Example.com'), key('jo@example.com'), 'of an address as it is written');
  t.equal(suppressionKeyOf('No Address@Example.com'), 'no address@example.com', 'and of what is none any more');
});

t.test('a suppression list is searched by an address in any spelling, or by its beginning', async (t) => {
  t.equal(suppressionPrefix(' "JO"@Bücher.example '), suppressionKey(address('jo@bücher.example')));
  t.equal(suppressionPrefix('Jo@EX'), 'jo@ex');
  for (const part of ['JU\u0308', 'JU\u0308rgen@', 'JU\u0308rgen@example.']) {
    t.ok(suppressionKey(address('jürgen@example.com')).startsWith(suppressionPrefix(part)), part);
  }
});

// Where the corpus departs from the RFC: section and reason.
const CORPUS_IS_WRONG: Record<string, string> = {
  'jstedfast-i48': 'RFC 5321 4.1.2: labels of digits are labels; the corpus itself accepts 192.168.0.1',
  'flanker-v67': 'RFC 5321 4.1.2: a display name is no part of an address, and no domain has a "!"',
  'flanker-v70': 'RFC 5321 4.1.2: a display name is no part of an address',
  'flanker-v202': 'RFC 5321 4.1.2: comments are RFC 5322, not for the envelope',
};

interface CorpusRow {
  id: string;
  address: string;
  expected: { smtp_ok: boolean | null };
  ascii_domain?: string;
}

t.test('corpus', async (t) => {
  const file = new URL('corpus/addresses/addresses.jsonl', import.meta.url);
  const rows: CorpusRow[] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.equal(rows.length, 254);
  for (const row of rows) {
    const result = parseAddress(row.address);
    if (!result.ok) t.match(result.reason, /^(The|There|A) .+\.$/, row.id);
    const verdict = row.expected.smtp_ok;
    if (verdict === null) continue;
    t.equal(result.ok, row.id in CORPUS_IS_WRONG ? !verdict : verdict, `${row.id} ${JSON.stringify(row.address)}`);
    if (result.ok && row.ascii_domain) t.equal(result.address.asciiDomain, row.ascii_domain, row.id);
  }
});

t.test('the key of a recipient is an address, also where a space of Unicode stands in quotes', async (t) => {
  const parsed = parseAddress('"\u00a0a"@example.com');
  if (!parsed.ok) return t.fail(parsed.reason);
  const key = recipientKey(parsed.address);
  t.equal(key, '"\u00a0a"@example.com');
  t.ok(parseAddress(key).ok);
});

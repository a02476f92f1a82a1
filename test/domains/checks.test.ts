// The records of a sending domain: what is published, and how every way to get it wrong is judged.
import t from 'tap';
import { checkDomainRecords, recordsToPublish } from '../../src/domains/checks.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import type { DomainCheck } from '../../src/store/domains.ts';
import { type RecordData, startDnsServer } from '../support/dns-server.ts';
import { patience } from '../support/patience.ts';

const KEY = `MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA${'x+/9'.repeat(80)}IDAQAB`;
const SERVICE = { spfDomain: 'spf.service.test', dmarcReportAddress: 'dmarc@service.test' };
const INCLUDE = 'include:spf.service.test';

const server = await startDnsServer();
t.teardown(() => server.close());

function factsOf(domain: string) {
  return { domain, selector: 'pr202611', publicKeyB64: KEY };
}

function check(domain: string, { checkMs = patience(10_000), lookupMs = patience(5000) } = {}): Promise<DomainCheck[]> {
  const clock = { now: () => 0 };
  const resolver = createResolver({ servers: [server.endpoint], clock, timeoutMs: lookupMs });
  return checkDomainRecords({ facts: factsOf(domain), service: SERVICE, timeoutMs: checkMs }, resolver);
}

let domains = 0;

/** A domain of its own for every case. */
function newDomain(): string {
  domains++;
  return `d${domains}.example.test`;
}

async function judge(which: 'dkim' | 'spf' | 'dmarc', texts: RecordData['TXT']): Promise<DomainCheck> {
  const domain = newDomain();
  const names = { dkim: `pr202611._domainkey.${domain}`, spf: domain, dmarc: `_dmarc.${domain}` };
  if (texts.length > 0) server.set(names[which], 'TXT', texts);
  const found = (await check(domain)).find((one) => one.record === which)!;
  return found;
}

const verdict = (one: DomainCheck) => (one.ok ? 'ok' : one.reason);

t.test('the records to publish', async (t) => {
  const [dkim, spf, dmarc] = recordsToPublish(factsOf('example.test'), SERVICE);
  t.match(dkim, {
    name: 'pr202611._domainkey.example.test',
    type: 'TXT',
    value: `v=DKIM1; k=rsa; p=${KEY}`,
    required: true,
  });
  t.match(spf, { name: 'example.test', type: 'TXT', value: `v=spf1 ${INCLUDE} ~all`, required: false });
  t.match(dmarc, { name: '_dmarc.example.test', type: 'TXT', required: false });
  t.equal(dmarc?.value, 'v=DMARC1; p=none; rua=mailto:dmarc@service.test');
  t.match(spf?.purpose, /don't add a second one/);
  t.match(dmarc?.purpose, /don't weaken its policy/);
});

t.test('records that are published as they were given are all right', async (t) => {
  const domain = newDomain();
  for (const record of recordsToPublish(factsOf(domain), SERVICE)) server.set(record.name, 'TXT', [record.value]);
  const checks = await check(domain);
  t.same(
    checks.map((one) => one.record),
    ['dkim', 'spf', 'dmarc'],
  );
  t.same(
    checks.map((one) => one.required),
    [true, false, false],
  );
  for (const one of checks) {
    t.equal(verdict(one), 'ok', one.record);
    t.equal(one.reason, null);
    t.same(one.found, [one.expected]);
  }
});

t.test('nothing is published', async (t) => {
  for (const one of await check('nothing.example.test')) {
    t.match(one, { ok: false, reason: 'not_found', found: [], type: 'TXT' });
    t.match(one.message, `as a TXT record at ${one.name}`);
  }
});

t.test('the name servers do not answer', async (t) => {
  for (const name of ['pr202611._domainkey.dark.test', 'dark.test', '_dmarc.dark.test'])
    server.behave(name, 'servfail');
  for (const one of await check('dark.test')) {
    t.match(one, { ok: false, reason: 'dns_unavailable', found: [] });
    t.match(one.message, /SERVFAIL/);
  }
});

t.test('DKIM', async (t) => {
  const spaced = KEY.replace(/(.{60})/g, '$1 ');
  const VALUE = `v=DKIM1; k=rsa; p=${KEY}`;
  const IN_TWO = /^mismatch: Join the 2 TXT records at \S+ that hold parts of the DKIM key into one record/;
  const cases: [string, RecordData['TXT'], string | RegExp][] = [
    ['only the key', [`p=${KEY}`], 'ok'],
    ['white space everywhere', [` v = DKIM1 ;k= rsa;\tp = ${spaced} ; `], 'ok'],
    ['split into strings', [['v=DKIM1; k=rsa; p=', KEY.slice(0, 200), KEY.slice(200)]], 'ok'],
    ['all optional tags', [`v=DKIM1; h=sha1:sha256; s=tlsrpt:email; t=y:s; n=a note; p=${KEY}`], 'ok'],
    ['any service', [`v=DKIM1; s=*; x=unknown; p=${KEY}`], 'ok'],
    [
      'beside other records',
      ['v=spf1 -all', 'site=abc', 'v=DMARC1; p=none', 'plain text', '', `v=DKIM1; p=${KEY}`],
      'ok',
    ],
    ['only other records', ['v=spf1 -all', 'v=DMARC1; p=none'], 'not_found'],
    ['two keys', [`v=DKIM1; p=${KEY}`, 'v=DKIM1; p=b3RoZXI='], 'multiple_records'],
    ['another key', ['v=DKIM1; k=rsa; p=b3RoZXI='], /mismatch.*another key/],
    [
      'what a form kept of it',
      [VALUE.slice(0, 255)],
      /^mismatch: Replace .* cut off after 255 characters; publish it as several strings of one record/,
    ],
    ['cut off elsewhere', [`v=DKIM1; p=${KEY.slice(0, 200)} `, 'site=abc'], /^mismatch.*cut off after 211 characters/],
    ['cut off beside an unrelated text', [VALUE.slice(0, 255), KEY.slice(0, 99)], /^mismatch.*cut off after 255/],
    ['its strings as two records', [VALUE.slice(0, 255), VALUE.slice(255)], IN_TWO],
    ['the other way round, beside others', ['x=1', VALUE.slice(255), `v=DKIM1;p=${KEY.slice(0, 237)}`, ''], IN_TWO],
    ['with quotes', [`"${VALUE.slice(0, 255)}"`, `"${VALUE.slice(255)}"`], /^invalid_record: Join the 2 TXT/],
    [
      'each as a record',
      [VALUE.slice(0, 255), `v=DKIM1; k=rsa; p=${VALUE.slice(255)}`],
      /^multiple_records: Join the 2 TXT/,
    ],
    ['in three records', [VALUE.slice(0, 150), VALUE.slice(300), VALUE.slice(150, 300)], /^mismatch: Join the 3 TXT/],
    ['a middle that is missing', [VALUE.slice(0, 150), VALUE.slice(300)], /^mismatch.*cut off after 150 characters/],
    ['the key in lower case', [`v=DKIM1; p=${KEY.toLowerCase()}`], /mismatch/],
    ['a revoked key', ['v=DKIM1; p='], /mismatch.*revokes/],
    ['another kind of key', [`v=DKIM1; k=ed25519; p=${KEY}`], /mismatch.*k= tag/],
    ['only SHA-1', [`v=DKIM1; h=sha1; p=${KEY}`], /mismatch.*sha256/],
    ['not for mail', [`v=DKIM1; s=tlsrpt; p=${KEY}`], /mismatch.*email/],
    ['no key', ['v=DKIM1; k=rsa'], /invalid_record.*no p= tag/],
    ['another version', [`v=DKIM2; p=${KEY}`], /invalid_record.*begin with/],
    ['the version in lower case', [`v=dkim1; p=${KEY}`], /invalid_record.*begin with/],
    ['the version not first', [`k=rsa; v=DKIM1; p=${KEY}`], /invalid_record.*begin with/],
    ['without semicolons', [`v=DKIM1 k=rsa p=${KEY}`], /invalid_record/],
    ['with quotes', [`"v=DKIM1; k=rsa; p=${KEY}"`], /invalid_record/],
    ['with backslashes', [`v=DKIM1\\; k=rsa\\; p=${KEY}`], /invalid_record/],
    ['a tag twice', [`v=DKIM1; p=${KEY}; p=${KEY}`], /invalid_record/],
  ];
  for (const [what, texts, expected] of cases) {
    const one = await judge('dkim', texts);
    if (typeof expected === 'string') t.equal(verdict(one), expected, what);
    else t.match(`${verdict(one)}: ${one.message}`, expected, what);
    t.match(one.message, /^[A-Z][^\n]+\.$/, `${what}: one sentence`);
  }
});

t.test('a DKIM record behind an alias', async (t) => {
  server.set('pr202611._domainkey.cname.example.test', 'CNAME', ['key.elsewhere.test']);
  server.set('key.elsewhere.test', 'TXT', [`v=DKIM1; p=${KEY}`]);
  t.equal(verdict((await check('cname.example.test'))[0]!), 'ok');
});

t.test('SPF', async (t) => {
  server.set('nested.test', 'TXT', [`v=spf1 ip4:192.0.2.0/24 ${INCLUDE} -all`, 'other']);
  server.set('deep.test', 'TXT', ['v=spf1 include:nested.test ?all']);
  server.set('redirected.test', 'TXT', ['v=spf1 redirect=nested.test']);
  server.set('loop-a.test', 'TXT', ['v=spf1 include:loop-b.test ~all']);
  server.set('loop-b.test', 'TXT', ['v=spf1 include:loop-a.test redirect=loop-a.test']);
  server.set('double.test', 'TXT', [`v=spf1 ${INCLUDE} ~all`, 'v=spf1 -all']);
  server.behave('dark-include.test', 'servfail');
  const cases: [string, RecordData['TXT'], string][] = [
    ['merged into another record', [`v=spf1 a mx:other.test/24 ip6:2001:db8::/32 ${INCLUDE} -all`, 'x=y'], 'ok'],
    ['in any case', ['V=SPF1 +Include:SPF.Service.Test. ~ALL'], 'ok'],
    ['by a nested include', ['v=spf1 include:nowhere.test include:deep.test ~all'], 'ok'],
    ['by redirects', ['v=spf1 redirect=redirected.test'], 'ok'],
    ['directly by redirect', ['v=spf1 mx redirect=spf.service.test'], 'ok'],
    ['in spite of an outage elsewhere', ['v=spf1 include:dark-include.test include:nested.test ~all'], 'ok'],
    ['modifiers that are unknown', [`v=spf1 ${INCLUDE} exp=why.test x-y=z ~all`], 'ok'],
    ['no SPF record', ['v=spf10 x', 'spf1 include:spf.service.test'], 'not_found'],
    ['two records', [`v=spf1 ${INCLUDE} ~all`, 'v=spf1 mx -all'], 'multiple_records'],
    ['without the include', ['v=spf1 mx -all'], 'mismatch'],
    ['with a similar include', ['v=spf1 include:spf.service.test.evil.test -all'], 'mismatch'],
    ['behind all, where nothing is reached', [`v=spf1 mx -all ${INCLUDE}`], 'mismatch'],
    ['a redirect that all makes void', ['v=spf1 redirect=spf.service.test -all'], 'mismatch'],
    ['an include that forbids', [`v=spf1 -${INCLUDE} ~all`], 'mismatch'],
    ['a nested domain with two records', ['v=spf1 include:double.test ~all'], 'mismatch'],
    ['a loop', ['v=spf1 include:loop-a.test ~all'], 'mismatch'],
    ['a macro', ['v=spf1 include:%{d}.spf.test ~all'], 'mismatch'],
    ['a nested domain that does not answer', ['v=spf1 include:dark-include.test ~all'], 'dns_unavailable'],
    ['a space within the include', ['v=spf1 include: spf.service.test ~all'], 'invalid_record'],
    ['an unknown mechanism', [`v=spf1 ${INCLUDE} ipv4:192.0.2.1 ~all`], 'invalid_record'],
  ];
  for (const [what, texts, expected] of cases) {
    const one = await judge('spf', texts);
    t.equal(verdict(one), expected, what);
    t.equal(one.found.length, texts.length, `${what}: all that was found is shown`);
    t.match(one.message, /^[A-Z][^\n]+\.$/, `${what}: one sentence`);
  }
});

t.test('SPF ends after ten look-ups', async (t) => {
  const chain = (length: number, prefix: string) => {
    for (let i = 1; i < length; i++)
      server.set(`${prefix}${i}.test`, 'TXT', [`v=spf1 include:${prefix}${i + 1}.test ~all`]);
    server.set(`${prefix}${length}.test`, 'TXT', [`v=spf1 ${INCLUDE} ~all`]);
    return `v=spf1 include:${prefix}1.test ~all`;
  };
  t.equal(verdict(await judge('spf', [chain(10, 'ten')])), 'ok');
  const eleven = await judge('spf', [chain(11, 'eleven')]);
  t.equal(verdict(eleven), 'mismatch');
  t.match(eleven.message, /more than 10 lookups/);
});

t.test('DMARC', async (t) => {
  const cases: [string, RecordData['TXT'], string][] = [
    ['a strict policy', ['v=DMARC1; p=reject; sp=none; adkim=s; pct=50'], 'ok'],
    ['white space', ['v=DMARC1 ; p = Quarantine ;'], 'ok'],
    ['beside other records', ['v=spf1 -all', 'v=DMARC1; p=none'], 'ok'],
    ['reports without a policy', ['v=DMARC1; rua=mailto:a@b.test'], 'ok'],
    ['no DMARC record', ['v=spf1 -all'], 'not_found'],
    ['two records', ['v=DMARC1; p=none', 'v=DMARC1; p=reject'], 'multiple_records'],
    ['no policy', ['v=DMARC1; pct=100'], 'invalid_record'],
    ['an unknown policy', ['v=DMARC1; p=monitor'], 'invalid_record'],
    ['the version in lower case', ['v=dmarc1; p=none'], 'invalid_record'],
    ['without semicolons', ['v=DMARC1 p=none'], 'invalid_record'],
    ['with quotes', ['"v=DMARC1; p=none"'], 'invalid_record'],
  ];
  for (const [what, texts, expected] of cases) {
    const one = await judge('dmarc', texts);
    t.equal(verdict(one), expected, what);
    t.match(one.message, /^[A-Z][^\n]+\.$/, `${what}: one sentence`);
  }
});

t.test('DMARC of the organizational domain', async (t) => {
  server.set('_dmarc.firm.co.uk', 'TXT', ['v=DMARC1; p=reject']);
  server.set('_dmarc.co.uk', 'TXT', ['v=DMARC1; p=reject']);
  const dmarc = async (domain: string) => (await check(domain))[2]!;
  const inherited = await dmarc('mail.news.firm.co.uk');
  t.equal(verdict(inherited), 'ok');
  t.equal(inherited.name, '_dmarc.mail.news.firm.co.uk');
  t.same(inherited.found, ['v=DMARC1; p=reject']);
  t.match(inherited.message, '_dmarc.firm.co.uk');
  t.equal(verdict(await dmarc('other.co.uk')), 'not_found', 'a public suffix is no organizational domain');
  server.set('_dmarc.github.io', 'TXT', ['v=DMARC1; p=reject']);
  t.equal(verdict(await dmarc('shop.github.io')), 'not_found', 'nor is a suffix that its owner lets others use');
  server.set('_dmarc.own.firm.co.uk', 'TXT', ['v=DMARC1; p=typo']);
  t.equal(verdict(await dmarc('own.firm.co.uk')), 'invalid_record', 'an own record comes first, even a broken one');
});

t.test('what strangers publish is shown within limits', async (t) => {
  const many = Array.from({ length: 30 }, (_, i) => `${i} ${'x'.repeat(1000)}`);
  const one = await judge('dkim', [...many, 'y'.repeat(5000)]);
  t.equal(one.found.length, 20);
  const long = await judge('dkim', ['y'.repeat(5000)]);
  t.equal(long.found[0]?.length, 2048);
});

t.test('a check that takes too long ends', async (t) => {
  const slow = 'pr202611._domainkey.slow.test';
  server.behave(slow, 'silent');
  const [dkim, spf] = await check('slow.test', { checkMs: patience(400), lookupMs: patience(600) });
  t.match(dkim, { ok: false, reason: 'dns_unavailable', message: /longer than [\d.]+ s/ });
  t.match(spf, { reason: 'not_found' }, 'and holds up no other');
});

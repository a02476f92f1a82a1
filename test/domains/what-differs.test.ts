// What is wrong with a record in words, and what an existing record becomes when ours is merged into it.
import t from 'tap';
import { findMisplaced, whereInstead } from '../../src/domains/checks.ts';
import { differences } from '../../src/domains/difference.ts';
import { mergedDmarc } from '../../src/domains/zone-file.ts';
import type { DnsResult } from '../../src/protocol/dns/lookup/dns-result.ts';
import type { DomainCheck } from '../../src/store/domains.ts';

const HEAD = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA';
const keyRecord = (own: string) => `v=DKIM1; k=rsa; p=${HEAD}${own.repeat(80)}IDAQAB`;
const EXPECTED = keyRecord('x+/9');

function differ(found: string | string[], record: DomainCheck['record'] = 'dkim'): string {
  const facts = { name: 'n', type: 'TXT', required: true, ok: false, reason: 'mismatch', message: '' } as const;
  return differences({ ...facts, record, expected: EXPECTED, found: [found].flat() }).join(' ');
}

t.test('the mistakes of forms are named', async (t) => {
  t.match(
    differ(EXPECTED.slice(0, 255)),
    /truncated: 253 of 3\d\d characters are present\. Many DNS forms keep only the first 255/,
  );
  t.equal(differ([EXPECTED.slice(0, 255), EXPECTED.slice(255)]), '', 'the check says it of the parts of one value');
  t.match(differ(`"${EXPECTED}"`), /contains quotation marks/);
  t.match(differ(`“${EXPECTED}”`), /typographic/);
  t.match(differ(EXPECTED.replaceAll(';', '&#59;')), /HTML/);
  t.match(differ(`${EXPECTED} TTL 3600`), /extra text after the value: TTL3600/);
  t.match(differ(keyRecord('AbcD')), /begins with MIIBIjAN…AbcDAbcDAbcD… and should begin with MIIBIjAN…x\+\/9/);
  t.match(differ([EXPECTED, keyRecord('AbcD')]), /There are 2 records of this kind/);
  t.match(differ('google-site-verification=1'), /unrelated to this one/);
  t.match(
    differ(['google-site-verification=1', `"${EXPECTED}"`]),
    /quotation marks/,
    'others beside it do not confuse',
  );
  t.equal(differ([]), '');
  t.equal(differ('v=spf1 -all', 'spf'), '', 'the check itself says what to do');
  t.match(differ('"v=spf1 -all"', 'spf'), /quotation marks/);
});

t.test('a record that is right has no differences', async (t) => {
  const facts = { name: 'n', type: 'TXT', required: true, reason: null, message: '', record: 'dkim' } as const;
  t.same(differences({ ...facts, ok: true, expected: EXPECTED, found: [EXPECTED.slice(0, 50)] }), []);
});

t.test('DMARC: the policy stays as it is', async (t) => {
  const merged = (...found: string[]) => mergedDmarc(found, 'dmarc@service.test');
  t.equal(merged('v=DMARC1; p=reject'), 'v=DMARC1; p=reject; rua=mailto:dmarc@service.test');
  t.equal(
    merged('v=DMARC1;p=quarantine;rua=mailto:a@b.test;pct=50;'),
    'v=DMARC1; p=quarantine; rua=mailto:a@b.test,mailto:dmarc@service.test; pct=50',
  );
  t.equal(merged('v=DMARC1; p=none; rua=mailto:DMARC@service.test'), null);
  t.equal(merged('v=DMARC1; p=none; rua = mailto:a@b.test, mailto:dmarc@service.test!10m'), null);
  const ours = 'mailto:dmarc@service.test';
  t.equal(
    merged(`v=DMARC1; p=none; rua=${ours}.acme.test`),
    `v=DMARC1; p=none; rua=${ours}.acme.test,${ours}`,
    'to which a DNS provider has appended the zone',
  );
  t.equal(merged('v=DMARC1; p=none; rua='), `v=DMARC1; p=none; rua=${ours}`);
  t.equal(merged(`v=DMARC1; p=none; ruf=${ours}`), `v=DMARC1; p=none; ruf=${ours}; rua=${ours}`, 'other reports');
  t.equal(merged('v=DMARC1; p=none', 'v=DMARC1; p=reject'), null);
  t.equal(merged(), null);
});

t.test('a key at the wrong name is found', async (t) => {
  const find = async (domain: string, at: string, text = EXPECTED) => {
    const asked: string[] = [];
    const txt = async (name: string): Promise<DnsResult<string>> => {
      asked.push(name);
      return name === at ? { kind: 'found', records: ['x=1', text], ttlMs: 1 } : { kind: 'no_domain' };
    };
    const name = `pr._domainkey.${domain}`;
    const found = await findMisplaced({ name, domain, isKey: (one) => one.startsWith('v=DKIM1') }, { txt });
    return found ? whereInstead(name, found) : asked;
  };
  t.equal(
    await find('acme.com', 'pr._domainkey.acme.com.acme.com'),
    'Move the DKIM record to pr._domainkey.acme.com: it is at pr._domainkey.acme.com.acme.com, because your DNS provider appends acme.com automatically. Enter pr._domainkey as the host name.',
  );
  t.match(await find('mail.acme.com', 'pr._domainkey.acme.com'), /subdomain is missing. Enter pr\._domainkey\.mail /);
  t.match(await find('mail.acme.com', 'pr._domainkey.mail.acme.com.acme.com'), /appends acme\.com automatically/);
  t.same(await find('acme.com', 'nowhere'), ['pr._domainkey.acme.com.acme.com'], 'one look-up more');
  t.type(await find('acme.com', 'pr._domainkey.acme.com.acme.com', 'y=1'), Array, 'something else that stands there');
});

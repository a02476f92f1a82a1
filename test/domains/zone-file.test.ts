// Records as people take them to a DNS provider: quoted strings and zone files that another program reads
// back to the very same values, and hosts relative to the zone.
import t from 'tap';
import { checkedDomainRecord } from '../../src/domains/check-needed.ts';
import { likelyZone, relativeHost } from '../../src/domains/host-names.ts';
import { domainRecords } from '../../src/domains/needed-records.ts';
import { quotedTxt, txtStrings } from '../../src/domains/txt-strings.ts';
import { zoneFile } from '../../src/domains/zone-file.ts';
import type { DomainCheck } from '../../src/store/domains.ts';
import { NO_ZONE_READER, readZone } from '../support/read-zone.ts';

const KEY = `MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA${'x+/9'.repeat(85)}IDAQAB`;
const SERVICE = { spfDomain: 'spf.service.test', dmarcReportAddress: 'dmarc@service.test' };
const FACTS = { domain: 'acme.test', selector: 'pr202611', publicKeyB64: KEY };
const RECORDS = domainRecords(FACTS, SERVICE);

function checkOf(kind: DomainCheck['record'], change: Partial<DomainCheck>): DomainCheck {
  const { name, required, value } = RECORDS[['dkim', 'spf', 'dmarc'].indexOf(kind)]!;
  const nothing: Pick<DomainCheck, 'type' | 'ok' | 'found' | 'reason' | 'message'> = {
    ...{ type: 'TXT', ok: false, found: [], reason: 'not_found', message: '' },
  };
  return { record: kind, name, required, expected: value!, ...nothing, ...change };
}

function fileAfter(checks: DomainCheck[]): string {
  const entries = RECORDS.map((record) => {
    const check = checks.find((one) => one.name === record.name);
    return check ? checkedDomainRecord(record, check, SERVICE.spfDomain) : record;
  });
  return zoneFile('acme.test', entries);
}

t.test('strings have at most 255 octets', async (t) => {
  const lengths = (text: string) => txtStrings(text).map((part) => part.length);
  t.same(lengths(''), [0]);
  t.same(lengths('x'.repeat(255)), [255]);
  t.same(lengths('x'.repeat(256)), [255, 1]);
  t.same(lengths('ü'.repeat(200)), [255, 145], 'octets, not characters');
  t.equal(quotedTxt('say "a\\b";'), '"say \\"a\\\\b\\";"');
  t.equal(quotedTxt('ü\n'), '"\\195\\188\\010"');
  t.match(quotedTxt('x'.repeat(300)), /^"x{255}" "x{45}"$/);
});

t.test('hosts as providers ask for them', async (t) => {
  t.equal(likelyZone('mail.acme.co.uk'), 'acme.co.uk');
  t.equal(likelyZone('acme.test'), 'acme.test');
  t.equal(relativeHost('pr._domainkey.mail.acme.co.uk', 'acme.co.uk'), 'pr._domainkey.mail');
  t.equal(relativeHost('acme.test', 'acme.test'), '@');
  t.equal(relativeHost('other.test', 'acme.test'), 'other.test', 'what is not below the zone stays whole');
});

t.test('a zone file is read by another program to the same records', { skip: NO_ZONE_READER }, async (t) => {
  const zone = zoneFile('acme.test', RECORDS);
  t.same(
    readZone(zone),
    RECORDS.map(({ name, type, value }) => [name, type, value]),
  );
  const odd = [{ ...RECORDS[0]!, value: `"quotes" and \\ and ; and ${'ü'.repeat(300)}` }];
  t.equal(readZone(zoneFile('acme.test', odd))[0]?.[2], odd[0]!.value);
});

t.test('an import never does harm', { skip: NO_ZONE_READER }, async (t) => {
  const imported = (checks: DomainCheck[]) => readZone(fileAfter(checks)).map(([name]) => name);
  const [dkim, spf, dmarc] = RECORDS.map(({ name }) => name);
  t.same(imported([checkOf('spf', {})]), [dkim, spf, dmarc], 'what is missing is in it');
  t.same(imported([checkOf('dkim', { ok: true, reason: null })]), [spf, dmarc], 'what is there is not');
  const other: Partial<DomainCheck> = { reason: 'mismatch', found: ['v=spf1 -all'] };
  t.same(imported([checkOf('spf', other)]), [dkim, dmarc], 'nor a second SPF record');
  t.same(imported([checkOf('dmarc', { reason: 'dns_unavailable' })]), [dkim, spf]);
  t.same(imported([checkOf('dkim', { reason: 'dns_unavailable' })]), [dkim, spf, dmarc]);
  t.match(fileAfter([checkOf('spf', other)]), /^; Left out: a different one exists/m);
  const beside = '; acme.test. 3600 IN TXT "v=spf1 include:spf.service.test -all"';
  t.ok(
    fileAfter([checkOf('spf', other)])
      .split('\n')
      .includes(beside),
    'what it must become',
  );
  const typo = checkOf('spf', { reason: 'invalid_record', found: ['v=spf1 ipv4:192.0.2.1 -all'] });
  t.same(imported([typo]), [dkim, dmarc]);
  t.notMatch(fileAfter([typo]), /TXT "v=spf1/, 'first, the mistake');
});

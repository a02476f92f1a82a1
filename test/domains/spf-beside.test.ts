// What is handed out in place of a published SPF record works: for our check, and for receivers, which evaluate it for
// our address and still for those that were permitted before.
import t from 'tap';
import { checkDomainRecords } from '../../src/domains/checks.ts';
import { spfBeside } from '../../src/domains/extended-spf.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { spfOfAddress } from '../../src/protocol/dns/published/spf-of-address.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { patience } from '../support/patience.ts';

const SERVICE = { spfDomain: 'spf.service.test', dmarcReportAddress: 'dmarc@service.test' };
const OURS = `include:${SERVICE.spfDomain}`;
const OUR_IP = '192.0.2.50';
const OTHER_IP = '192.0.2.9';

const dns = await startDnsServer();
t.teardown(() => dns.close());
dns.set(SERVICE.spfDomain, 'TXT', [`v=spf1 ip4:${OUR_IP} -all`]);
dns.set('other.test', 'TXT', [`v=spf1 ip4:${OTHER_IP} -all`]);
const many = Array.from({ length: 12 }, (_, index) => `s${index}.test`);
for (const name of many) dns.set(name, 'TXT', ['v=spf1 ip4:192.0.2.77 -all']);
const MANY = many.map((name) => `include:${name}`).join(' ');

let domains = 0;

/** At a domain of its own, since answers are remembered. */
async function published(records: string[]) {
  const domain = `d${domains++}.test`;
  dns.set(domain, 'TXT', records);
  const clock = { now: () => Date.now() };
  const resolver = createResolver({ servers: [dns.endpoint], clock, timeoutMs: patience(5000) });
  const facts = { domain, selector: 'pr', publicKeyB64: 'AAAA' };
  const [, spf] = await checkDomainRecords({ facts, service: SERVICE, timeoutMs: patience(10_000) }, resolver);
  const evaluated = (ip: string) => spfOfAddress({ ip, domain, ehloName: 'mail.service.test' }, resolver);
  return { check: spf!, ours: await evaluated(OUR_IP), others: await evaluated(OTHER_IP) };
}

for (const [name, records, expected] of [
  ['another service', ['v=spf1 include:other.test ~all', 'x=1'], `v=spf1 ${OURS} include:other.test ~all`],
  ['addresses', [`v=spf1 ip4:${OTHER_IP} mx -ALL`], `v=spf1 ip4:${OTHER_IP} ${OURS} mx -ALL`],
  ['nothing but its end', ['v=spf1 -all'], `v=spf1 ${OURS} -all`],
  ['a redirect', ['v=spf1 redirect=other.test'], `v=spf1 ${OURS} redirect=other.test`],
  ['more includes than receivers look up', [`v=spf1 ${MANY} ~all`], `v=spf1 ${OURS} ${MANY} ~all`],
  ['ours behind them', [`v=spf1 ${MANY} ${OURS} ~all`], `v=spf1 ${OURS} ${MANY} ~all`],
  ['ours, but neutral', [`v=spf1 ?${OURS} -all`], `v=spf1 ${OURS} -all`],
  ['ours behind a neutral one', [`v=spf1 ?${OURS} ${OURS} -all`], `v=spf1 ${OURS} -all`],
  ['ours behind the end', [`v=spf1 a -all ${OURS}`], `v=spf1 ${OURS} a -all`],
  [
    'several records',
    ['v=spf1 include:other.test -all', `v=spf1 ${OURS} ~all`],
    `v=spf1 ${OURS} include:other.test ~all`,
  ],
] as const) {
  t.test(`beside ${name}`, async (t) => {
    const before = await published([...records]);
    t.equal(before.ours.kind, 'not_pass', 'receivers reject it');
    t.match(before.check, { ok: false }, 'and the check says so');
    const record = spfBeside(before.check, SERVICE.spfDomain);
    t.equal(record, expected);
    const after = await published([record!]);
    t.match(after, { check: { ok: true }, ours: { kind: 'pass' } }, after.check.message);
    if (before.others.kind === 'pass') t.match(after.others, { kind: 'pass' }, 'what was permitted still is');
  });
}

t.test('nothing is handed out beside a mistake, or what is not known whole', async (t) => {
  const { check } = await published(['v=spf1 ipv4:192.0.2.1 include:other.test -all']);
  t.match(check, { reason: 'invalid_record', message: /^Correct "ipv4:192\.0\.2\.1" in the SPF record/ });
  t.equal(spfBeside(check, SERVICE.spfDomain), null);
  const long = await published([`v=spf1 ${'ip4:192.0.2.1 '.repeat(160)}-all`]);
  t.match(long.check, { reason: 'mismatch' });
  t.equal(spfBeside(long.check, SERVICE.spfDomain), null, 'its end is not stored');
  t.equal(spfBeside((await published(['x=1'])).check, SERVICE.spfDomain), null);
});

t.test('the sentence leads to the same place', async (t) => {
  const { check } = await published([`v=spf1 ${MANY} ~all`]);
  const where =
    /^Add include:spf\.service\.test to the SPF record at \S+, before its "all" and its other includes: .* 10 lookups\.$/;
  t.match(check.message, where);
});

// What the service and its domains need in DNS: the list, the zone file that another program reads, and how each record
// is judged by the zones' own name servers.
import t, { type Test } from 'tap';
import { checkNeeded } from '../../src/domains/check-needed.ts';
import { type DnsNeeds, neededRecords, type ServiceFacts } from '../../src/domains/needed-records.ts';
import { zoneFileOf } from '../../src/domains/zone-file.ts';
import { machineAddresses } from '../../src/protocol/dns/addresses/own-addresses.ts';
import { createAuthority } from '../../src/protocol/dns/lookup/authority.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { startDnsServer, type TestDnsServer } from '../support/dns-server.ts';
import { patience } from '../support/patience.ts';
import { NO_ZONE_READER, readZone } from '../support/read-zone.ts';

const IP4 = '198.41.0.4';
const IP6 = '2001:503:ba3e::2:30';
const REVERSE4 = '4.0.41.198.in-addr.arpa';
const REVERSE6 = '0.3.0.0.2.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.e.3.a.b.3.0.5.0.1.0.0.2.ip6.arpa';
const KEY = `MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA${'x+/9'.repeat(85)}IDAQAB`;

const NAMES = { spfDomain: 'spf.service.test', dmarcReportAddress: 'dmarc@bounces.service.test' };
const SERVICE: ServiceFacts = {
  ...NAMES,
  ehloName: 'mail.service.test',
  addresses: [
    { ip: IP4, ehloName: 'mail.service.test' },
    { ip: IP6, ehloName: 'mail.service.test' },
  ],
  addressesUnknown: null,
  bouncesDomain: 'bounces.service.test',
  dkim: { domain: 'bounces.service.test', selector: 'postrider', publicKeyB64: KEY },
  webHosts: [{ what: 'links', host: 'links.service.test' }],
};
const ACME = { domain: 'mail.acme.co.uk', selector: 'pr202611', publicKeyB64: KEY };
const NEEDS: DnsNeeds = { service: SERVICE, names: NAMES, domains: [ACME] };
const SPF = `v=spf1 ip4:${IP4} ip6:${IP6} -all`;

t.test('every record of the service and its domains, with the zone that it belongs to', async (t) => {
  const short = neededRecords(NEEDS).map(({ what, name, type, value, zone }) => [what, name, type, value, zone]);
  const dkim = `v=DKIM1; k=rsa; p=${KEY}`;
  t.same(short, [
    ['EHLO name', 'mail.service.test', 'A', IP4, 'service.test'],
    ['EHLO name', 'mail.service.test', 'AAAA', IP6, 'service.test'],
    ['reverse name', REVERSE4, 'PTR', 'mail.service.test', null],
    ['reverse name', REVERSE6, 'PTR', 'mail.service.test', null],
    ['links', 'links.service.test', 'A', IP4, 'service.test'],
    ['links', 'links.service.test', 'AAAA', IP6, 'service.test'],
    ['MX', 'bounces.service.test', 'MX', '10 mail.service.test', 'service.test'],
    ['SPF', 'bounces.service.test', 'TXT', SPF, 'service.test'],
    ['SPF', 'spf.service.test', 'TXT', SPF, 'service.test'],
    ['DKIM', 'postrider._domainkey.bounces.service.test', 'TXT', dkim, 'service.test'],
    ...[
      [
        'DMARC',
        '_dmarc.bounces.service.test',
        'TXT',
        `v=DMARC1; p=none; rua=mailto:${NAMES.dmarcReportAddress}`,
        'service.test',
      ],
    ],
    ['DMARC reports', '*._report._dmarc.bounces.service.test', 'TXT', 'v=DMARC1', 'service.test'],
    ['DKIM', 'pr202611._domainkey.mail.acme.co.uk', 'TXT', dkim, 'acme.co.uk'],
    ['SPF', 'mail.acme.co.uk', 'TXT', 'v=spf1 include:spf.service.test ~all', 'acme.co.uk'],
    ...[
      [
        'DMARC',
        '_dmarc.mail.acme.co.uk',
        'TXT',
        `v=DMARC1; p=none; rua=mailto:${NAMES.dmarcReportAddress}`,
        'acme.co.uk',
      ],
    ],
  ]);
});

t.test('the addresses of this machine: public ones, IPv4 first; those behind NAT apart', async (t) => {
  const info = { netmask: '', mac: '', internal: false, cidr: null, family: 'IPv4' as const };
  const having = (...ips: string[]) => machineAddresses(() => ({ eth0: ips.map((address) => ({ ...info, address })) }));
  const all = ['127.0.0.1', IP6, 'fe80::1%eth0', 'fe80::1', '::1', IP4, '10.0.0.5', '169.254.1.1', 'fd00::5', IP4];
  t.same(having(...all), { public: [IP4, IP6], private: ['10.0.0.5', 'fd00::5'] });
  t.same(having(), { public: [], private: [] });
});

t.test('what is not known is listed without a value, and says why', async (t) => {
  const service = {
    ...SERVICE,
    ...{ addresses: [], addressesUnknown: 'behind NAT', dkim: { ...SERVICE.dkim, publicKeyB64: null } },
  };
  const records = neededRecords({ service, names: NAMES, domains: [] });
  const unknown = records.filter(({ value }) => value === null).map(({ what, unknown: why }) => [what, why]);
  t.match(unknown, [
    ['EHLO name', 'behind NAT'],
    ['links', 'behind NAT'],
    ['SPF', 'behind NAT'],
    ['SPF', 'behind NAT'],
    ['DKIM', /first start/],
  ]);
  t.same(
    records.filter(({ type }) => type === 'PTR'),
    [],
  );
  const written = zoneFileOf(records);
  t.match(written, /^; mail\.service\.test\. 3600 IN A unknown: behind NAT$/m);
});

t.test(
  'the zone file has every record but the hosters, as another program reads it',
  { skip: NO_ZONE_READER },
  async (t) => {
    const records = neededRecords(NEEDS);
    const expected = records
      .filter(({ zone }) => zone !== null)
      .map(({ name, type, value }) => [name, type, type === 'MX' ? `${value}.` : value]);
    t.same(readZone(zoneFileOf(records)), expected);
    t.match(zoneFileOf(records), `; ${REVERSE4}. 3600 IN PTR mail.service.test.`);

    const states = { right: 'right', missing: 'missing', wrong: 'wrong', unknown: 'unknown' } as const;
    const [mx] = records.filter(({ what }) => what === 'MX');
    const left = Object.values(states).filter((state) => readZone(zoneFileOf([{ ...mx!, state }])).length > 0);
    t.same(left, ['missing'], 'an import never does harm');
  },
);

async function startZone(t: Test) {
  const dns = await startDnsServer();
  t.teardown(() => dns.close());
  for (const zone of ['service.test', 'acme.co.uk', 'in-addr.arpa', 'ip6.arpa']) dns.addZone(zone);
  const resolver = createResolver({
    servers: [dns.endpoint],
    clock: { now: () => Date.now() },
    timeoutMs: patience(2000),
  });
  const authority = createAuthority({ resolver, authorityPort: dns.port, allowPrivate: true });
  const lookups = { records: authority.records, limited: () => authority.limited() };
  const states = async (needs: DnsNeeds = NEEDS) => {
    const checked = await checkNeeded(needs, lookups);
    return checked.filter(({ state }) => state !== 'right').map(({ what, state, message }) => [what, state, message]);
  };
  const values = async (wanted: string) => {
    const checked = await checkNeeded(NEEDS, lookups);
    return checked.filter(({ what }) => what === wanted).map(({ value }) => value);
  };
  return { dns, states, values };
}

function publishAll(dns: TestDnsServer): void {
  for (const { name, type, value } of neededRecords(NEEDS)) {
    if (type === 'MX') dns.set(name, type, [{ preference: 10, exchange: 'mail.service.test' }]);
    else dns.set(name, type, [value!]);
  }
  // The test's server knows no wildcards.
  dns.set('postrider-doctor.invalid._report._dmarc.bounces.service.test', 'TXT', ['v=DMARC1']);
}

t.test('nothing is published: all is missing; all is published: all is right', async (t) => {
  const { dns, states } = await startZone(t);
  const nothing = await states();
  t.equal(nothing.length, neededRecords(NEEDS).length);
  t.same(new Set(nothing.map(([, state]) => state)), new Set(['missing']));
  publishAll(dns);
  t.same(await states(), []);
  dns.behave('bounces.service.test', 'servfail');
  const silent = await states();
  t.same([...new Set(silent.map(([what]) => what))], ['MX', 'SPF'], 'only what is asked at that name');
  t.same(new Set(silent.map(([, state]) => state)), new Set(['unknown']));
});

t.test('each record is wrong once', async (t) => {
  const { dns, states } = await startZone(t);
  const broken = async (name: string, type: 'A' | 'PTR' | 'TXT', value: string) => {
    publishAll(dns);
    dns.set(name, type, [value]);
    return states();
  };
  t.match(await broken('mail.service.test', 'A', '198.41.0.5'), [
    ['EHLO name', 'wrong', 'mail.service.test resolves to 198.41.0.5, but not to 198.41.0.4.'],
  ]);
  t.match(await broken(REVERSE4, 'PTR', 'x198-41-0-4.hoster.test'), [
    ['reverse name', 'wrong', '198.41.0.4 is x198-41-0-4.hoster.test, which does not resolve back to 198.41.0.4.'],
  ]);
  t.match(await broken('bounces.service.test', 'TXT', `v=spf1 ip4:${IP4} -all`), [
    ['SPF', 'wrong', `bounces.service.test does not authorize ${IP6}.`],
  ]);
  t.match(await broken('postrider._domainkey.bounces.service.test', 'TXT', `v=DKIM1; p=${KEY.replace('x', 'y')}`), [
    ['DKIM', 'wrong', /another key/],
  ]);
  const value = `v=DKIM1; k=rsa; p=${KEY}`;
  t.match(await broken('postrider._domainkey.bounces.service.test', 'TXT', value.slice(0, 255)), [
    ['DKIM', 'wrong', /cut off after 255 characters; publish it as several strings of one record/],
  ]);
  dns.set('postrider._domainkey.bounces.service.test', 'TXT', [value.slice(255), value.slice(0, 255)]);
  t.match(await states(), [['DKIM', 'wrong', /is in 2 records.* strings of one record/]]);
  t.match(await broken('_dmarc.bounces.service.test', 'TXT', 'v=DMARC1; p=nothing'), [['DMARC', 'wrong', /p= tag/]]);
  t.match(await broken('mail.acme.co.uk', 'TXT', 'v=spf1 -all'), [['SPF', 'wrong', /Add include:spf\.service\.test/]]);
  publishAll(dns);
  dns.set('bounces.service.test', 'MX', [{ preference: 5, exchange: 'mx.other.test' }]);
  t.match(await states(), [
    [
      'MX',
      'wrong',
      'bounces.service.test points to mx.other.test, which is not this machine; another machine of this service stays beside it.',
    ],
  ]);
});

t.test("what is published for the service's other machines stays in what is to be published", async (t) => {
  const { dns, values } = await startZone(t);
  publishAll(dns);
  dns.set('bounces.service.test', 'TXT', ['v=spf1 ip4:192.0.2.31 -all']);
  const [own, included] = await values('SPF');
  t.equal(own, `v=spf1 ip4:192.0.2.31 ip4:${IP4} ip6:${IP6} -all`);
  t.equal(included, SPF);
});

t.test("what a domain's SPF record permits to others stays in what is to be published", async (t) => {
  const { dns, values } = await startZone(t);
  publishAll(dns);
  const ofDomain = async () => (await values('SPF')).at(-1);
  dns.set('mail.acme.co.uk', 'TXT', ['v=spf1 include:_spf.other.test ~all']);
  dns.set('_spf.other.test', 'TXT', ['v=spf1 ip4:192.0.2.7 -all']);
  t.equal(await ofDomain(), 'v=spf1 include:spf.service.test include:_spf.other.test ~all');
  dns.set('mail.acme.co.uk', 'TXT', ['v=spf1 include:_spf.other.test ~all', 'v=spf1 a -all', 'site-verification=1']);
  t.equal(await ofDomain(), 'v=spf1 include:spf.service.test include:_spf.other.test a ~all');
  dns.set('mail.acme.co.uk', 'TXT', ['v=spf1 a -all', 'v=spf1 mx -all']);
  t.equal(await ofDomain(), 'v=spf1 include:spf.service.test a mx -all');
  dns.set('mail.acme.co.uk', 'TXT', ['v=spf1 inclde:_spf.other.test ~all']);
  t.equal(await ofDomain(), null, 'first, the mistake in it');
  dns.set('mail.acme.co.uk', 'TXT', ['site-verification=1']);
  t.equal(await ofDomain(), 'v=spf1 include:spf.service.test ~all');
});

t.test('what receivers accept is right, even where it is spelt otherwise', async (t) => {
  const { dns, states } = await startZone(t);
  publishAll(dns);
  dns.set(REVERSE4, 'PTR', ['out.service.test']);
  dns.set('out.service.test', 'A', [IP4]);
  dns.set('bounces.service.test', 'MX', [{ preference: 5, exchange: 'out.service.test' }]);
  dns.set('spf.service.test', 'TXT', ['site-verification=1', 'v=spf1 include:bounces.service.test -all']);
  dns.remove('_dmarc.bounces.service.test');
  dns.set('_dmarc.service.test', 'TXT', ['v=DMARC1; p=reject']);
  dns.set('links.service.test', 'A', ['198.41.0.99']);
  dns.remove('links.service.test', 'AAAA');
  t.same(await states(), []);
});

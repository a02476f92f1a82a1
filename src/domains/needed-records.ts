// Every DNS record that the service and its sending domains need, made by one function: what `postrider dns` prints and
// checks, and what `postrider doctor` expects. Left out on purpose: an MTA-STS policy and TLS
// reports for inbound mail, which the service does not offer, and an address of the return paths' domain, which its MX
// makes needless.
import { isIP } from 'node:net';
import { reverseName } from '../protocol/dns/lookup/resolver.ts';
import { type DomainFacts, recordsToPublish, type ServiceNames } from './checks.ts';
import { likelyZone } from './host-names.ts';

/** One of our source addresses, with its EHLO name. */
export interface OwnAddress {
  ip: string;
  ehloName: string;
}

export interface ServiceFacts extends ServiceNames {
  ehloName: string;
  /** Empty: unknown, for the reason in `addressesUnknown`. */
  addresses: readonly OwnAddress[];
  addressesUnknown: string | null;
  bouncesDomain: string;
  /** The key is null until the first start creates it. */
  dkim: { domain: string; selector: string; publicKeyB64: string | null };
  /** Hosts of the API and of links in mail, other than the EHLO name. */
  webHosts: readonly { what: 'API' | 'links'; host: string }[];
}

export interface DnsNeeds {
  /** Null: its own records are not asked for. */
  service: ServiceFacts | null;
  /** What the domains' records say about the service. */
  names: ServiceNames;
  domains: readonly DomainFacts[];
}

export type RecordType = 'A' | 'AAAA' | 'MX' | 'PTR' | 'TXT';

export type RecordRole =
  | 'EHLO name'
  | 'reverse name'
  | 'MX'
  | 'SPF'
  | 'DKIM'
  | 'DMARC'
  | 'DMARC reports'
  | 'API'
  | 'links';

export interface PlainRecord {
  name: string;
  type: RecordType;
  value: string;
}

export interface NeededRecord extends Omit<PlainRecord, 'value'> {
  /** The sending domain that it belongs to; null: the service itself. */
  domain: string | null;
  what: RecordRole;
  /** The address that a reverse name belongs to. */
  ip: string | null;
  /** Null: not known yet, for the reason in `unknown`. */
  value: string | null;
  unknown: string | null;
  /** Without it, mail is not sent, or is rejected. */
  required: boolean;
  /** One or two sentences. */
  purpose: string;
  /** Where it is published, as far as names can say; null: in the reverse zone, which the hoster has. */
  zone: string | null;
}

/** The service's own first, then each domain's, in the order in which they are best published. */
export function neededRecords({ service, domains, names }: DnsNeeds): NeededRecord[] {
  return [...(service ? serviceRecords(service) : []), ...domains.flatMap((facts) => domainRecords(facts, names))];
}

const DOMAIN_ROLES = ['DKIM', 'SPF', 'DMARC'] as const;

export function domainRecords(facts: DomainFacts, names: ServiceNames): NeededRecord[] {
  return recordsToPublish(facts, names).map((record, index) => ({
    ...record,
    domain: facts.domain,
    what: DOMAIN_ROLES[index]!,
    ip: null,
    unknown: null,
    zone: likelyZone(facts.domain),
  }));
}

function serviceRecords(facts: ServiceFacts): NeededRecord[] {
  const { ehloName, bouncesDomain, spfDomain } = facts;
  return [
    ...facts.addresses.map((own) =>
      needed('EHLO name', addressRecord(own.ehloName, own.ip), 'The name that the service uses in SMTP.'),
    ),
    ...unknownAddresses(facts, 'EHLO name', ehloName, 'The name that the service uses in SMTP.'),
    ...facts.addresses.map((own) => ({
      ...needed('reverse name', reverseRecord(own), 'Set by your hoster. Large receivers reject mail without it.'),
      ip: own.ip,
      zone: null,
    })),
    ...facts.webHosts.flatMap((host) => webHostRecords(facts, host)),
    needed('MX', mxRecord(facts), 'Bounces, complaints (fbl@) and DMARC reports arrive here, on port 25.'),
    ...[...new Set([bouncesDomain, spfDomain])].map((domain) => ({
      ...needed('SPF', spfRecord(domain, facts.addresses), spfPurpose(domain, facts)),
      ...(facts.addresses.length === 0 && { value: null, unknown: facts.addressesUnknown }),
    })),
    serviceDkim(facts),
    {
      ...needed('DMARC', dmarcRecord(facts), "For the service's own mail, such as password resets."),
      required: false,
    },
    {
      ...needed('DMARC reports', reportPermission(facts), "Permits reports about tenants' domains to be sent here."),
      required: false,
    },
  ];
}

const NO_KEY_YET = 'the key is created at the first start of the daemon: systemctl start postrider';

function serviceDkim({ dkim: { domain, selector, publicKeyB64 } }: ServiceFacts): NeededRecord {
  const record = dkimRecord({ domain, selector, publicKeyB64: publicKeyB64 ?? '' });
  const known = needed('DKIM', record, "The service's own signature, on every message.");
  return publicKeyB64 === null ? { ...known, value: null, unknown: NO_KEY_YET } : known;
}

function needed(what: RecordRole, record: PlainRecord, purpose: string): NeededRecord {
  const zone = likelyZone(record.name.replace(/^\*\./, ''));
  return { domain: null, what, ip: null, ...record, unknown: null, required: true, purpose, zone };
}

function unknownAddresses(facts: ServiceFacts, what: RecordRole, name: string, purpose: string): NeededRecord[] {
  if (facts.addresses.length > 0) return [];
  return [{ ...needed(what, addressRecord(name, ''), purpose), value: null, unknown: facts.addressesUnknown }];
}

/** With a proxy in front, its addresses are the right ones; they are not known here. */
function webHostRecords(facts: ServiceFacts, { what, host }: ServiceFacts['webHosts'][number]): NeededRecord[] {
  const whose = what === 'API' ? 'API and portal' : 'links in mail';
  const purpose = `The host of ${whose}. If a proxy on another machine serves it, use the proxy's addresses.`;
  const ips = [...new Set(facts.addresses.map(({ ip }) => ip))];
  const records = ips.map((ip) => needed(what, addressRecord(host, ip), purpose));
  return [...records, ...unknownAddresses(facts, what, host, purpose)];
}

function spfPurpose(domain: string, { bouncesDomain, spfDomain }: ServiceFacts): string {
  const uses = [
    domain === bouncesDomain ? 'covers return paths' : null,
    domain === spfDomain ? 'is included by tenants' : null,
  ];
  return `Lists the addresses that send; it ${uses.filter((use) => use !== null).join(' and ')}.`;
}

/** RFC 1035 section 3.4.1, RFC 3596 section 2.1. */
export function addressRecord(name: string, ip: string): PlainRecord {
  return { name, type: isIP(ip) === 6 ? 'AAAA' : 'A', value: ip };
}

/** RFC 1035 section 3.5, RFC 3596 section 2.5. */
export function reverseRecord({ ip, ehloName }: OwnAddress): PlainRecord {
  return { name: reverseName(ip) ?? ip, type: 'PTR', value: ehloName };
}

export function mxRecord({ bouncesDomain, ehloName }: Pick<ServiceFacts, 'bouncesDomain' | 'ehloName'>): PlainRecord {
  return { name: bouncesDomain, type: 'MX', value: `10 ${ehloName}` };
}

/** RFC 7208. Nothing else sends from these domains, hence `-all`. */
export function spfRecord(domain: string, addresses: readonly Pick<OwnAddress, 'ip'>[]): PlainRecord {
  const terms = addresses.map(({ ip }) => spfTerm(ip));
  const known = terms.length > 0 ? terms : ['ip4:YOUR.ADDRESS'];
  return { name: domain, type: 'TXT', value: ['v=spf1', ...known, '-all'].join(' ') };
}

export function spfTerm(ip: string): string {
  return `${isIP(ip) === 6 ? 'ip6' : 'ip4'}:${ip}`;
}

/** RFC 6376 section 3.6. */
export function dkimRecord(key: { domain: string; selector: string; publicKeyB64: string }): PlainRecord {
  return {
    name: `${key.selector}._domainkey.${key.domain}`,
    type: 'TXT',
    value: `v=DKIM1; k=rsa; p=${key.publicKeyB64}`,
  };
}

/** RFC 7489 section 6.3. The service's own mail comes from the return paths' domain. */
function dmarcRecord({ bouncesDomain, dmarcReportAddress }: ServiceFacts): PlainRecord {
  const value = `v=DMARC1; p=none; rua=mailto:${dmarcReportAddress}`;
  return { name: `_dmarc.${bouncesDomain}`, type: 'TXT', value };
}

/** RFC 7489 section 7.1. */
export function reportPermission({ dmarcReportAddress }: Pick<ServiceNames, 'dmarcReportAddress'>): PlainRecord {
  return { name: `*._report._dmarc.${domainOfAddress(dmarcReportAddress)}`, type: 'TXT', value: 'v=DMARC1' };
}

export function domainOfAddress(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

// Looks up the needed records at the zones' own name servers, past every cache, so that a record counts as soon as it
// is published, and says of each whether it is right.
import type { DnsResult } from '../protocol/dns/lookup/dns-result.ts';
import type { Resolver } from '../protocol/dns/lookup/resolver.ts';
import { checkOwnName } from '../protocol/dns/own-name.ts';
import { spfOfAddress } from '../protocol/dns/published/spf-of-address.ts';
import { isSpfRecord } from '../protocol/dns/published/spf-record.ts';
import type { DomainCheck } from '../store/domains.ts';
import { checkDmarc, checkDomainRecords, type TxtLookups } from './checks.ts';
import { extendedSpf, spfBeside } from './extended-spf.ts';
import {
  type DnsNeeds,
  domainOfAddress,
  domainRecords,
  type NeededRecord,
  neededRecords,
  type ServiceFacts,
  spfTerm,
} from './needed-records.ts';
import { type RecordVerdict, stateOfCheck } from './record-state.ts';
import {
  anySendersPermission,
  judgeOwnDkim,
  judgeOwnSpf,
  judgePermission,
  right,
  unavailable,
  wrong,
} from './service-checks.ts';

/** `found` is what stands there. */
export interface CheckedRecord extends NeededRecord, RecordVerdict {
  found: readonly string[];
}

export interface ZoneLookups {
  /** Of the zones' own name servers. */
  records: Pick<Resolver, 'mx' | 'a' | 'aaaa' | 'txt' | 'ptr'>;
  /** With one budget for the checks of a domain. */
  limited(): TxtLookups;
}

type Dns = ZoneLookups['records'];

/** Each domain means some ten questions. */
const DOMAINS_AT_ONCE = 8;
const MAX_FOUND = 20;

/** In the order of `neededRecords`. */
export async function checkNeeded(needs: DnsNeeds, lookups: ZoneLookups): Promise<CheckedRecord[]> {
  const { service, domains, names } = needs;
  const own = neededRecords({ ...needs, domains: [] });
  const checked = service ? await Promise.all(own.map((record) => checkOwn(record, service, lookups.records))) : [];
  for (let from = 0; from < domains.length; from += DOMAINS_AT_ONCE) {
    const some = domains.slice(from, from + DOMAINS_AT_ONCE).map(async (facts) => {
      const checks = await checkDomainRecords({ facts, service: names }, lookups.limited());
      return domainRecords(facts, names).map((record, index) =>
        checkedDomainRecord(record, checks[index]!, names.spfDomain),
      );
    });
    checked.push(...(await Promise.all(some)).flat());
  }
  return checked;
}

/** A record of a sending domain, as its check has found it. */
export function checkedDomainRecord(record: NeededRecord, check: DomainCheck, spfDomain: string): CheckedRecord {
  const checked = { ...record, ...ofDomainCheck(check) };
  const isExtended = check.record === 'spf' && !check.ok && check.found.some(isSpfRecord);
  if (!isExtended) return checked;
  const value = spfBeside(check, spfDomain);
  return value === null
    ? { ...checked, value, unknown: 'the record that is there has to be corrected first' }
    : { ...checked, value };
}

type Looked = Pick<CheckedRecord, 'state' | 'message' | 'found'> & {
  /** What is to be published, where what is there must stay in it. */
  value?: string | null;
};

function ofDomainCheck(check: Pick<DomainCheck, 'ok' | 'reason' | 'found' | 'message'>): Looked {
  return { state: stateOfCheck(check), message: check.message, found: check.found };
}

async function checkOwn(record: NeededRecord, facts: ServiceFacts, dns: Dns): Promise<CheckedRecord> {
  const { state, message, found, value } = await LOOKS[record.what](record, facts, dns);
  // What is said of a sending domain's DMARC record is a sentence already.
  const sentence = record.what === 'DMARC' ? message : `${record.ip ?? record.name} ${message}.`;
  return { ...record, value: value ?? record.value, state, message: sentence, found: found.slice(0, MAX_FOUND) };
}

type Look = (record: NeededRecord, facts: ServiceFacts, dns: Dns) => Promise<Looked>;

const LOOKS: Record<NeededRecord['what'], Look> = {
  'EHLO name': lookAtAddress,
  API: lookAtWebHost,
  links: lookAtWebHost,
  'reverse name': lookAtReverseName,
  MX: lookAtMx,
  SPF: lookAtSpf,
  DKIM: lookAtDkim,
  // A record of the organizational domain covers it, too.
  DMARC: async (_, { bouncesDomain }, dns) => ofDomainCheck(await checkDmarc(bouncesDomain, dns)),
  async 'DMARC reports'(_, { dmarcReportAddress }, dns) {
    const result = await dns.txt(anySendersPermission(domainOfAddress(dmarcReportAddress)));
    return { ...judgePermission(result), found: textsOf(result) };
  },
};

async function lookAtAddress({ name, type, value, unknown }: NeededRecord, _: unknown, dns: Dns): Promise<Looked> {
  const result = type === 'AAAA' ? await dns.aaaa(name) : await dns.a(name);
  const found = textsOf(result);
  if (result.kind === 'unavailable') return { ...unavailable(result.reason), found };
  if (found.length === 0) return { state: 'missing', message: `has no ${type} record`, found };
  const resolves = `resolves to ${found.join(', ')}`;
  if (value === null) return { state: 'unknown', message: `${resolves}, but ${unknown}`, found };
  // The resolver spells addresses as short as they can be.
  if (found.includes(value)) return { ...right(resolves), found };
  return { ...wrong(`${resolves}, but not to ${value}`), found };
}

/** Foreign addresses alone are those of a proxy in front of this machine, or a mistake that can't be seen from here. */
async function lookAtWebHost(record: NeededRecord, facts: ServiceFacts, dns: Dns): Promise<Looked> {
  const results = await Promise.all([dns.a(record.name), dns.aaaa(record.name)]);
  const all = results.flatMap(textsOf);
  const isOurs = facts.addresses.some(({ ip }) => all.includes(ip));
  if (isOurs || all.length === 0) return lookAtAddress(record, facts, dns);
  return { ...right(`resolves to ${all.join(', ')}: right if that is a proxy in front of this machine`), found: all };
}

async function lookAtReverseName({ value, ip: own }: NeededRecord, _: unknown, dns: Dns): Promise<Looked> {
  const ip = own!;
  const result = await dns.ptr(ip);
  const found = textsOf(result);
  if (result.kind === 'unavailable') return { ...unavailable(result.reason), found };
  if (found.length === 0) return { state: 'missing', message: 'has no reverse name (PTR record)', found };
  if (found.some((name) => name === value)) return { ...right(`is ${value}`), found };
  // Another name is as good if it leads back: receivers compare the two ways, not the EHLO name.
  const name = await checkOwnName(ip, { resolver: dns });
  if (name.kind === 'good') return { ...right(`is ${name.name}, which resolves back to it`), found };
  if (name.kind === 'unknown') return { ...unavailable(name.reason), found };
  return { ...wrong(`is ${found.join(', ')}, which does not resolve back to ${ip}`), found };
}

async function lookAtMx(_: NeededRecord, facts: ServiceFacts, dns: Dns): Promise<Looked> {
  const result = await dns.mx(facts.bouncesDomain);
  if (result.kind === 'unavailable') return { ...unavailable(result.reason), found: [] };
  const hosts = result.kind === 'found' ? result.records : [];
  const found = hosts.map(({ preference, exchange }) => `${preference} ${exchange || '.'}`);
  if (hosts.length === 0) return { state: 'missing', message: 'has no MX record, so bounces are lost', found };
  const points = `points to ${hosts.map(({ exchange }) => exchange || '.').join(', ')}`;
  const ours = new Set(facts.addresses.map(({ ip }) => ip));
  for (const { exchange } of hosts) {
    if (exchange === facts.ehloName) return { ...right(points), found };
    const addresses = await Promise.all([dns.a(exchange), dns.aaaa(exchange)]);
    if (addresses.flatMap(textsOf).some((ip) => ours.has(ip))) return { ...right(points), found };
  }
  // As for the SPF record: obeyed as it stands on each of several machines, it would take the others out.
  return { ...wrong(`${points}, which is not this machine; another machine of this service stays beside it`), found };
}

async function lookAtSpf({ name }: NeededRecord, { addresses }: ServiceFacts, dns: Dns): Promise<Looked> {
  const record = await dns.txt(name);
  const asked = addresses.map(async ({ ip, ehloName }) => ({
    ip,
    result: await spfOfAddress({ ip, domain: name, ehloName }, dns),
  }));
  const answers = await Promise.all(asked);
  const found = textsOf(record);
  const refused = answers.filter(({ result }) => result.kind === 'not_pass').map(({ ip }) => ip);
  return {
    ...judgeOwnSpf(record, answers),
    found,
    value: refused.length > 0 ? extendedSpf(found, refused.map(spfTerm)) : null,
  };
}

async function lookAtDkim({ name, unknown }: NeededRecord, { dkim }: ServiceFacts, dns: Dns): Promise<Looked> {
  const record = await dns.txt(name);
  const found = textsOf(record);
  if (dkim.publicKeyB64 === null) return { state: 'unknown', message: `couldn't be checked: ${unknown}`, found };
  return { ...judgeOwnDkim(record, dkim.publicKeyB64), found };
}

function textsOf(result: DnsResult<string>): string[] {
  return result.kind === 'found' ? result.records : [];
}

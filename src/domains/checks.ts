// The DNS records of a sending domain: what its owner publishes, and how published records are judged. DKIM decides
// whether the domain is verified; SPF and DMARC are advice. Callers decide about the domain's state.
import { SECOND_MS } from '../base/clock.ts';
import type { DnsResult } from '../protocol/dns/lookup/dns-result.ts';
import { checkDkimRecord, countPieces, type DkimVerdict } from '../protocol/dns/published/dkim-record.ts';
import { dmarcNames, dmarcProblem, isMeantAsDmarc } from '../protocol/dns/published/dmarc-record.ts';
import { isSpfRecord, parseSpfRecord, searchInclude } from '../protocol/dns/published/spf-record.ts';
import type { CheckReason, DomainCheck } from '../store/domains.ts';
import { likelyZone, relativeHost } from './host-names.ts';

export interface DomainFacts {
  /** Lower case, A-labels. */
  domain: string;
  selector: string;
  publicKeyB64: string;
}

export interface ServiceNames {
  spfDomain: string;
  dmarcReportAddress: string;
}

export interface DnsRecordToPublish {
  name: string;
  type: 'TXT';
  value: string;
  required: boolean;
  purpose: string;
}

export interface TxtLookups {
  /** `share`: how much of the common budget this look-up may use; 1 by default. */
  txt(name: string, share?: number): Promise<DnsResult<string>>;
}

interface DomainExpectation {
  facts: DomainFacts;
  service: ServiceNames;
  /** For each check, since SPF may need many look-ups. */
  timeoutMs?: number;
}

type Verdict = Pick<DomainCheck, 'ok' | 'found' | 'reason' | 'message'>;

/** Limits what is stored of records that strangers wrote. */
const MAX_FOUND = 20;
export const MAX_FOUND_CHARS = 2048;

/** Includes of an SPF record must leave enough of the budget for the record that decides. */
const SPF_SHARE = 0.7;
const DMARC_SHARE = 0.9;

/** DKIM, SPF, DMARC, in this order. */
export function recordsToPublish(facts: DomainFacts, service: ServiceNames): DnsRecordToPublish[] {
  const { domain } = facts;
  return [
    {
      name: `${facts.selector}._domainkey.${domain}`,
      type: 'TXT',
      value: `v=DKIM1; k=rsa; p=${facts.publicKeyB64}`,
      required: true,
      purpose: `DKIM: lets receivers verify your mail's signature. Publish the value unchanged. It is longer than 255 characters, so split it into several strings of one record if your DNS provider requires that.`,
    },
    {
      name: domain,
      type: 'TXT',
      value: `v=spf1 include:${service.spfDomain} ~all`,
      required: false,
      purpose: `SPF: authorizes this service to send for ${domain}. If the domain already has a record that begins with v=spf1, don't add a second one: add include:${service.spfDomain} to it, before its "all" and its other includes.`,
    },
    {
      name: `_dmarc.${domain}`,
      type: 'TXT',
      value: `v=DMARC1; p=none; rua=mailto:${service.dmarcReportAddress}`,
      required: false,
      purpose: `DMARC in monitoring mode: asks receivers for reports about mail from ${domain}. If the domain already has a DMARC record, keep it and don't weaken its policy; you can add our address to its rua list.`,
    },
  ];
}

/** The three checks, in the order of the records. */
export async function checkDomainRecords(
  { facts, service, timeoutMs = 15 * SECOND_MS }: DomainExpectation,
  lookups: TxtLookups,
): Promise<DomainCheck[]> {
  const records = recordsToPublish(facts, service);
  const verdicts = await Promise.all([
    inTime(checkDkim(records[0]!, facts, lookups), records[0]!.name, timeoutMs),
    inTime(checkSpf(facts.domain, service.spfDomain, lookups), records[1]!.name, timeoutMs),
    inTime(checkDmarc(facts.domain, lookups), records[2]!.name, timeoutMs),
  ]);
  const kinds = ['dkim', 'spf', 'dmarc'] as const;
  return kinds.map((record, index) => {
    const { name, type, required, value } = records[index]!;
    const verdict = verdicts[index]!;
    return { record, name, type, required, expected: value, ...verdict, found: limited(verdict.found) };
  });
}

async function inTime(check: Promise<Verdict>, name: string, timeoutMs: number): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<Verdict>((resolve) => {
    const why = `the lookups took longer than ${timeoutMs / SECOND_MS} s`;
    timer = setTimeout(() => resolve(unavailable(name, why)), timeoutMs);
  });
  return Promise.race([check, timedOut]).finally(() => clearTimeout(timer));
}

async function checkDkim(record: DnsRecordToPublish, facts: DomainFacts, lookups: TxtLookups): Promise<Verdict> {
  const { name } = record;
  const result = await lookups.txt(name);
  if (result.kind === 'unavailable') return unavailable(name, result.reason);
  const found = result.kind === 'found' ? result.records : [];
  const verdicts = found.map((text) => checkDkimRecord(text, facts.publicKeyB64));
  const keys = verdicts.filter((verdict) => verdict.kind !== 'no_key_record');
  const [key] = keys;
  if (!key) return missingKey(name, facts, found, lookups);
  const pieces = countPieces(found, facts.publicKeyB64);
  if (pieces > 0) {
    const advice = `Join the ${pieces} TXT records at ${name} that hold parts of the DKIM key into one record: the parts must be its strings.`;
    return failed(keys.length > 1 ? 'multiple_records' : reasonOf(key), found, advice);
  }
  if (keys.length > 1) {
    return failed('multiple_records', found, `Remove every DKIM record at ${name} except the expected one.`);
  }
  if (key.kind === 'ok') return passed(found, `The DKIM record at ${name} has the expected key.`);
  const advice = `Replace the DKIM record at ${name} with the expected value: ${key.problem}.`;
  return failed(reasonOf(key), found, advice);
}

function reasonOf({ kind }: DkimVerdict): CheckReason {
  return kind === 'invalid' ? 'invalid_record' : 'mismatch';
}

/** The name of a key is long, and DNS providers' forms often change it. */
async function missingKey(name: string, facts: DomainFacts, found: string[], lookups: TxtLookups): Promise<Verdict> {
  const isKey = (text: string) => checkDkimRecord(text, facts.publicKeyB64).kind !== 'no_key_record';
  const misplaced = found.length > 0 ? null : await findMisplaced({ name, domain: facts.domain, isKey }, lookups);
  if (misplaced !== null) return failed('not_found', found, whereInstead(name, misplaced));
  return failed('not_found', found, `Publish the DKIM record as a TXT record at ${name}: ${describeFound(found)}.`);
}

async function checkSpf(domain: string, spfDomain: string, lookups: TxtLookups): Promise<Verdict> {
  const result = await lookups.txt(domain, SPF_SHARE);
  if (result.kind === 'unavailable') return unavailable(domain, result.reason);
  const found = result.kind === 'found' ? result.records : [];
  const records = found.filter(isSpfRecord);
  const include = `include:${spfDomain}`;
  if (records.length === 0) {
    return failed('not_found', found, `Publish the SPF record as a TXT record at ${domain}: ${describeFound(found)}.`);
  }
  if (records.length > 1) {
    const advice = `Merge the SPF records at ${domain} into one that has ${include}: receivers reject a domain with several.`;
    return failed('multiple_records', found, advice);
  }
  const record = parseSpfRecord(records[0]!);
  if (record.invalidTerm !== null) {
    const advice = `Correct "${record.invalidTerm.slice(0, 100)}" in the SPF record at ${domain}: it is not valid SPF.`;
    return failed('invalid_record', found, advice);
  }
  const search = await searchInclude(record, spfDomain, { txt: (name) => lookups.txt(name, SPF_SHARE) });
  switch (search.kind) {
    case 'included':
      return passed(found, `The SPF record at ${domain} includes ${spfDomain}.`);
    case 'unavailable':
      return { ...unavailable(domain, search.reason), found };
    case 'not_included': {
      const limit = search.limitReached ? ': with them, the record needs more than 10 lookups' : '';
      const advice = `Add ${include} to the SPF record at ${domain}, before its "all" and its other includes${limit}.`;
      return failed('mismatch', found, advice);
    }
  }
}

export async function checkDmarc(domain: string, lookups: TxtLookups): Promise<Verdict> {
  let firstFound: string[] = [];
  const names = dmarcNames(domain);
  for (const name of names) {
    const result = await lookups.txt(name, DMARC_SHARE);
    if (result.kind === 'unavailable') return unavailable(name, result.reason);
    const found = result.kind === 'found' ? result.records : [];
    const policies = found.filter(isMeantAsDmarc);
    if (policies.length > 0) return judgeDmarc(name, policies, found);
    // RFC 7489 section 6.6.3: only a name without any DMARC record defers to the organizational domain.
    if (name === names[0]) firstFound = found;
  }
  const advice = `Publish the DMARC record as a TXT record at ${names[0]}: ${describeFound(firstFound)}.`;
  return failed('not_found', firstFound, advice);
}

function judgeDmarc(name: string, policies: string[], found: string[]): Verdict {
  if (policies.length > 1) {
    const advice = `Remove every DMARC record at ${name} except one: receivers ignore them all when there are several.`;
    return failed('multiple_records', found, advice);
  }
  const problem = dmarcProblem(policies[0]!);
  if (problem === null) return passed(found, `The DMARC record at ${name} is valid.`);
  return failed('invalid_record', found, `Correct the DMARC record at ${name}: ${problem}.`);
}

function passed(found: string[], message: string): Verdict {
  return { ok: true, found, reason: null, message };
}

function failed(reason: CheckReason, found: string[], message: string): Verdict {
  return { ok: false, found, reason, message };
}

function unavailable(name: string, why: string): Verdict {
  const message = `The TXT records at ${name} could not be read (${why}). Try again later, or fix the domain's name servers.`;
  return failed('dns_unavailable', [], message);
}

function describeFound(found: string[]): string {
  if (found.length === 0) return 'there is no TXT record yet';
  return found.length === 1
    ? 'the TXT record there is a different one'
    : `the ${found.length} TXT records there are different ones`;
}

function limited(found: string[]): string[] {
  return found.slice(0, MAX_FOUND).map((text) => text.slice(0, MAX_FOUND_CHARS));
}

// Finds a record that was published at a wrong name. Two mistakes are common: a form that appends the zone got the full
// host name, or a host without its subdomain.

interface Misplaced {
  name: string;
  how: 'zone_added_twice' | 'subdomain_left_out';
  /** The host name to enter instead, in a form that appends the zone. */
  host: string;
  zone: string;
}

interface ExpectedRecord {
  /** The right name: below `domain`. */
  name: string;
  domain: string;
  isKey(text: string): boolean;
}

export async function findMisplaced(
  { name, domain, isKey }: ExpectedRecord,
  lookups: { txt(name: string): Promise<DnsResult<string>> },
): Promise<Misplaced | null> {
  const zone = likelyZone(domain);
  const host = relativeHost(name, zone);
  const candidates: Misplaced[] = [{ name: `${name}.${zone}`, how: 'zone_added_twice', host, zone }];
  if (zone !== domain) {
    const short = `${relativeHost(name, domain)}.${zone}`;
    candidates.push({ name: short, how: 'subdomain_left_out', host, zone });
  }
  for (const candidate of candidates) {
    const result = await lookups.txt(candidate.name);
    if (result.kind === 'found' && result.records.some(isKey)) return candidate;
  }
  return null;
}

export function whereInstead(name: string, { name: wrong, how, host, zone }: Misplaced): string {
  const why =
    how === 'zone_added_twice' ? `your DNS provider appends ${zone} automatically` : 'its subdomain is missing';
  return `Move the DKIM record to ${name}: it is at ${wrong}, because ${why}. Enter ${host} as the host name.`;
}

// SPF records (RFC 7208): whether a domain's record includes the service's record, directly or through nested includes
// and redirects. Does not evaluate SPF for a sender's address.
import type { DnsResult } from '../lookup/dns-result.ts';
import { isDnsName, normalName } from '../lookup/wire.ts';

export interface SpfRecord {
  /** The evaluated terms, in order: nothing after `all`, and `redirect` only without it. */
  delegates: string[];
  /** The first term that is neither a mechanism nor a modifier, or lacks its domain. */
  invalidTerm: string | null;
}

export type SpfSearch =
  | { kind: 'included' }
  | { kind: 'not_included'; limitReached: boolean }
  | { kind: 'unavailable'; reason: string };

export interface SpfLookups {
  txt(name: string): Promise<DnsResult<string>>;
}

/** RFC 7208 section 4.6.4. */
const MAX_LOOKUPS = 10;
const MECHANISM = /^([+?~-]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?:([:/])(.*))?$/i;
const MODIFIER = /^([a-z][a-z0-9_.-]*)=(.*)$/i;
const NEEDS_VALUE = new Set(['include', 'ip4', 'ip6', 'exists']);

/** RFC 7208 section 4.5: the version, and then a space or the end. */
export function isSpfRecord(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

export function parseSpfRecord(text: string): SpfRecord {
  const delegates: string[] = [];
  const included = new Set<string>();
  let redirect: string | null = null;
  let invalidTerm: string | null = null;
  let isOver = false;
  for (const term of text.split(' ').slice(1).filter(Boolean)) {
    const [, qualifier = '', rawName = '', separator, value = ''] = MECHANISM.exec(term) ?? [];
    const name = rawName.toLowerCase();
    const [, modifier = '', target = ''] = name ? [] : (MODIFIER.exec(term) ?? []);
    if (!name && !modifier) invalidTerm ??= term;
    if (NEEDS_VALUE.has(name) && (separator !== ':' || value === '')) invalidTerm ??= term;
    // RFC 7208 section 5.1: terms after `all` are never evaluated.
    isOver ||= name === 'all';
    if (name === 'include' && !isOver) {
      const domain = normalName(value);
      // With a qualifier other than +, a match is not a pass, and a later include of the same domain is never reached.
      if (!included.has(domain) && qualifier.replace('+', '') === '') delegates.push(domain);
      included.add(domain);
    }
    if (modifier.toLowerCase() === 'redirect') redirect = normalName(target);
  }
  if (redirect !== null && !isOver) delegates.push(redirect);
  return { delegates, invalidTerm };
}

/**
 * Breadth-first, so that a near include costs few look-ups and a slow domain delays little; each domain is visited
 * once.
 */
export async function searchInclude(record: SpfRecord, wanted: string, lookups: SpfLookups): Promise<SpfSearch> {
  const target = normalName(wanted);
  const seen = new Set<string>();
  let outage: string | null = null;
  // Each include costs a look-up, so receivers never reach the eleventh.
  let limitReached = record.delegates.length > MAX_LOOKUPS;
  for (let level = record.delegates.slice(0, MAX_LOOKUPS); level.length > 0; ) {
    if (level.includes(target)) return { kind: 'included' };
    const open = [...new Set(level)].filter((domain) => !seen.has(domain) && canBeLookedUp(domain));
    const next = open.slice(0, MAX_LOOKUPS - seen.size);
    limitReached ||= next.length < open.length;
    for (const domain of next) seen.add(domain);
    const results = await Promise.all(next.map((domain) => lookups.txt(domain)));
    outage ??= results.find((result) => result.kind === 'unavailable')?.reason ?? null;
    level = results.flatMap(delegatesOf);
  }
  return outage === null ? { kind: 'not_included', limitReached } : { kind: 'unavailable', reason: outage };
}

/** Macros (RFC 7208 section 7) depend on the sender, which is unknown here. */
function canBeLookedUp(domain: string): boolean {
  return isDnsName(domain) && !domain.includes('%');
}

function delegatesOf(result: DnsResult<string>): string[] {
  const records = result.kind === 'found' ? result.records.filter(isSpfRecord) : [];
  // RFC 7208 section 4.5: several records are an error, so none of them counts.
  return records.length === 1 ? parseSpfRecord(records[0]!).delegates : [];
}

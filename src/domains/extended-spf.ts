// The SPF record (RFC 7208) that authorizes us beside what is published already: other machines of the service, and other
// services of a tenant, are in it, so nothing that works is taken out.
import { isSpfRecord, parseSpfRecord } from '../protocol/dns/published/spf-record.ts';
import type { DomainCheck } from '../store/domains.ts';
import { MAX_FOUND_CHARS } from './checks.ts';

/** With more, an answer may not fit into 512 bytes, which some receivers don't read (RFC 7208 section 3.4). */
export const MAX_SPF_BYTES = 450;

const PLAIN_ADDRESS = /^\+?ip[46]:/i;
const ALL = /^[+?~-]?all$/i;
const REDIRECT = /^redirect=/i;

/** In place of what a check has found. Null: nothing is there, or something else in it has to be corrected first. */
export function spfBeside({ reason, found }: Pick<DomainCheck, 'reason' | 'found'>, spfDomain: string): string | null {
  const isWhole = found.every((text) => text.length < MAX_FOUND_CHARS);
  return isWhole && reason !== 'invalid_record' ? extendedSpf(found, [`include:${spfDomain}`]) : null;
}

/** Null: no such record is there. Several become one: receivers reject a domain that has more (RFC 7208 section 4.5). */
export function extendedSpf(published: readonly string[], added: readonly string[]): string | null {
  const records = published.filter(isSpfRecord);
  const [record] = records;
  if (record === undefined) return null;
  if (records.length === 1) return withTerms(termsOf(record), added);
  // `redirect` is only read in a record without `all`, and there may be just one: `include` passes the same senders.
  const kept = records.flatMap((text) => evaluatedTerms(text).filter((term) => !ALL.test(term)));
  const merged = kept.map((term) => term.replace(REDIRECT, 'include:'));
  return withTerms([...new Set(merged), softest(records.flatMap(termsOf))], added);
}

/** What is said of all others, as mildly as one of the records says it: nobody asked for their mail to be refused. */
function softest(terms: readonly string[]): string {
  return ['?all', '~all', '-all'].find((all) => terms.some((term) => term.toLowerCase() === all)) ?? '~all';
}

function termsOf(record: string): string[] {
  return record.split(' ').slice(1).filter(Boolean);
}

/** RFC 7208 section 5.1: nothing counts behind `all`, and no `redirect` beside it. */
function evaluatedTerms(record: string): string[] {
  const terms = termsOf(record).filter((term) => parseSpfRecord(`v=spf1 ${term}`).invalidTerm === null);
  const all = terms.findIndex((term) => ALL.test(term));
  return all < 0 ? terms : terms.slice(0, all).filter((term) => !REDIRECT.test(term));
}

/**
 * Behind the addresses that it begins with: there, nothing that is evaluated before can reject ours or use up the
 * look-ups. With another qualifier (`?include:ours`) ours is no pass, so that term is replaced.
 */
function withTerms(terms: readonly string[], added: readonly string[]): string {
  const known = terms.filter((term) => !added.includes(term.toLowerCase().replace(/^[+?~-]/, '')));
  const other = known.findIndex((term) => !PLAIN_ADDRESS.test(term));
  const place = other < 0 ? known.length : other;
  return ['v=spf1', ...known.slice(0, place), ...added, ...known.slice(place)].join(' ');
}

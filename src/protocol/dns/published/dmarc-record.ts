// DMARC policy records (RFC 7489 sections 6.3 and 6.6.3): where they are published and whether one is valid. Receivers
// apply the policy and check alignment.
import { getDomain } from 'tldts';
import { parseTagList } from './dkim-record.ts';

const POLICIES = new Set(['none', 'quarantine', 'reject']);

/** The organizational domain (section 3.2, by the Public Suffix List); the domain itself if that is unknown. */
export function organizationalDomain(domain: string): string {
  return getDomain(domain, { allowPrivateDomains: true }) || domain;
}

/** The domain itself, then its organizational domain if that is a different one. */
export function dmarcNames(domain: string): string[] {
  const domains = [...new Set([domain, organizationalDomain(domain)])];
  return domains.map((name) => `_dmarc.${name}`);
}

/** Also in the wrong case or with quotes: anything meant as a DMARC record is judged, other records are ignored. */
export function isMeantAsDmarc(text: string): boolean {
  return /^[\s"'\\]*v\s*=\s*["']?dmarc/i.test(text);
}

/** The problem of the record, or null. */
export function dmarcProblem(text: string): string | null {
  const tags = parseTagList(text);
  if (!tags) return 'its tags are not written as name=value with semicolons between them';
  if ([...tags.keys()][0] !== 'v' || tags.get('v') !== 'DMARC1') return 'it does not begin with "v=DMARC1;"';
  const policy = tags.get('p')?.toLowerCase();
  // RFC 7489 section 6.6.3: without a usable policy, an address for reports means p=none.
  if (POLICIES.has(policy ?? '') || /^mailto:/i.test(tags.get('rua') ?? '')) return null;
  return policy === undefined ? 'it has no p= tag' : 'its p= tag is neither none, quarantine nor reject';
}

// The registered domain of a name, by the ICANN part of the Public Suffix List. Unlike the organizational domain
// (dmarc-record.ts) it ignores the list's private part: below a suffix of a hosting or dynamic DNS company, one person
// can get any number of names for free.
import { getDomain } from 'tldts';

/** The domain itself if its registered domain is unknown. */
export function registeredDomain(domain: string): string {
  return getDomain(domain) || domain;
}

// The domain that somebody has registered with a registry, by the ICANN part of the Public Suffix List. Unlike the
// organizational domain (dmarc-record.ts) it does not follow the list's private part: below a suffix of a hosting
// or dynamic DNS company one person can have any number of names for nothing.
import { getDomain } from 'tldts';

/** The domain itself where that is not known. */
export function registeredDomain(domain: string): string {
  return getDomain(domain) || domain;
}

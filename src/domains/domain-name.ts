// What may be registered as a sending domain, and with which DKIM selector: syntax only (RFC 5321 section 4.1.2 for
// the name, RFC 6376 section 3.1 for the selector).
import { parseDomain } from '../protocol/mail/addresses/domain.ts';

/** The service's two-letter prefix, which the specification requires in default selectors. */
const SELECTOR_PREFIX = 'pr';
const SELECTOR_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** RFC 1035 section 2.3.4, in dotted form. */
const MAX_NAME_CHARS = 253;

/** What is wrong with a name as a sending domain, or null. */
export function domainNameProblem(name: string, ownDomains: readonly string[]): string | null {
  if (name.endsWith('.')) return 'must be written without a trailing dot.';
  const parsed = parseDomain(name);
  if (!parsed.ok) return `must be a domain name. ${parsed.reason}`;
  if (parsed.isLiteral) return 'must be a domain name, not an address literal.';
  if (!parsed.asciiDomain.includes('.')) return 'must have at least two labels, like example.com.';
  if (parsed.asciiDomain !== name) return `must be lower-case ASCII: ${parsed.asciiDomain}`;
  // No top-level domain is a number (RFC 3696 section 2): this is an IP address.
  if (/\.\d+$/.test(name)) return 'must be a domain name, not an IP address.';
  if (ownDomains.includes(name)) return 'belongs to this service itself. Register a domain of your own.';
  return null;
}

/** What is wrong with a selector for this domain, or null. */
export function selectorProblem(selector: string, domain: string): string | null {
  if (!selector.split('.').every((label) => SELECTOR_LABEL.test(label))) {
    return 'must be DNS labels joined by dots. A label has at most 63 letters, digits and inner hyphens.';
  }
  const tooLong = dkimRecordName(selector, domain).length > MAX_NAME_CHARS;
  return tooLong ? `is too long: the DKIM record's name would exceed ${MAX_NAME_CHARS} characters.` : null;
}

function dkimRecordName(selector: string, domain: string): string {
  return `${selector}._domainkey.${domain}`;
}

/** `pr202611` in November 2026, in UTC. */
export function defaultSelector(now: number): string {
  return SELECTOR_PREFIX + new Date(now).toISOString().slice(0, 7).replace('-', '');
}

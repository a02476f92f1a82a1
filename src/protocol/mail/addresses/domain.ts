// The domain part of an address: RFC 5321 sections 4.1.2 (names) and 4.1.3 (literals), with RFC 5890 names converted to
// lower-case A-labels. Syntax only: no DNS look-up.
import { domainToASCII } from 'node:url';

export type DomainResult = { ok: true; asciiDomain: string; isLiteral: boolean } | { ok: false; reason: string };

/** RFC 1035 section 2.3.4: 255 octets on the wire are 253 characters in dotted form. */
const MAX_DOMAIN_OCTETS = 253;
/** RFC 1035 section 2.3.4. */
const MAX_LABEL_OCTETS = 63;

const LDH_ONLY = /^[a-z0-9-]*$/i;
const ASCII_ONLY = /^[\x00-\x7f]*$/;
const HAS_A_LABEL = /(^|\.)xn--/i;

export function parseDomain(text: string): DomainResult {
  if (text === '') return refused('There is nothing after the @.');
  if (text.startsWith('[')) return parseLiteral(text);
  const ascii = toAsciiDomain(text);
  if (ascii === null) return refused('The domain is not a valid internationalized name.');
  const problem = nameProblem(ascii);
  return problem === null ? { ok: true, asciiDomain: ascii, isLiteral: false } : refused(problem);
}

/** Lower-case A-labels; null when IDNA (by UTS 46) rejects the name. */
function toAsciiDomain(text: string): string | null {
  const lower = text.toLowerCase();
  if (ASCII_ONLY.test(text) && !HAS_A_LABEL.test(text)) return lower;
  // The converter is made for URLs: it decodes %-escapes and reads names that end in a number as IPv4 addresses. Mail
  // has neither, hence the check before and the label after.
  if (!/^[a-z0-9.\-\x80-\u{10ffff}]*$/iu.test(text)) return lower;
  const guard = '.x';
  const ascii = domainToASCII(text + guard);
  return ascii.endsWith(guard) ? ascii.slice(0, -guard.length) : null;
}

function nameProblem(ascii: string): string | null {
  const labels = ascii.split('.');
  if (ascii.endsWith('.')) return 'The domain ends with a dot.';
  if (labels.includes('')) return 'The domain has a dot at its start or two dots in a row.';
  for (const label of labels) {
    if (!LDH_ONLY.test(label)) return 'The domain has a character other than letters, digits, hyphens and dots.';
    if (label.startsWith('-') || label.endsWith('-')) return 'A label of the domain starts or ends with a hyphen.';
    if (label.length > MAX_LABEL_OCTETS) return `A label of the domain is longer than ${MAX_LABEL_OCTETS} bytes.`;
  }
  return ascii.length > MAX_DOMAIN_OCTETS ? `The domain is longer than ${MAX_DOMAIN_OCTETS} bytes.` : null;
}

function parseLiteral(text: string): DomainResult {
  if (!text.endsWith(']')) return refused('The address literal has no closing bracket at the end.');
  const content = text.slice(1, -1);
  // RFC 5321 section 4.1.3: IPv6 is the only registered tag of a general literal.
  const valid = /^IPv6:/i.test(content) ? isIpv6(content.slice(5)) : isIpv4(content);
  if (!valid) return refused('The address literal is neither [IPv4] nor [IPv6:…].');
  return { ok: true, asciiDomain: text.toLowerCase(), isLiteral: true };
}

/** Snum may have leading zeros, which node:net refuses; it is decimal all the same. */
function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255);
}

/**
 * RFC 5321 section 4.1.3 wants `::` to stand for two groups or more; RFC 4291 section 2.2
 * lets it stand for one, and such literals are in use, so one is enough here.
 */
function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const left = groupsOf(halves[0]!, halves.length === 1);
  const right = halves.length === 2 ? groupsOf(halves[1]!, true) : 0;
  if (left === null || right === null) return false;
  return halves.length === 2 ? left + right <= 7 : left === 8;
}

/** The number of 16-bit groups in the text (an IPv4 tail counts as two); null when it is malformed. */
function groupsOf(text: string, mayEndInIpv4: boolean): number | null {
  if (text === '') return 0;
  const parts = text.split(':');
  const tail = parts.at(-1)!;
  const hasIpv4Tail = mayEndInIpv4 && tail.includes('.');
  if (hasIpv4Tail && !isIpv4(tail)) return null;
  const hexParts = hasIpv4Tail ? parts.slice(0, -1) : parts;
  if (!hexParts.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return null;
  return hexParts.length + (hasIpv4Tail ? 2 : 0);
}

function refused(reason: string): DomainResult {
  return { ok: false, reason };
}

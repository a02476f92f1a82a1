// Mail addresses of the SMTP envelope: RFC 5321 section 4.1.2, with RFC 6531 section 3.3 for non-ASCII. Comments,
// folding white space and obsolete forms belong to RFC 5322 headers and are rejected; so are spaces around the address.
// No DNS look-up.
import { parseDomain } from './domain.ts';

export interface Address {
  /** As written, quotes included. */
  local: string;
  /** As written. */
  domain: string;
  /** Lower-case A-labels; a literal in lower case. */
  asciiDomain: string;
  form: 'dot-string' | 'quoted';
  isLiteral: boolean;
  /** Needs SMTPUTF8. A non-ASCII domain alone does not: it has an ASCII form. */
  nonAsciiLocal: boolean;
}

export type AddressResult = { ok: true; address: Address } | { ok: false; reason: string };

/** RFC 5321 section 4.5.3.1.1. */
const MAX_LOCAL_OCTETS = 64;
/** RFC 5321 section 4.5.3.1.3: a path of 256 octets less its angle brackets. */
export const MAX_ADDRESS_OCTETS = 254;

// Without the C1 controls, which RFC 6531 allows, but which cannot be typed or shown.
const NON_ASCII = '\\u{a0}-\\u{10ffff}';
const ATEXT_ONLY = new RegExp(`^[A-Za-z0-9!#$%&'*+/=?^_\`{|}~${NON_ASCII}-]+$`, 'u');
// qtextSMTP may be any non-ASCII, quoted-pairSMTP stays ASCII (RFC 6531 section 3.3).
const QUOTED_AT_START = new RegExp(`^"(?:[ !#-\\[\\]-~${NON_ASCII}]|\\\\[ -~])*"`, 'u');
const CONTROL = /\p{Cc}/u;

export function parseAddress(text: string): AddressResult {
  const problem = textProblem(text);
  if (problem !== null) return { ok: false, reason: problem };
  const split = splitLocal(text);
  if ('reason' in split) return { ok: false, reason: split.reason };
  const localOctets = Buffer.byteLength(split.local);
  if (localOctets > MAX_LOCAL_OCTETS) {
    return { ok: false, reason: `The part before the @ is longer than ${MAX_LOCAL_OCTETS} bytes.` };
  }
  const domain = parseDomain(split.domain);
  if (!domain.ok) return domain;
  // Counted as in the SMTP command, with the domain in ASCII form.
  if (localOctets + 1 + domain.asciiDomain.length > MAX_ADDRESS_OCTETS) {
    return { ok: false, reason: `The address is longer than ${MAX_ADDRESS_OCTETS} bytes.` };
  }
  const { asciiDomain, isLiteral } = domain;
  const nonAsciiLocal = localOctets !== split.local.length;
  return { ok: true, address: { ...split, asciiDomain, isLiteral, nonAsciiLocal } };
}

/** Empty when it is not an address. */
export function asciiDomainOf(text: string): string {
  const parsed = parseAddress(text);
  return parsed.ok ? parsed.address.asciiDomain : '';
}

function textProblem(text: string): string | null {
  if (text === '') return 'The address is empty.';
  // Limits the work below; the exact count follows when the ASCII form is known.
  if (text.length > 4 * MAX_ADDRESS_OCTETS) return `The address is longer than ${MAX_ADDRESS_OCTETS} bytes.`;
  if (!text.isWellFormed()) return 'The address is not valid Unicode: it contains a lone surrogate.';
  if (text.trim() !== text) return 'There is white space around the address.';
  if (CONTROL.test(text)) return 'The address contains a control character.';
  return null;
}

type LocalSplit = Pick<Address, 'local' | 'domain' | 'form'>;

function splitLocal(text: string): LocalSplit | { reason: string } {
  if (text.startsWith('"')) return splitQuotedLocal(text);
  const at = text.indexOf('@');
  if (at < 0) return { reason: 'The address has no @.' };
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  if (local === '') return { reason: 'There is nothing before the @.' };
  const atoms = local.split('.');
  if (atoms.includes('')) return { reason: 'The part before the @ starts or ends with a dot, or has two in a row.' };
  if (!atoms.every((atom) => ATEXT_ONLY.test(atom))) {
    return { reason: 'The part before the @ contains a character that is only allowed inside quotes.' };
  }
  if (domain.includes('@')) return { reason: 'The address has more than one @.' };
  return { local, domain, form: 'dot-string' };
}

function splitQuotedLocal(text: string): LocalSplit | { reason: string } {
  const local = QUOTED_AT_START.exec(text)?.[0];
  if (local === undefined)
    return { reason: 'The quoted part before the @ is not closed or contains an invalid character.' };
  if (text[local.length] !== '@') return { reason: 'The quoted part is not followed by an @.' };
  return { local, domain: text.slice(local.length + 1), form: 'quoted' };
}

/** Valid syntax, but the service neither sends to nor from it. */
export function policyRefusal(address: Address): string | null {
  if (address.isLiteral) return 'Addresses with an IP address in place of a domain are not accepted.';
  if (!address.asciiDomain.includes('.')) return 'The domain must have at least two labels, like example.com.';
  // RFC 3696 section 2: no top-level domain is a number, and resolvers read four of them as an IPv4 address.
  const inNumbers = /^[\d.]+$/.test(address.asciiDomain);
  if (inNumbers) return 'The domain looks like an IP address: it ends in a number, and no domain in the DNS does.';
  return /\.\d+$/.test(address.asciiDomain) ? 'The domain ends in a number, and no domain in the DNS does.' : null;
}

/** The address in its envelope form: ASCII unless the local part is not. */
export function envelopeForm(address: Address): string {
  return `${address.local}@${isAsciiText(address.domain) ? address.domain : address.asciiDomain}`;
}

/** Equal for two spellings of one recipient: the local part exactly, the domain ignoring case. */
export function recipientKey(address: Address): string {
  return `${plainLocal(address)}@${address.asciiDomain}`;
}

/** Equal for all addresses that one suppression entry matches: ignores case in both parts. */
export function suppressionKey(address: Address): string {
  return `${plainLocal(address).toLowerCase().normalize('NFC')}@${address.asciiDomain}`;
}

/** For an address that was accepted once: if today's rules reject it, its lower case is used. */
export function suppressionKeyOf(text: string): string {
  const parsed = parseAddress(text);
  return parsed.ok ? suppressionKey(parsed.address) : text.toLowerCase();
}

/** What entries of a suppression list begin with that are searched by an address, or by the beginning of one. */
export function suppressionPrefix(typed: string): string {
  const text = typed.trim();
  const parsed = parseAddress(text);
  return parsed.ok ? suppressionKey(parsed.address) : text.toLowerCase().normalize('NFC');
}

/**
 * Equal for all spellings that most likely reach one person: without case, and without what follows a plus sign.
 * For comparing and counting only: mail goes to the address as it was written.
 */
function aliasKey(address: Address): string {
  const key = suppressionKey(address);
  const at = key.lastIndexOf('@');
  const plus = key.indexOf('+');
  return plus > 0 && plus < at && !key.startsWith('"') ? key.slice(0, plus) + key.slice(at) : key;
}

/** For an address as written, which need not be valid. */
export function aliasKeyOf(text: string): string {
  const parsed = parseAddress(text);
  return parsed.ok ? aliasKey(parsed.address) : text.trim().toLowerCase();
}

/** RFC 5321 section 4.1.2: `"jo"@x` and `jo@x` are the same mailbox, so needless quotes go. */
function plainLocal(address: Address): string {
  if (address.form === 'dot-string') return address.local;
  const content = unquote(address.local);
  // Without quotes an address cannot begin with one of Unicode's spaces: they are taken for space around it.
  const needsQuotes = content.trimStart() !== content;
  if (!needsQuotes && content.split('.').every((atom) => ATEXT_ONLY.test(atom))) return content;
  return `"${content.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * How an address of the same mailbox may begin, up to its @: without needless quotes, with them, and as written. No other
 * address begins so, whatever its domain. Other backslash escapes than the needed ones are left out.
 */
export function startsOfMailbox(text: string): string[] {
  const parsed = parseAddress(text);
  if (!parsed.ok) return [text];
  const plain = plainLocal(parsed.address);
  const quoted = plain.startsWith('"') ? plain : `"${plain}"`;
  return [...new Set([plain, quoted, parsed.address.local])].map((local) => `${local}@`);
}

/** The content of a quoted string, its backslash escapes undone. */
export function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(.)/gsu, '$1');
}

export function isAsciiText(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text);
}

// A mailbox as the API accepts it: `addr@domain` or `Name <addr@domain>`. More lenient than RFC 5322 section 3.4 about
// the name, which may be any text without control characters, and stricter about the address, which is that of RFC
// 5321. Lists and groups are not supported.
import { type Address, type AddressResult, MAX_ADDRESS_OCTETS, parseAddress, unquote } from './address.ts';

export interface Mailbox {
  /** Empty when there is none. */
  name: string;
  address: Address;
}

export type MailboxResult = { ok: true; mailbox: Mailbox } | { ok: false; reason: string };

/** As for a subject: real names are shorter. */
const MAX_NAME_CHARS = 998;

const CONTROL = /\p{Cc}/u;
const ONE_QUOTED_STRING = /^"(?:[^"\\]|\\.)*"$/su;

export function parseMailbox(text: string): MailboxResult {
  if (!text.endsWith('>')) {
    const bare = parseAddress(text);
    return bare.ok ? { ok: true, mailbox: { name: '', address: bare.address } } : bare;
  }
  const { start, result } = lastBracketed(text);
  if (start < 0) return { ok: false, reason: 'There is a > without a <.' };
  if (!result.ok) return result;
  const written = text.slice(0, start);
  const problem = nameProblem(written);
  if (problem !== null) return { ok: false, reason: problem };
  return { ok: true, mailbox: { name: displayName(written), address: result.address } };
}

/**
 * The address is in the last <…>. A quoted local part may itself contain a `<`: when the last one does not begin an
 * address, earlier ones are tried, within the maximum length of an address.
 */
function lastBracketed(text: string): { start: number; result: AddressResult } {
  const last = text.lastIndexOf('<');
  const lastResult = parseAddress(text.slice(last + 1, -1));
  const earliest = text.length - MAX_ADDRESS_OCTETS - 2;
  let start = last;
  let result = lastResult;
  while (!result.ok && start > 0 && start >= earliest) {
    start = text.lastIndexOf('<', start - 1);
    if (start >= 0 && text[start + 1] === '"') result = parseAddress(text.slice(start + 1, -1));
  }
  return result.ok ? { start, result } : { start: last, result: lastResult };
}

function displayName(text: string): string {
  const trimmed = text.trim();
  return ONE_QUOTED_STRING.test(trimmed) ? unquote(trimmed).trim() : trimmed;
}

function nameProblem(name: string): string | null {
  if (name.length > MAX_NAME_CHARS) return `The name is longer than ${MAX_NAME_CHARS} characters.`;
  if (CONTROL.test(name)) return 'The name contains a control character.';
  if (!name.isWellFormed()) return 'The name is not valid Unicode: it contains a lone surrogate.';
  return null;
}

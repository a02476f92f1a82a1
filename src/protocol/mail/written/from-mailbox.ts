// The header field From of a written mail: exactly one mailbox (RFC 5322 section 3.4). Whatever a reader may take for
// another address is refused, since receivers judge a mail by the domain that they find there.
import { parseAddress, policyRefusal, unquote } from '../addresses/address.ts';
import { type HeaderProblem, trimBlanks } from './header-fields.ts';
import { readableText } from './header-text.ts';

export interface WrittenFrom {
  /** As written, without the display name. */
  address: string;
  name: string | null;
  /** ASCII, lower case. */
  domain: string;
}

/** More than the longest name takes with every character encoded. */
const MAX_VALUE_BYTES = 16 * 1024;

const NOT_ONE =
  'must be exactly one mailbox, like "Jo, Acme" <jo@example.com>; special characters in a name need quotes.';

/** The value of the field, octets as latin1. */
export function readFrom(value: string): WrittenFrom | HeaderProblem {
  if (value.length > MAX_VALUE_BYTES) return { problem: `From: must have at most ${MAX_VALUE_BYTES} bytes.` };
  const parts = splitMailbox(value);
  if (parts === null) return { problem: `From: ${NOT_ONE}` };
  const { bracketed, outside } = parts;
  const parsed = parseAddress(Buffer.from(trimBlanks(bracketed ?? outside), 'latin1').toString());
  const refusal = parsed.ok ? policyRefusal(parsed.address) : parsed.reason;
  // It becomes a reply of SMTP, which is ASCII.
  if (!parsed.ok || refusal !== null) return { problem: `From: ${refusal!.replaceAll('\u2026', '...')}` };
  const { local, domain, asciiDomain } = parsed.address;
  return { address: `${local}@${domain}`, name: readableText(parts.name) || null, domain: asciiDomain };
}

interface MailboxParts {
  /** What is in `<…>`; null: the address is not in brackets. */
  bracketed: string | null;
  /** All outside of brackets and comments. */
  outside: string;
  name: string;
}

// Disjoint alternatives; what fits none of them separates or groups mailboxes, or is not closed.
const TOKEN =
  /(?<blanks>[ \t]+)|(?<quoted>"(?:[^"\\]|\\.)*")|<(?<address>(?:[^<>"]|"(?:[^"\\]|\\.)*")*)>|(?<word>[^ \t"<>(),:;]+)/sy;

/** Null when it is not exactly one mailbox. */
function splitMailbox(value: string): MailboxParts | null {
  let bracketed: string | null = null;
  let outside = '';
  let words = '';
  let comment = '';
  let hasAt = false;
  for (let at = 0; at < value.length; ) {
    const end = value[at] === '(' ? endOfComment(value, at) : null;
    if (end !== null) {
      if (end < 0) return null;
      // A comment separates words.
      outside += ' ';
      words += ' ';
      comment = value.slice(at + 1, end - 1);
      at = end;
      continue;
    }
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(value);
    if (token === null) return null;
    at = TOKEN.lastIndex;
    const { blanks, quoted, address, word } = token.groups!;
    // After the brackets nothing may follow but blanks and comments.
    if (blanks === undefined && bracketed !== null) return null;
    bracketed ??= address ?? null;
    outside += blanks ?? quoted ?? word ?? '';
    words += blanks ?? word ?? (quoted === undefined ? '' : unquote(quoted));
    hasAt ||= word?.includes('@') ?? false;
  }
  if (bracketed === null) return { bracketed, outside, name: unescaped(comment) };
  const isRepeated = trimBlanks(outside).toLowerCase() === trimBlanks(bracketed).toLowerCase();
  // Some readers take an address in the name for the sender, unless it is in quotes.
  if (hasAt && !isRepeated) return null;
  return { bracketed, outside, name: hasAt ? '' : trimBlanks(words) || unescaped(comment) };
}

/** After its closing parenthesis; -1: there is none. Comments can be nested (RFC 5322 section 3.2.2). */
function endOfComment(value: string, start: number): number {
  let depth = 0;
  for (let at = start; at < value.length; at++) {
    if (value[at] === '\\') at++;
    else if (value[at] === '(') depth++;
    else if (value[at] === ')' && --depth === 0) return at + 1;
  }
  return -1;
}

function unescaped(comment: string): string {
  return comment.replace(/\\(.)/gs, '$1');
}

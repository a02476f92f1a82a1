// What people read in a header field of a written mail: one bounded line of text.
import { decodeWords } from '../inbound/encoded-words.ts';

/** As for the subject and the names of a send request. */
const MAX_CHARS = 998;
/** Enough for so many characters, each in an encoded word of its own. */
const MAX_VALUE_BYTES = 32 * 1024;

/** The value has octets as latin1; encoded words (RFC 2047) are decoded. */
export function readableText(value: string): string {
  const text = decodeWords(value.slice(0, MAX_VALUE_BYTES))
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim();
  if (text.length <= MAX_CHARS) return text;
  // A cut within a surrogate pair leaves half of it, which goes, too.
  return text.slice(0, MAX_CHARS).replace(/[\ud800-\udbff]$/, '');
}

// Normalizes a reply's text for the search for phrases: lower-case words with one space between them. It
// drops what carries no meaning: most punctuation within a clause, IP addresses, and the codes that servers
// repeat on every line (RFC 2034 section 3), which would split sentences in a report that joins lines. Host
// names and mail addresses become signs: a server or mailbox called `relay…` or `full@…` must not decide
// anything.
import { ADDRESS_SIGN, HOST_SIGN, withoutNames } from '../protocol/mail/inbound/names-in-text.ts';

// RFC 5321 section 4.5.3.1.5 allows 512 octets a line; the first lines say what matters.
const MAX_TEXT_CHARACTERS = 2_000;

/** The placeholders' names in phrases, and their characters in texts: one word each. */
export const SIGNS = { ADDRESS: ADDRESS_SIGN, HOST: HOST_SIGN } as const;
/** The end of a clause. */
export const CLAUSE_END = '\ue004';
/** Separates a clause from its reason: `address rejected: …`, `address rejected - …`. */
export const PAUSE = '\ue005';

const IPV4 = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g;
const IPV6 = /\b(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4}){0,7}/gi;
const REPEATED_CODE = /\b[245]\d\d-(?=\S)|(?:\b[245]\d\d[- ])?#?\b[245]\.\d{1,3}\.\d{1,3}\b(?!\.?\w)/g;
/** `Spamhaus's` becomes `spamhaus`, `user's` becomes `users`. */
const APOSTROPHES = /(?<=s)['’]s\b|['’‘`´\u00a0]/gi;
/** A comma or full stop before a space or the end, quotes and brackets aside; or an East Asian one. Not `<ann>...`. */
const END_OF_CLAUSE =
  /(?<=[^\s.])(?!\.{3})[.,;!?]+['"”’)\]>]{0,3}(?=\s|$)|[\u3001\u3002\uff0c\uff0e\uff1b\uff01\uff1f\uff61]/g;
/** A colon before a space, or a dash between spaces. */
const PAUSES = /(?<=[^\s:]):(?=\s)|(?<=\s)[-\u2013\u2014]{1,2}(?=\s)|\uff1a/g;
const NAME_SIGNS = new RegExp(`[${ADDRESS_SIGN}${HOST_SIGN}]`, 'g');
const BETWEEN_WORDS = /[^a-z0-9\u00aa-\u1fff\u2c00-\uffff]+/g;

/** With a space at both ends, so that every word is between two spaces. */
export function wordsOf(text: string): string {
  let words = withoutNames(text.slice(0, 2 * MAX_TEXT_CHARACTERS)).slice(0, MAX_TEXT_CHARACTERS);
  if (words.includes(':')) words = words.replace(IPV6, ' ');
  words = words.replace(IPV4, ' ').replace(REPEATED_CODE, ' ');
  words = words.replace(END_OF_CLAUSE, ` ${CLAUSE_END} `).replace(PAUSES, ` ${PAUSE} `);
  words = words.replace(NAME_SIGNS, ' $& ').replace(APOSTROPHES, '').toLowerCase().replace(BETWEEN_WORDS, ' ');
  return ` ${spelledOut(words.trim())} `;
}

const CONTRACTION = /\b(does|do|did|is|was|are|were|could|would|should|has|have|had)nt\b/g;
const MISSPELT = /\bdos(?:e)?nt\b/g;
const CANNOT = /\bca(?:nt|n not)\b/g;
/** A judgement that is denied: `not classified as spam` becomes `is not spam`. */
const NOT_JUDGED =
  /\bnot (?:classified|considered|detected|flagged|identified|judged|marked|rated|regarded|tagged|treated)(?: (?:as|to be))?(?: an?)? /g;
const BRITISH = /\b(recogn|(?:un)?author|organ|categor)is(?=[a-z])/g;
/** Kana, Han and Hangul: their texts have few or no spaces, so each character is a word. */
const SIGN = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g;

/** Unifies spellings, in texts and phrases alike, so that a rule needs only one of them. */
export function spelledOut(words: string): string {
  const plain = words
    .replace(MISSPELT, 'does not')
    .replace(CONTRACTION, '$1 not')
    .replace(CANNOT, 'cannot')
    .replace(NOT_JUDGED, 'is not ')
    .replace(BRITISH, '$1iz');
  return plain.search(SIGN) < 0 ? plain : plain.replace(SIGN, ' $& ').replace(/ {2,}/g, ' ').trim();
}

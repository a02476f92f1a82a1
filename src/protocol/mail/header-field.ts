// Writes header fields: RFC 5322 folding, RFC 2047 encoded words, RFC 6532 UTF-8 only where an address needs it. Any
// text results in exactly one field: no character of a value can end the line. Reads nothing.
import { domainToUnicode } from 'node:url';
import { type Address, isAsciiText } from './addresses/address.ts';

/** RFC 5322 section 2.1.1: must not be exceeded, without the CRLF. */
export const MAX_LINE_OCTETS = 998;
/** RFC 5322 section 2.1.1 recommends 78, RFC 2047 section 2 wants 76 where encoded words are. */
export const FOLD_AT = 76;
/** RFC 2047 section 2: 75 for a whole encoded word, of which `=?utf-8?Q?` and `?=` take 12. */
const MAX_ENCODED_CHARS = 75 - 12;

/** RFC 5322 section 3.6.8: printable ASCII without the colon. */
export const FIELD_NAME = /^[!-9;-~]+$/;

const CONTROL = /\p{Cc}/gu;
const ATOMS = /^[\w!#$%&'*+/?^`{|}~-]+( [\w!#$%&'*+/?^`{|}~-]+)*$/;

/** Free text, like a subject. Text that looks like an encoded word is encoded, so that it is shown as written. */
export function textField(name: string, text: string): string {
  const clean = withoutControls(text);
  const literal = isAsciiText(clean) && !clean.includes('=?') && fitsLines(clean);
  return literal ? foldField(name, clean) : foldField(name, encodeWords(clean, name.length + 2));
}

/** A value in its final form, in ASCII; falls back to encoded words where necessary. */
export function valueField(name: string, value: string): string {
  const clean = withoutControls(value);
  const asIs = isAsciiText(clean) && fitsLines(clean);
  return foldField(name, asIs ? clean : encodeWords(clean, name.length + 2));
}

/** `Name <addr@domain>`, or the bare address when there is no name. */
export function mailboxField(field: string, name: string, address: Address): string {
  return foldField(field, mailboxValue(name, address, field.length + 2));
}

/** A list of them. */
export function mailboxListField(field: string, list: readonly { name: string; address: Address }[]): string {
  // Each may begin a line of its own, so only the first stands behind the name of the field.
  const values = list.map(({ name, address }, index) =>
    mailboxValue(name, address, index === 0 ? field.length + 2 : 1),
  );
  return foldField(field, values.join(', '));
}

/** A phrase, in quotes or not, before something in ASCII that stays as it is. */
export function phraseField(field: string, phrase: string, rest: string): string {
  const [, quoted] = /^"(.*)"$/s.exec(phrase) ?? [];
  const text = withoutControls(quoted?.replace(/\\(.)/gs, '$1') ?? phrase);
  return foldField(field, text === '' ? rest : `${encodePhrase(text, field.length + 2)} ${rest}`);
}

function mailboxValue(name: string, address: Address, column: number): string {
  const shown = headerForm(address);
  const clean = withoutControls(name);
  if (clean === '') return address.form === 'quoted' ? `<${shown}>` : shown;
  return `${encodePhrase(clean, column)} <${shown}>`;
}

/** Folds at white space; callers keep text without any short enough for one line. */
export function foldField(name: string, value: string): string {
  assertOneField(name, value);
  const trimmed = value.trim();
  if (trimmed !== '' && name.length + 2 + trimmed.length <= FOLD_AT && isAsciiText(trimmed)) {
    return `${name}: ${trimmed}\r\n`; // as the loop below would, for the many short ones
  }
  return joinChunks(name, chunksOf(` ${trimmed}`));
}

/** Folds between the chunks alone; each begins with white space. */
export function foldChunks(name: string, chunks: readonly string[]): string {
  assertOneField(name, chunks.join(''));
  return joinChunks(name, chunks);
}

/** A mistake of the caller, which must not create a new line. */
function assertOneField(name: string, value: string): void {
  if (!FIELD_NAME.test(name)) throw new TypeError(`not a header name: ${JSON.stringify(name)}`);
  if (/[\r\n\0]/.test(value)) throw new TypeError(`${name}: the value has a CR, LF or NUL`);
}

function joinChunks(name: string, chunks: readonly string[]): string {
  const lines: string[] = [];
  let line = `${name}:`;
  for (const chunk of chunks) {
    const limit = line === `${name}:` ? MAX_LINE_OCTETS : FOLD_AT;
    if (Buffer.byteLength(line) + Buffer.byteLength(chunk) > limit) {
      lines.push(line);
      line = chunk;
    } else {
      line += chunk;
    }
  }
  lines.push(line);
  return `${lines.join('\r\n')}\r\n`;
}

/** Whether folding at white space alone keeps every line within its limit. */
export function fitsLines(value: string): boolean {
  // No character has more than three octets in UTF-8; the surrogate pair for four is two characters.
  if (3 * (value.length + 1) <= MAX_LINE_OCTETS) return true;
  return chunksOf(` ${value.trim()}`).every((chunk) => Buffer.byteLength(chunk) <= MAX_LINE_OCTETS);
}

/** Each word with the white space before it, so that no line is ever white space alone (RFC 5322 section 3.2.2). */
function chunksOf(text: string): string[] {
  return text.match(/[ \t]*[^ \t]+/g) ?? [];
}

function withoutControls(text: string): string {
  return text.toWellFormed().replace(CONTROL, ' ').trim();
}

/** The domain in its ASCII form, except beside a local part that needs UTF-8 anyway (RFC 6532 section 3.2). */
function headerForm({ local, domain, asciiDomain, nonAsciiLocal }: Address): string {
  if (isAsciiText(domain)) return `${local}@${domain}`;
  return `${local}@${nonAsciiLocal ? domainToUnicode(asciiDomain) : asciiDomain}`;
}

/** RFC 5322 section 3.2.5: atoms as they are, other short ASCII in quotes, all else as encoded words. */
function encodePhrase(name: string, column: number): string {
  if (isAsciiText(name) && !name.includes('=?')) {
    if (name.length <= FOLD_AT && ATOMS.test(name)) return name;
    const quoted = `"${name.replace(/["\\]/g, '\\$&')}"`;
    if (quoted.length <= FOLD_AT - column) return quoted;
  }
  return encodeWords(name, column);
}

/** RFC 2047 encoded words, separated by spaces that readers drop; no character is split (section 5). */
function encodeWords(text: string, column: number): string {
  const encoding = mostlyLetters(text) ? Q_ENCODING : B_ENCODING;
  const words: string[] = [];
  let piece = '';
  let cost = 0;
  let room = Math.max(12, Math.min(MAX_ENCODED_CHARS, FOLD_AT - column - 12));
  for (const char of text) {
    const added = encoding.costOf(char);
    if (encoding.length(cost + added) > room) {
      words.push(encoding.word(piece));
      piece = '';
      cost = 0;
      room = MAX_ENCODED_CHARS;
    }
    piece += char;
    cost += added;
  }
  words.push(encoding.word(piece));
  return words.join(' ');
}

function mostlyLetters(text: string): boolean {
  return (text.match(/[A-Za-z0-9 ]/g)?.length ?? 0) * 2 > text.length;
}

interface WordEncoding {
  /** How much a character adds to the value from which `length` computes the word's length. */
  costOf(char: string): number;
  length(cost: number): number;
  word(text: string): string;
}

const B_ENCODING: WordEncoding = {
  costOf: (char) => Buffer.byteLength(char),
  length: (octets) => Math.ceil(octets / 3) * 4,
  word: (text) => `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`,
};

// RFC 2047 section 5 (3): these alone may stand for themselves in a phrase, hence everywhere.
const Q_PLAIN = /[A-Za-z0-9!*+/-]/;

const Q_ENCODING: WordEncoding = {
  costOf: (char) => (char === ' ' || Q_PLAIN.test(char) ? 1 : 3 * Buffer.byteLength(char)),
  length: (chars) => chars,
  word: (text) => {
    let encoded = '';
    for (const char of text) {
      if (char === ' ') encoded += '_';
      else if (Q_PLAIN.test(char)) encoded += char;
      else for (const octet of Buffer.from(char)) encoded += `=${octet.toString(16).toUpperCase().padStart(2, '0')}`;
    }
    return `=?utf-8?Q?${encoded}?=`;
  },
};

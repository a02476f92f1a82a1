// The header fields of an attachment's part: RFC 2183 and 2045, with names in any language. Readers take the name from
// Content-Disposition (RFC 2231); Outlook reads encoded words (RFC 2047) in Content-Type, although they don't belong
// there. No character of a name can end a line.
import { isAsciiText } from '../addresses/address.ts';
import { FOLD_AT, foldChunks } from '../header-field.ts';
import type { MailAttachment } from './attachment.ts';

export function attachmentFields(attachment: MailAttachment, disposition: 'attachment' | 'inline'): string {
  const { filename, contentType, contentId } = attachment;
  // A mistake of the caller, who has to check all but the name.
  if (!isAsciiText(`${contentType}${contentId}`))
    throw new TypeError('the type or the ID of an attachment is not ASCII');
  const name = filename.toWellFormed().replace(/\p{Cc}/gu, ' ');
  const fields = [
    foldChunks('Content-Type', withSemicolons([...(contentType.match(BETWEEN_SEMICOLONS) ?? []), ...typeName(name)])),
    'Content-Transfer-Encoding: base64\r\n',
    foldChunks('Content-Disposition', withSemicolons([disposition, ...dispositionName(name)])),
  ];
  // On one line, as Message-ID: some readers fail on a folded one.
  if (contentId !== null) fields.push(foldChunks('Content-ID', [` <${contentId}>`]));
  return fields.join('');
}

/** A semicolon within quotes separates nothing. */
const BETWEEN_SEMICOLONS = /(?:[^;"]|"[^"]*")+/g;
const WORD_END = '?=';

/** Lines break only between parameters and between encoded words: readers differ about blanks in quotes. */
function withSemicolons(pieces: readonly string[]): string[] {
  const last = pieces.length - 1;
  return pieces.map((piece, index) => ` ${piece.trim()}${index === last || piece.endsWith(WORD_END) ? '' : ';'}`);
}

/** What some readers decode after the quotes are gone: what looks like an encoded word, or like a name in quotes again. */
const READ_TWICE = /=\?|^[<"]/;

/** Short ASCII, which every reader takes in quotes. */
function isPlain(name: string): boolean {
  return isAsciiText(name) && !READ_TWICE.test(name) && quoted(name).length <= MAX_VALUE_COLUMNS;
}

function quoted(name: string): string {
  return `"${name.replace(/["\\]/g, '\\$&')}"`;
}

/** Of a line, after the blank, the longest name of a parameter, which is `filename*99*=`, and before the semicolon. */
const MAX_VALUE_COLUMNS = FOLD_AT - 1 - 'filename*99*='.length - 1;
const CHARSET = "utf-8''";
const MAX_PERCENT_COLUMNS = MAX_VALUE_COLUMNS - CHARSET.length;
/** ` name="=?utf-8?B?` and `?=";` take 21; base64 is made of groups of four columns for three bytes. */
const MAX_WORD_BYTES = Math.floor((FOLD_AT - 21) / 4) * 3;

function typeName(name: string): string[] {
  if (isPlain(name)) return [`name=${quoted(name)}`];
  const words = split(name, Buffer.byteLength, MAX_WORD_BYTES).map(
    (piece) => `=?utf-8?B?${Buffer.from(piece).toString('base64')}${WORD_END}`,
  );
  return words.map((word, index) => `${index === 0 ? 'name="' : ''}${word}${index === words.length - 1 ? '"' : ''}`);
}

/** RFC 2231 section 4, and section 3 where one line is not enough. */
function dispositionName(name: string): string[] {
  if (isPlain(name)) return [`filename=${quoted(name)}`];
  const [first = '', ...more] = split(name, (char) => percentEncoded(char).length, MAX_PERCENT_COLUMNS).map(
    percentEncoded,
  );
  if (more.length === 0) return [`filename*=${CHARSET}${first}`];
  return [`${CHARSET}${first}`, ...more].map((piece, index) => `filename*${index}*=${piece}`);
}

/** Only what no reader takes for a sign of its own stays: fewer than RFC 2231's attribute-char. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Pieces of at most `room`, none of which ends within a character: some readers decode each by itself. */
function split(text: string, costOf: (char: string) => number, room: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let cost = 0;
  for (const char of text) {
    const added = costOf(char);
    if (cost + added > room) {
      pieces.push(piece);
      piece = '';
      cost = 0;
    }
    piece += char;
    cost += added;
  }
  return [...pieces, piece];
}

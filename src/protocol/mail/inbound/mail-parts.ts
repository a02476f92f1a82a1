// Splits a mail into parts: MIME (RFC 2046) as a flat list of its leaves, in order. Embedded messages are leaves, since
// their content was written by others. All sizes are limited, and anything beyond a limit is ignored.
import { type ContentType, readContentType } from './content-type.ts';
import { decodeOctets, decodeTransfer } from './encoded-words.ts';
import { type Header, readHeaderBlock } from './header-block.ts';

export interface MailPart {
  header: Header;
  type: string;
  parameters: ContentType['parameters'];
  /** Octets as latin1, as in the mail. */
  body: string;
  /** The offset of the body in the mail, in bytes. */
  start: number;
  end: number;
}

export interface ReadMail {
  header: Header;
  contentType: ContentType;
  /** Everything after the header, octets as latin1. */
  body: string;
  /** A mail with a single text has one part. */
  parts: readonly MailPart[];
}

/** More than any relay accepts: anything beyond it is ignored. */
export const MAX_MAIL_BYTES = 32 * 1024 * 1024;
const MAX_PARTS = 100;
const MAX_DEPTH = 10;
/** Texts for people are short; a longer text contains the original, which comes last. */
const MAX_TEXT_BYTES = 256 * 1024;

const BYTE_ORDER_MARK = '\xef\xbb\xbf';

export function readMail(octets: Buffer): ReadMail {
  const all = inOctets(octets.subarray(0, MAX_MAIL_BYTES)).toString('latin1');
  // The same number of bytes, so that offsets stay.
  const text = all.includes('\n') ? all : all.replaceAll('\r', '\n');
  const { header, bodyStart } = readHeaderBlock(text, startOf(text), text.length);
  const contentType = readContentType(header.raw('content-type'));
  const parts: MailPart[] = [];
  collectParts({ text, header, start: bodyStart, end: text.length }, { parts, depth: 0 });
  return { header, contentType, body: text.slice(bodyStart), parts };
}

/** Editors save mails as UTF-16; the byte order mark proves it. */
function inOctets(octets: Buffer): Buffer {
  const [first, second] = octets;
  if (first === 0xff && second === 0xfe) return Buffer.from(octets.toString('utf16le'));
  if (first !== 0xfe || second !== 0xff) return octets;
  const whole = octets.subarray(0, octets.length - (octets.length % 2));
  return Buffer.from(Buffer.from(whole).swap16().toString('utf16le'));
}

/** Skips what mailbox files and editors put before a mail. */
function startOf(text: string): number {
  let at = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  while (text[at] === '\n' || text[at] === '\r') at++;
  if (!text.startsWith('From ', at) && !text.startsWith('>From ', at)) return at;
  const lineEnd = text.indexOf('\n', at);
  return lineEnd < 0 ? at : lineEnd + 1;
}

interface Piece {
  text: string;
  header: Header;
  start: number;
  end: number;
}

function collectParts(piece: Piece, { parts, depth }: { parts: MailPart[]; depth: number }): void {
  if (parts.length >= MAX_PARTS) return;
  const { type, parameters } = readContentType(piece.header.raw('content-type'));
  const boundary = type.startsWith('multipart/') ? parameters.get('boundary') : looseBoundary(piece, type, depth);
  const pieces = boundary && depth < MAX_DEPTH ? splitAt(boundary, piece, MAX_PARTS - parts.length) : [];
  if (pieces.length > 0) {
    for (const { start, end } of pieces) {
      const { header, bodyStart } = readHeaderBlock(piece.text, start, end);
      collectParts({ text: piece.text, header, start: bodyStart, end }, { parts, depth: depth + 1 });
    }
    return;
  }
  const { text, header, start, end } = piece;
  const leafType = type.startsWith('multipart/') ? 'text/plain' : type;
  parts.push({ header, type: leafType, parameters, body: text.slice(start, end), start, end });
}

const LOOSE_BOUNDARY = /^--(\S.{0,198}?)[ \t]{0,20}\r?\nContent-(?:Type|Description|Disposition|Transfer-Encoding):/im;

const ORIGINAL_BEGINS = /^(?:content-type:\s*multipart|received:|return-path:)/im;
/** A report inside another one. */
const REPORT_BEGINS = /^content-type:\s*multipart\/report/im;

/** Some gateways drop the Content-Type of the whole and keep its parts. */
function looseBoundary({ text, start, end }: Piece, type: string, depth: number): string | undefined {
  if (depth > 0 || type !== 'text/plain') return undefined;
  const before = text.slice(start, Math.min(end, start + MAX_TEXT_BYTES));
  const match = LOOSE_BOUNDARY.exec(before);
  // After a header that is returned as text, the parts are those of the original.
  const above = before.slice(0, match?.index ?? 0);
  return ORIGINAL_BEGINS.test(above) && !REPORT_BEGINS.test(above) ? undefined : match?.[1];
}

/** RFC 2046 section 5.1.1: the text between delimiter lines. */
function splitAt(boundary: string, { text, start, end }: Piece, most: number): { start: number; end: number }[] {
  const pieces: { start: number; end: number }[] = [];
  const delimiter = `--${boundary}`;
  let open: number | null = null;
  let at = text.indexOf(delimiter, start);
  while (at >= 0 && at < end && pieces.length < most) {
    const after = at + delimiter.length;
    const isDelimiter =
      (at === start || text[at - 1] === '\n') && /^(?:--|[ \t\r\n]|$)/.test(text.slice(after, after + 2));
    if (isDelimiter) {
      if (open !== null) pieces.push({ start: open, end: Math.max(open, withoutLineEnd(text, at)) });
      const lineEnd = text.indexOf('\n', after);
      open = text.startsWith('--', after) || lineEnd < 0 ? null : lineEnd + 1;
      if (open === null) break;
    }
    at = text.indexOf(delimiter, after);
  }
  // A truncated mail has no last delimiter.
  if (open !== null && open < end && pieces.length < most) pieces.push({ start: open, end });
  return pieces;
}

function withoutLineEnd(text: string, at: number): number {
  if (text[at - 1] !== '\n') return at;
  return text[at - 2] === '\r' ? at - 2 : at - 1;
}

/** Quoted-printable needs three characters for a byte, and some for line breaks. */
export const MAX_CHARACTERS_PER_BYTE = 4;

/** The decoded bytes of a part, or the first of them. */
export function contentOf(part: MailPart, maxBytes = Number.POSITIVE_INFINITY): Buffer {
  const body = part.body.slice(0, MAX_CHARACTERS_PER_BYTE * maxBytes);
  return decodeTransfer(body, part.header.raw('content-transfer-encoding') ?? '').subarray(0, maxBytes);
}

/** A part as text, with LF at the line ends. */
export function textOf(part: MailPart): string {
  const short = { ...part, body: part.body.slice(0, MAX_TEXT_BYTES) };
  const text = decodeOctets(contentOf(short), part.parameters.get('charset') ?? '');
  // Servers that quote replies with their CR produce `CR CR LF`.
  return text.replace(/\r+\n|\r/g, '\n');
}

// The body of the common message, text and HTML without attachments: RFC 2045 and 2046. Chooses encodings and structure
// as nodemailer's MailComposer does, which its tests check, in a tenth of the time: no streams, no timers, one pass
// over each part.
import { unreachable } from '../../../base/errors.ts';
import type { MailAttachment } from './attachment.ts';
import { encodeQuotedPrintable } from './quoted-printable.ts';

export interface BodyInput {
  /** Null or empty when there is none. Lines may end with CR, LF or CRLF. */
  text: string | null;
  html: string | null;
  /** None when missing. Those with a contentId are for the HTML. */
  attachments?: readonly MailAttachment[];
  /** A UUID that the content cannot contain: the boundaries between the parts are derived from it. */
  boundarySeed: string;
}

export interface MimeBody {
  /** The header fields that describe the content, each ended by CRLF; in ASCII. */
  fields: string;
  /** Everything after the empty line that ends the header; ends with CRLF. */
  content: Buffer;
}

export type ComposerChoice = { decision: 'lean' | 'mailcomposer'; reason: string };

/** Longer parts are always encoded by MailComposer, whose streams let other sessions run meanwhile. */
const MAX_LEAN_CHARS = 128 * 1024;

/** Which messages are common, and so composed by composeLeanBody. All others use MailComposer. */
export function chooseComposer({ text, html }: Pick<BodyInput, 'text' | 'html'>): ComposerChoice {
  if (!isThere(text) && !isThere(html)) {
    return { decision: 'mailcomposer', reason: 'The message has neither text nor HTML.' };
  }
  for (const part of [text, html]) {
    if (part !== null && part.length > MAX_LEAN_CHARS) {
      return { decision: 'mailcomposer', reason: `A part is longer than ${MAX_LEAN_CHARS} characters.` };
    }
  }
  return { decision: 'lean', reason: 'The message is text, HTML or both, of ordinary length.' };
}

export function composeLeanBody({ text, html, boundarySeed }: BodyInput): MimeBody {
  const parts: Part[] = [];
  // RFC 2046 section 5.1.4: the plainest first, the preferred last.
  if (isThere(text)) parts.push(encodedPart('text/plain', text));
  if (isThere(html)) parts.push(encodedPart('text/html', html));
  const [first, second] = parts;
  if (first === undefined) throw new TypeError('a message without text and HTML is not for the lean composer');
  return second === undefined ? singlePart(first) : alternatives(first, second, boundarySeed);
}

const LF = 0x0a;
const CRLF = Buffer.from('\r\n');

function singlePart({ contentType, encoding, content }: Part): MimeBody {
  return {
    fields: `Content-Transfer-Encoding: ${encoding}\r\nMIME-Version: 1.0\r\nContent-Type: ${contentType}\r\n`,
    content: content.at(-1) === LF ? content : Buffer.concat([content, CRLF]),
  };
}

function alternatives(first: Part, second: Part, boundarySeed: string): MimeBody {
  // RFC 2045 section 6.7: neither quoted-printable nor base64 can contain `=_`.
  const boundary = `=_${boundarySeed.replaceAll('-', '')}`;
  const opened = ({ contentType, encoding }: Part, before: string) =>
    Buffer.from(
      `${before}--${boundary}\r\nContent-Type: ${contentType}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`,
      'latin1',
    );
  return {
    fields: `MIME-Version: 1.0\r\nContent-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n`,
    content: Buffer.concat([
      opened(first, ''),
      first.content,
      opened(second, '\r\n'),
      second.content,
      Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1'),
    ]),
  };
}

interface Part {
  contentType: string;
  encoding: TransferEncoding;
  content: Buffer;
}

type TransferEncoding = '7bit' | 'quoted-printable' | 'base64';

/** RFC 2045 section 6.8. */
const BASE64_LINE = /.{1,76}/g;

function encodedPart(type: 'text/plain' | 'text/html', text: string): Part {
  const source = Buffer.from(withCrlf(text));
  const encoding = transferEncodingFor(source);
  return { contentType: `${type}; charset=utf-8`, encoding, content: encodeAs(encoding, source) };
}

function encodeAs(encoding: TransferEncoding, source: Buffer): Buffer {
  switch (encoding) {
    case '7bit':
      return source;
    case 'quoted-printable':
      return encodeQuotedPrintable(source);
    case 'base64':
      return Buffer.from(source.toString('base64').match(BASE64_LINE)!.join('\r\n'), 'latin1');
    default:
      return unreachable(encoding);
  }
}

/** RFC 5322 section 2.1.1 recommends 78; text wrapped below that is left as it is. */
const MAX_7BIT_COLUMNS = 76;

/** Unencoded if it has only short lines of printable ASCII; otherwise the shorter of the encodings. */
function transferEncodingFor(source: Buffer): TransferEncoding {
  let letters = 0;
  let specials = 0;
  let lineStart = 0;
  let longest = 0;
  for (let at = 0; at < source.length; at++) {
    const octet = source[at]!;
    const lower = octet | 0x20;
    if (lower >= 0x61 && lower <= 0x7a) {
      letters++;
    } else if (octet === LF) {
      longest = Math.max(longest, at - 1 - lineStart);
      lineStart = at + 1;
    } else {
      specials += weightOfSpecial(octet);
    }
  }
  longest = Math.max(longest, source.length - lineStart);
  if (specials === 0 && longest <= MAX_7BIT_COLUMNS) return '7bit';
  return specials < letters ? 'quoted-printable' : 'base64';
}

/** Counted at the first byte of a character; one beyond the basic plane counts as two, as in UTF-16. */
function weightOfSpecial(octet: number): number {
  if (octet >= 0x80) return octet < 0xc0 ? 0 : octet < 0xf0 ? 1 : 2;
  return octet < 0x20 && octet !== 0x09 && octet !== 0x0d ? 1 : 0;
}

/** RFC 5322 section 2.3: CR and LF only together. */
export function withCrlf(text: string): string {
  return text.replace(/\r\n?|\n/g, '\r\n');
}

function isThere(part: string | null): part is string {
  return part !== null && part !== '';
}

// Gives the content of a leaf an encoding with short lines (RFC 2045 section 6). What a reader decodes is the same, octet
// by octet.
import { isUtf8 } from 'node:buffer';
import { base64LinesLength, writeBase64Lines } from '../compose/base64-lines.ts';
import { encodeQuotedPrintable } from '../compose/quoted-printable.ts';

/** RFC 2045 section 6. */
export type LeafEncoding = '7bit' | '8bit' | 'binary' | 'quoted-printable' | 'base64';

export interface Encoded {
  encoding: 'quoted-printable' | 'base64';
  bytes: Buffer;
}

const EQUALS = 0x3d;
/** Quoted-printable takes twenty times as long as base64, during which nothing else runs. */
const MAX_QUOTED_BYTES = 256 * 1024;

export function reEncode(content: Buffer, isText: boolean): Encoded {
  if (isText && content.length <= MAX_QUOTED_BYTES && isUtf8(content) && isMostlyPlain(content)) {
    return { encoding: 'quoted-printable', bytes: encodeQuotedPrintable(content) };
  }
  return inBase64(content);
}

export function inBase64(content: Buffer): Encoded {
  const bytes = Buffer.allocUnsafe(base64LinesLength(content.length));
  writeBase64Lines(content, bytes, 0);
  return { encoding: 'base64', bytes };
}

/** Quoted-printable is shorter: it triples what it escapes, base64 adds a third to everything. */
function isMostlyPlain(content: Buffer): boolean {
  let escaped = 0;
  for (let at = 0; at < content.length; at++) {
    if (content[at]! >= 0x80 || content[at] === EQUALS) escaped++;
  }
  return escaped * 6 < content.length;
}

const FIELD = /^(content-transfer-encoding):.*\r\n(?:[ \t].*\r\n)*/im;

/** In the place of the field that says another encoding, or behind the others. The header has no empty line at its end. */
export function withTransferEncoding(header: Buffer, encoding: LeafEncoding): Buffer {
  const text = header.toString('latin1');
  const changed = text.replace(FIELD, `$1: ${encoding}\r\n`);
  const isThere = FIELD.test(text);
  return Buffer.from(isThere ? changed : `${text}Content-Transfer-Encoding: ${encoding}\r\n`, 'latin1');
}

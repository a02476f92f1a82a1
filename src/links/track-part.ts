// Tracks the HTML of a written mail: decodes it, has it changed, and encodes it as it was encoded, unless its lines become
// too long for that. Only what was inserted differs, octet by octet, for whoever decodes it.
import { isUtf8 } from 'node:buffer';
import { MAX_LINE_OCTETS } from '../protocol/mail/header-field.ts';
import { decodeTransfer } from '../protocol/mail/inbound/encoded-words.ts';
import type { ChangedPart, HeldPart } from '../protocol/mail/written/leaf-rules.ts';
import { inBase64, type LeafEncoding, reEncode } from '../protocol/mail/written/re-encode.ts';

/** The HTML of a part. */
export interface Page {
  /** What is changed: each character stands for the octets that come out. */
  html: string;
  /** The same as readers see it, character by character. */
  shown: string;
  charset: 'utf8' | 'latin1';
}

/** Null: the part leaves as it came. */
export function trackPart({ leaf, content }: HeldPart, track: (page: Page) => string): ChangedPart | null {
  const octets = decoded(content, leaf.encoding);
  const charset = leaf.html?.charset ?? 'utf-8';
  const page = MAYBE_UTF8.test(charset) ? utf8Page(octets) : singleOctetPage(octets, charset);
  if (page === null || INLINE_PGP.test(page.html)) return null;
  const tracked = track(page);
  if (tracked === page.html) return null;
  return encodedLike(leaf.encoding, Buffer.from(tracked, page.charset));
}

/** A signature or encryption without MIME (RFC 4880 section 7) covers the text as it is. */
const INLINE_PGP = /-----BEGIN PGP /;

function decoded(content: Buffer, encoding: LeafEncoding | null): Buffer {
  if (encoding === 'base64') return decodeTransfer(content.toString('latin1'), encoding);
  if (encoding !== 'quoted-printable') return content;
  // RFC 2045 section 6.7 (3): blanks at the end of a line were added on the way.
  return decodeTransfer(content.toString('latin1').replace(/(?<![ \t])[ \t]+\r\n/g, '\r\n'), encoding);
}

const MAYBE_UTF8 = /^(?:us-ascii|ascii|utf-?8)$/;

function utf8Page(octets: Buffer): Page | null {
  if (!isUtf8(octets)) return null;
  const html = octets.toString();
  return { html, shown: html, charset: 'utf8' };
}

/** In others, like ISO-2022-JP or Shift_JIS, the octets of mark-up are also those of other characters. */
const SINGLE_OCTETS = /^(?:iso-8859-\d{1,2}(?:-[ei])?|latin1|windows-125\d|koi8-[ru])$/;

function singleOctetPage(octets: Buffer, charset: string): Page | null {
  if (!SINGLE_OCTETS.test(charset)) return null;
  try {
    const shown = new TextDecoder(charset, { ignoreBOM: true }).decode(octets);
    // Latin 1 gives every octet back as it was.
    const html = octets.toString('latin1');
    return shown.length === html.length ? { html, shown, charset: 'latin1' } : null;
  } catch {
    return null; // a number that no charset has
  }
}

function encodedLike(encoding: LeafEncoding | null, content: Buffer): ChangedPart {
  if (encoding === 'base64') return inBase64(content);
  if (encoding === 'quoted-printable' || hasLongLine(content)) return reEncode(content, true);
  return { encoding: encoding ?? '7bit', bytes: content };
}

const LF = 0x0a;

function hasLongLine(content: Buffer): boolean {
  for (let start = 0; start < content.length; ) {
    const end = content.indexOf(LF, start) + 1 || content.length + 2;
    if (end - start > MAX_LINE_OCTETS + 2) return true;
    start = end;
  }
  return false;
}

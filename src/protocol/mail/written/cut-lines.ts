// Cuts the long lines of a leaf that is encoded already (RFC 2045 sections 6.7 and 6.8), while they come in: a script that
// calls base64_encode of PHP writes all of a file on one line. What a reader decodes is the same, octet by octet.
import type { LeafEncoding } from './re-encode.ts';

export interface LineCutter {
  /** Part of a long line, the start, the middle or the end; null: it is not in that encoding. */
  cut(bytes: Buffer): Buffer | null;
}

/** Null: what is in this encoding is not encoded. */
export function cutterFor(encoding: LeafEncoding | null): LineCutter | null {
  if (encoding === 'base64') return new Base64Cutter();
  return encoding === 'quoted-printable' ? new QuotedPrintableCutter() : null;
}

const LINE_BYTES = 76;
const [CR, LF, TAB, SPACE, HYPHEN, EQUALS] = [0x0d, 0x0a, 0x09, 0x20, 0x2d, 0x3d];
const BREAK = Buffer.from('\r\n');
const IN_BASE64 = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \t'))
  IN_BASE64[byte] = 1;

class Base64Cutter implements LineCutter {
  #column = 0;

  cut(bytes: Buffer): Buffer | null {
    const out = Buffer.allocUnsafe(bytes.length + BREAK.length * (Math.ceil(bytes.length / LINE_BYTES) + 1));
    let length = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === CR || byte === LF) {
        this.#column = 0;
      } else {
        // A hyphen would do more harm than that: behind a cut, it could begin a delimiter.
        if (IN_BASE64[byte] === 0) return null;
        if (this.#column === LINE_BYTES) {
          length += BREAK.copy(out, length);
          this.#column = 0;
        }
        this.#column++;
      }
      out[length++] = byte;
    }
    return out.subarray(0, length);
  }
}

const SOFT_BREAK = Buffer.from('=\r\n');
/** In place of a hyphen behind a cut, where two of them could begin a delimiter. */
const QUOTED_HYPHEN = Buffer.from('=2D');
/** From here on, an escape of three octets and the "=" of a soft break still fit. */
const CUT_FROM = LINE_BYTES - QUOTED_HYPHEN.length;
/** No cut behind a blank: at the end of a line it is ignored, and so it is before its end. Here it's cut all the same. */
const CUT_BLANKS_FROM = 900;

class QuotedPrintableCutter implements LineCutter {
  #column = 0;
  /** Octets that belong to an "=" before them. */
  #escaped = 0;
  #isAfterBlank = false;

  cut(bytes: Buffer): Buffer {
    const longest = SOFT_BREAK.length + QUOTED_HYPHEN.length;
    const out = Buffer.allocUnsafe(bytes.length + longest * (Math.ceil(bytes.length / CUT_FROM) + 1));
    let length = 0;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#cutsBefore(byte)) {
        length += SOFT_BREAK.copy(out, length);
        this.#column = 0;
        if (byte === HYPHEN) {
          length += QUOTED_HYPHEN.copy(out, length);
          this.#column = QUOTED_HYPHEN.length;
          this.#isAfterBlank = false;
          continue;
        }
      }
      this.#pass(byte);
      out[length++] = byte;
    }
    return out.subarray(0, length);
  }

  #cutsBefore(byte: number): boolean {
    if (this.#escaped > 0 || byte === CR || byte === LF) return false;
    return this.#column >= (this.#isAfterBlank ? CUT_BLANKS_FROM : CUT_FROM);
  }

  #pass(byte: number): void {
    const isEnd = byte === CR || byte === LF;
    if (this.#escaped > 0) this.#escaped--;
    else if (byte === EQUALS) this.#escaped = 2;
    if (isEnd) this.#escaped = 0;
    this.#column = isEnd ? 0 : this.#column + 1;
    this.#isAfterBlank = byte === SPACE || byte === TAB;
  }
}

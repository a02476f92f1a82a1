// Encodes a leaf in base64 (RFC 2045 section 6.8) while it comes in, whatever its size.
import { base64LinesLength, writeBase64Lines } from '../compose/base64-lines.ts';

const CRLF = Buffer.from('\r\n');
const NONE: Buffer = Buffer.alloc(0);
/** What a line of 76 columns encodes. */
const LINE_BYTES = 57;

export class Base64Stream {
  #rest = NONE;

  /** Whole lines, with their ends. */
  push(bytes: Buffer): Buffer {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    // The last line end may turn out to belong to a delimiter.
    const whole = Math.max(0, Math.floor((all.length - CRLF.length) / LINE_BYTES)) * LINE_BYTES;
    this.#rest = Buffer.from(all.subarray(whole));
    return linesOf(all.subarray(0, whole));
  }

  /** The rest, less the line end that is not content. */
  end(lineEnd: Buffer): Buffer {
    return linesOf(this.#rest.subarray(0, this.#rest.length - lineEnd.length));
  }
}

function linesOf(content: Buffer): Buffer {
  if (content.length === 0) return NONE;
  const out = Buffer.allocUnsafe(base64LinesLength(content.length) + CRLF.length);
  CRLF.copy(out, writeBase64Lines(content, out, 0));
  return out;
}

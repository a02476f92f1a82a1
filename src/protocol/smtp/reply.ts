// Reads SMTP replies (RFC 5321 section 4.2, RFC 2034 for enhanced codes) from a stream that may be split anywhere.
// Lenient where servers are sloppy (bare LF, bytes that are not UTF-8, a code that changes within its class), strict
// where leniency would let a server fill our memory or speak something other than SMTP.
import { isUtf8 } from 'node:buffer';

export interface Reply {
  code: number;
  /** RFC 3463, for example `5.1.1`; its class is always that of `code`. */
  enhancedCode: string | null;
  /** The lines joined by spaces, without the codes in the two fields above. */
  text: string;
  /** The lines as they were received, without the reply code. */
  lines: readonly string[];
}

// RFC 5321 section 4.5.3.1.5 allows 512 octets; long greylisting links go beyond that.
const MAX_LINE_OCTETS = 2_000;
const MAX_LINES = 100;
const MAX_REPLY_BYTES = 32 * 1024;
const MAX_TEXT_CHARACTERS = 1_000;

const NO_BYTES = Buffer.alloc(0);
const LF = 0x0a;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
const CODE_AND_TEXT = /^([2-5]\d\d)(?:([ -])(.*))?$/s;
// `#5.1.0` is how Cisco's mail gateways write it.
const ENHANCED_CODE = /^\s*#?([245]\.\d{1,3}\.\d{1,3})(?![.\w])[\s:]*/;

export class ReplyParser {
  #rest: Buffer = NO_BYTES;
  #lines: string[] = [];
  #code = 0;
  #octets = 0;

  /** Whether an incomplete reply is buffered. */
  get midReply(): boolean {
    return this.#rest.length > 0 || this.#lines.length > 0;
  }

  /** The chunk is not kept. Passes on every complete reply; returns what is wrong with the rest, which is fatal. */
  push(chunk: Buffer, deliver: (reply: Reply) => void): string | null {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      const violation = this.#takeLine(bytes.subarray(start, end + 1), deliver);
      if (violation) return violation;
      start = end + 1;
    }
    // A copy: the memory of the chunk is reused.
    this.#rest = start === bytes.length ? NO_BYTES : Buffer.from(bytes.subarray(start));
    return this.#rest.length > MAX_LINE_OCTETS ? 'reply line too long' : null;
  }

  #takeLine(bytes: Buffer, deliver: (reply: Reply) => void): string | null {
    this.#octets += bytes.length;
    if (bytes.length > MAX_LINE_OCTETS) return 'reply line too long';
    if (this.#octets > MAX_REPLY_BYTES) return 'reply too long';

    const line = decode(bytes).replace(/\r*\n$/, '');
    const parts = CODE_AND_TEXT.exec(line);
    if (!parts) return `not an SMTP reply: ${plain(line).slice(0, 100)}`;
    const code = Number(parts[1]);
    if (this.#lines.length === 0) this.#code = code;
    else if (Math.trunc(code / 100) !== Math.trunc(this.#code / 100)) return 'reply code changes within one reply';

    this.#lines.push(parts[3] ?? '');
    if (parts[2] === '-') return this.#lines.length < MAX_LINES ? null : 'reply has too many lines';
    const lines = this.#lines;
    this.#lines = [];
    this.#octets = 0;
    deliver(makeReply(this.#code, lines));
    return null;
  }
}

function makeReply(code: number, lines: string[]): Reply {
  // RFC 2034 section 4: the class must agree with the reply code, or it is not an enhanced code.
  const codes = lines.map((line) => ENHANCED_CODE.exec(line)?.[1] ?? null);
  const enhancedCode = codes.find((found) => found?.startsWith(String(code)[0]!)) ?? null;
  // Servers repeat the enhanced code on every line (RFC 2034 section 3); in the joined text it would split
  // sentences.
  const text = lines.map((line) => (enhancedCode ? withoutCode(line, enhancedCode) : line).trim()).join(' ');
  return { code, enhancedCode, text: plain(text.slice(0, MAX_TEXT_CHARACTERS)).toWellFormed(), lines };
}

/** The parts of a reply joined in one line, for people. */
export function replyLine(code: number | null, enhancedCode: string | null, text: string): string {
  return [code, enhancedCode, text].filter((part) => part !== null && part !== '').join(' ');
}

function withoutCode(line: string, enhancedCode: string): string {
  const match = ENHANCED_CODE.exec(line);
  return match?.[1] === enhancedCode ? line.slice(match[0].length) : line;
}

function decode(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
}

function plain(text: string): string {
  return text.replace(CONTROL_CHARACTERS, ' ');
}

// The relaxed canonicalizations of RFC 6376 section 3.4: removes what relays may change in a message (case of names,
// folding, white space, blank lines at the end) before hashing.

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;

/** What must be removed from a field's value; most fields have nothing. */
const TO_BE_TAKEN_OUT = /^ |[\r\t]| {2}| $/;

/** Section 3.4.2; without the CRLF at the end. Expects octets as latin1 characters. */
export function canonicalField(field: string): string {
  const colon = field.indexOf(':');
  const name = field.slice(0, colon).trim().toLowerCase();
  const value = field.slice(field.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
  if (!TO_BE_TAKEN_OUT.test(value)) return `${name}:${value}`;
  const unfolded = value.replace(/\r\n/g, '').replace(/[ \t]+/g, ' ');
  // Not trim(): it also removes 0xA0, which here is the last octet of many UTF-8 characters.
  return `${name}:${unfolded.replace(/^ | $/g, '')}`;
}

/** Section 3.4.4, of a body that is there as a whole. */
export function canonicalBody(body: Buffer): Buffer {
  const out = Buffer.allocUnsafe(body.length + MAX_GROWTH_BYTES);
  const { contentEnd } = relax(body, { into: out, open: { space: false, cr: false }, isLast: true });
  if (contentEnd === 0) return out.subarray(0, 0);
  out[contentEnd] = CR;
  out[contentEnd + 1] = LF;
  return out.subarray(0, contentEnd + 2);
}

/** Section 3.4.4, of a body that arrives in chunks, which may end anywhere: uses no more memory than a chunk. */
export class BodyCanonicalizer {
  readonly #write: (octets: Buffer) => void;
  readonly #open: OpenLine = { space: false, cr: false };
  /** Line ends that only count if content follows. */
  #lineEnds = 0;
  #hasContent = false;
  #out = Buffer.alloc(0);

  /** What is passed to `write` is valid during the call only. */
  constructor(write: (octets: Buffer) => void) {
    this.#write = write;
  }

  push(chunk: Buffer): void {
    this.#push(chunk, false);
  }

  end(): void {
    this.#push(Buffer.alloc(0), true);
    if (this.#hasContent) this.#write(LINE_ENDS.subarray(0, 2));
  }

  #push(chunk: Buffer, isLast: boolean): void {
    if (this.#out.length < chunk.length + MAX_GROWTH_BYTES) {
      this.#out = Buffer.allocUnsafeSlow(chunk.length + MAX_GROWTH_BYTES);
    }
    const { contentEnd, length } = relax(chunk, { into: this.#out, open: this.#open, isLast });
    if (contentEnd > 0) {
      this.#writeLineEnds();
      this.#write(this.#out.subarray(0, contentEnd));
      this.#hasContent = true;
    }
    this.#lineEnds += (length - contentEnd) / 2;
  }

  #writeLineEnds(): void {
    for (; this.#lineEnds > 0; this.#lineEnds -= Math.min(this.#lineEnds, LINE_ENDS.length / 2)) {
      this.#write(LINE_ENDS.subarray(0, 2 * this.#lineEnds));
    }
  }
}

const LINE_ENDS = Buffer.from('\r\n'.repeat(4096));
/** White space and a CR that were held back, and the line end of a last line without one. */
const MAX_GROWTH_BYTES = 4;

/** What was held back at the end of a chunk, since only the next octet decides about it. */
interface OpenLine {
  space: boolean;
  cr: boolean;
}

interface Relaxing {
  into: Buffer;
  open: OpenLine;
  /** Nothing follows the chunk. */
  isLast: boolean;
}

/** What was written: after `contentEnd` there are only line ends. */
interface Relaxed {
  contentEnd: number;
  length: number;
}

/** These can often be copied as they are, attachments above all: 20 times as fast. */
const BLOCK_BYTES = 8 * 1024;

/** In one pass over the octets. White space is held back until it is known whether its line continues. */
function relax(chunk: Buffer, { into: out, open, isLast }: Relaxing): Relaxed {
  let at = 0;
  let length = 0;
  if (open.cr && (chunk.length > 0 || isLast)) {
    length = out.write(closeCr(open, chunk[0]), 'latin1');
    if (chunk[0] === LF) at++;
  }
  let spaceHeld = open.space;
  let lineStart = at === 0 ? 0 : length;
  let contentEnd = 0;
  while (at < chunk.length) {
    if (!spaceHeld) {
      const clean = endOfCleanBlocks(chunk, at);
      length += chunk.copy(out, length, at, clean);
      at = clean;
    }
    for (const end = Math.min(at + BLOCK_BYTES, chunk.length); at < end; ) {
      let octet = chunk[at++]!;
      if (octet === SPACE || octet === TAB) {
        spaceHeld = true;
      } else if (octet === CR && chunk[at] === LF) {
        if (length > lineStart) contentEnd = length;
        spaceHeld = false;
        out[length++] = CR;
        out[length++] = LF;
        lineStart = length;
        at++;
      } else if (octet === CR && at === chunk.length && !isLast) {
        open.cr = true;
      } else {
        if (spaceHeld) out[length++] = SPACE;
        spaceHeld = false;
        out[length++] = octet;
        // Nearly all octets are copied here.
        for (; at < end; at++) {
          octet = chunk[at]!;
          if (octet <= SPACE) break;
          out[length++] = octet;
        }
      }
    }
  }
  open.space = spaceHeld;
  return { contentEnd: length > lineStart ? length : contentEnd, length };
}

/** What becomes of a CR at the end of a chunk, now that the next octet is known. */
function closeCr(open: OpenLine, next: number | undefined): string {
  const space = open.space && next !== LF ? ' ' : '';
  open.space = false;
  open.cr = false;
  return next === LF ? '\r\n' : `${space}\r`;
}

/** Of as many blocks as there are from `start` with nothing to change. The last octet is surely one that is kept. */
function endOfCleanBlocks(body: Buffer, start: number): number {
  for (let from = start; ; ) {
    let end = from + BLOCK_BYTES;
    if (end > body.length) return from;
    while (end > from && body[end - 1]! <= SPACE) end--;
    const block = body.subarray(from, end);
    if (end === from || block.includes(TAB) || block.includes('  ') || block.includes(' \r\n')) return from;
    from = end;
  }
}

// UUIDv7 (RFC 9562 section 5.7): IDs sort by their time of creation, so that new rows are appended to every index.
// Lower-case text outside, 16 bytes in the store.
import { randomFillSync } from 'node:crypto';

const UUID_SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Any hyphenated UUID of any version and case; ours are version 7 in lower case. */
export function isUuid(text: string): boolean {
  return UUID_SHAPE.test(text);
}

// Every message is written and read with half a dozen IDs. A table takes a third of the time of the way through a
// hexadecimal string without hyphens.
const VALUE_OF_CHAR = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
);
/** Where the first digit of each byte is in `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`. */
const DIGITS_AT = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const UUID_CHARS = 36;

export function uuidToBytes(uuid: string): Buffer {
  const bytes = Buffer.allocUnsafe(16);
  let fault = uuid.length - UUID_CHARS;
  for (let at = 0; at < 16; at++) {
    const digit = DIGITS_AT[at]!;
    const value = (valueAt(uuid, digit) << 4) | valueAt(uuid, digit + 1);
    fault |= value & ~0xff;
    bytes[at] = value;
  }
  // What is not a UUID must not match any ID: the result has fewer bytes, which are equal to none in the store.
  return fault === 0 ? bytes : Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

/** Negative if it is not a digit. */
function valueAt(uuid: string, at: number): number {
  return VALUE_OF_CHAR[uuid.charCodeAt(at)] ?? -1;
}

export function bytesToUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Creates IDs that never repeat and never decrease within this process. */
export class IdSource {
  readonly #now: () => number;
  readonly #random = Buffer.alloc(4096);
  #randomUsed = this.#random.length;
  #lastMs = 0;
  #counter = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  next(): string {
    const now = this.#now();
    // The 12 bits after the time count within one millisecond (RFC 9562 section 6.2,
    // method 1). When they overflow, or the clock goes back, the time runs ahead a little.
    if (now > this.#lastMs) {
      this.#lastMs = now;
      this.#counter = 0;
    } else if (++this.#counter > 0xfff) {
      this.#lastMs++;
      this.#counter = 0;
    }
    const bytes = Buffer.allocUnsafe(16);
    bytes.writeUIntBE(this.#lastMs, 0, 6);
    bytes.writeUInt16BE(0x7000 | this.#counter, 6);
    this.#takeRandom(8).copy(bytes, 8);
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return bytesToUuid(bytes);
  }

  #takeRandom(count: number): Buffer {
    if (this.#randomUsed + count > this.#random.length) {
      randomFillSync(this.#random);
      this.#randomUsed = 0;
    }
    const from = this.#randomUsed;
    this.#randomUsed += count;
    return this.#random.subarray(from, from + count);
  }
}

// A row in PostgreSQL's binary COPY format: for each column the length of the value in 4 bytes and the value, or -1 for NULL.
// The same bytes are what both sides hash when the copy is compared with its source.
import { hash } from 'node:crypto';
import { storableText } from '../postgres/engine/values.ts';

/**
 * As a STRICT table of SQLite gives it: an INTEGER is a bigint, a REAL a number. Text that is not valid UTF-8 has U+FFFD in
 * those places, as everybody reads it.
 */
export type StoredValue = bigint | number | string | Buffer | null;

const COUNT_BYTES = 2;
const NULL_LENGTH = -1;
const FIRST_BYTES = 64 * 1024;

/** Before and after the rows of one COPY. */
export const COPY_HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
export const COPY_TRAILER = Buffer.of(0xff, 0xff);

export class RowBytes {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #end = 0;

  /** Valid until the next call. */
  of(row: readonly StoredValue[]): Buffer {
    this.#end = 0;
    this.#room(COUNT_BYTES);
    this.#end = this.#bytes.writeInt16BE(row.length, 0);
    for (const value of row) this.#put(value);
    return this.#bytes.subarray(0, this.#end);
  }

  #put(value: StoredValue): void {
    if (value === null) this.#putLength(NULL_LENGTH);
    else if (typeof value === 'string') this.#putText(storableText(value));
    else if (typeof value === 'object') {
      this.#putLength(value.length);
      this.#end += value.copy(this.#bytes, this.#end);
    } else this.#putNumber(value);
  }

  #putNumber(value: bigint | number): void {
    this.#putLength(8);
    const isInteger = typeof value === 'bigint';
    this.#end = isInteger ? this.#bytes.writeBigInt64BE(value, this.#end) : this.#bytes.writeDoubleBE(value, this.#end);
  }

  #putText(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#putLength(bytes);
    this.#end += this.#bytes.write(text, this.#end);
  }

  /** With room for the value behind it. */
  #putLength(length: number): void {
    this.#room(4 + Math.max(length, 0));
    this.#end = this.#bytes.writeInt32BE(length, this.#end);
  }

  #room(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#end + bytes));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** Of all rows, in whatever order: how many there are, and the sum of the first 8 bytes of each one's SHA-256. */
export class RowSum {
  #rows = 0;
  #sum = 0n;

  add(row: Buffer): void {
    this.#rows++;
    this.#sum += hash('sha256', row.subarray(COUNT_BYTES), 'buffer').readBigInt64BE(0);
  }

  get rows(): number {
    return this.#rows;
  }

  get sum(): string {
    return String(this.#sum);
  }
}

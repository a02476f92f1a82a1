// The multiparts that are open at a place in a mail, and their delimiter lines (RFC 2046 section 5.1.1). Readers differ
// in what they take for one: some compare the start of a line, some the whole of it, even with the blanks at its end that
// relays may have added. A line that only some take for one is unclear.
import type { Multipart } from './entity.ts';

/** More than mails have; each costs a comparison for every line that begins with two hyphens. */
const MAX_DEPTH = 10;

const HYPHEN = 0x2d;
const CR = 0x0d;

export interface Delimiter {
  /** Of the multipart that it divides or ends. */
  level: number;
  isLast: boolean;
}

interface Open {
  multipart: Multipart;
  boundary: Buffer;
}

export class OpenMultiparts {
  readonly #open: Open[] = [];

  get innermost(): Multipart | null {
    return this.#open.at(-1)?.multipart ?? null;
  }

  /** False: there are too many. */
  add(multipart: Multipart): boolean {
    if (this.#open.length >= MAX_DEPTH) return false;
    this.#open.push({ multipart, boundary: Buffer.from(multipart.boundary, 'latin1') });
    return true;
  }

  /** The first so many stay open. */
  keep(levels: number): void {
    this.#open.length = Math.min(this.#open.length, levels);
  }

  /** What the line from `start` to `end` is, its line end included; null: no delimiter. */
  delimiterAt(bytes: Buffer, start: number, end: number): Delimiter | 'unclear' | null {
    if (bytes[start] !== HYPHEN || bytes[start + 1] !== HYPHEN) return null;
    let found: Delimiter | null = null;
    let isLike = false;
    for (let level = 0; level < this.#open.length; level++) {
      const { boundary } = this.#open[level]!;
      if (!beginsWith(boundary, bytes, start + 2)) continue;
      const after = start + 2 + boundary.length;
      const isLast = bytes[after] === HYPHEN && bytes[after + 1] === HYPHEN;
      isLike = true;
      const lineEnd = isLast ? after + 2 : after;
      if (lineEnd < end && bytes[lineEnd] !== CR) continue;
      if (found !== null) return 'unclear';
      found = { level, isLast };
    }
    return found ?? (isLike ? 'unclear' : null);
  }
}

function beginsWith(boundary: Buffer, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < boundary.length; index++) {
    if (bytes[at + index] !== boundary[index]) return false;
  }
  return true;
}

// Reads the messages of a batch from the database some at a time, in one read transaction each: as
// the session comes to them, and never more than the reader's budget ahead of it.
import type { ContentReader, ContentResult } from '../../store/contents.ts';

interface Ahead {
  /** Index in the batch of the first of the results. */
  from: number;
  results: ContentResult[];
}

export class ReadAhead {
  readonly #contents: ContentReader;
  /** What was read ahead goes away with its batch, also when the session leaves off in the middle. */
  readonly #aheadOf = new WeakMap<readonly string[], Ahead>();

  constructor(contents: ContentReader) {
    this.#contents = contents;
  }

  read(batch: readonly string[], index: number): ContentResult {
    const known = this.#aheadOf.get(batch);
    const found = known?.results[index - known.from];
    if (found) return found;
    const results = this.#contents.readSome(batch.slice(index));
    this.#aheadOf.set(batch, { from: index, results });
    return results[0]!;
  }
}

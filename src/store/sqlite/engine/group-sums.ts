// Counters that many verbs of a group change: their changes are summed up and written once.
import type { Steps } from '../../sql/steps.ts';
import { perform } from './statements.ts';

interface Sum {
  value: number;
  write(sum: number): Steps<void>;
}

export class GroupSums {
  readonly #sums = new Map<string, Sum>();

  addUp(name: string, by: number, write: (sum: number) => Steps<void>): void {
    const known = this.#sums.get(name);
    if (known) known.value += by;
    else this.#sums.set(name, { value: by, write });
  }

  write(): void {
    for (const { value, write } of this.#sums.values()) perform(write(value));
    this.#sums.clear();
  }

  /** Drops the changes of verbs that are rolled back. */
  clear(): void {
    this.#sums.clear();
  }
}

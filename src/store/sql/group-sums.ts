// Counters that many verbs of a group change: their changes are summed up and written once.
import type { Steps } from './steps.ts';
import type { Transaction } from './transaction.ts';

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

  /** In the order of their names: two nodes that change the same counters in different orders would wait for each other. */
  *write(db: Transaction): Steps<void> {
    if (this.#sums.size === 0) return;
    const inOrder = [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1));
    yield* db.forAll(inOrder, ([, { value, write }]) => write(value));
    this.#sums.clear();
  }

  /** Drops the changes of verbs that are rolled back. */
  clear(): void {
    this.#sums.clear();
  }
}

// Counters that many verbs of a group change: their changes are summed up and written once.

interface Sum {
  value: number;
  write(sum: number): void;
}

export class GroupSums {
  readonly #sums = new Map<string, Sum>();

  addUp(name: string, by: number, write: (sum: number) => void): void {
    const known = this.#sums.get(name);
    if (known) known.value += by;
    else this.#sums.set(name, { value: by, write });
  }

  write(): void {
    for (const { value, write } of this.#sums.values()) write(value);
    this.#sums.clear();
  }

  /** Drops the changes of verbs that are rolled back. */
  clear(): void {
    this.#sums.clear();
  }
}

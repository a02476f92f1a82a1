// A binary heap of items by due time. An item whose time has changed is pushed again; the caller
// recognises the old entry by its outdated time.

interface Entry<T> {
  at: number;
  item: T;
}

export class DueHeap<T> {
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** When the first item is due; Infinity: there is none. */
  get nextAt(): number {
    return this.#entries[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  push(item: T, at: number): void {
    const entries = this.#entries;
    let index = entries.length;
    entries.push({ item, at });
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (entries[parent]!.at <= at) break;
      this.#swap(index, parent);
      index = parent;
    }
  }

  /** The first entry that is due by `now`, or null. */
  pop(now: number): Entry<T> | null {
    const entries = this.#entries;
    const first = entries[0];
    if (!first || first.at > now) return null;
    const last = entries.pop()!;
    if (entries.length > 0) {
      entries[0] = last;
      this.#sink();
    }
    return first;
  }

  #sink(): void {
    const entries = this.#entries;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      if (left >= entries.length) return;
      const right = left + 1;
      const smaller = right < entries.length && entries[right]!.at < entries[left]!.at ? right : left;
      if (entries[index]!.at <= entries[smaller]!.at) return;
      this.#swap(index, smaller);
      index = smaller;
    }
  }

  #swap(a: number, b: number): void {
    const entries = this.#entries;
    [entries[a], entries[b]] = [entries[b]!, entries[a]!];
  }
}

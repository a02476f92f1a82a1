// A map with room for so many entries: the one that was set longest ago makes room for the next. `get` does not
// count as a use; `use` does. Entries may weigh something, and then their weights are bounded instead of their number.
// Not the package lru-cache: it sets up arrays for its largest size at once, 28 MB for a million keys.

export class BoundedMap<Key, Value> {
  readonly #max: number;
  readonly #weigh: ((value: Value) => number) | null;
  /** Those that were set or used longest ago in front. */
  readonly #entries = new Map<Key, Value>();
  #weight = 0;

  /** The newest entry is kept whatever it weighs. */
  constructor(max: number, weigh: ((value: Value) => number) | null = null) {
    this.#max = max;
    this.#weigh = weigh;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** As `get`; and the entry is the last to make room. */
  use(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#weight += this.#weightOf(value);
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#max || this.#entries.size === 1) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): boolean {
    if (!this.#entries.has(key)) return false;
    this.#weight -= this.#weightOf(this.#entries.get(key)!);
    return this.#entries.delete(key);
  }

  /** The entry that makes room next. */
  get oldest(): [Key, Value] | undefined {
    return this.#entries.entries().next().value;
  }

  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  #weightOf(value: Value): number {
    return this.#weigh === null ? 1 : this.#weigh(value);
  }
}

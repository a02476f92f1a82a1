// A map with a maximum size: the entry that was set longest ago is evicted first. `get` does not count as a use; `use`
// does. Entries may have weights, which are then limited instead of their number.
// Not the package lru-cache: it allocates arrays for its maximum size at once, 28 MB for a million keys.

export class BoundedMap<Key, Value> {
  readonly #max: number;
  readonly #weigh: ((value: Value) => number) | null;
  /** Ordered by when they were set or used, oldest first. */
  readonly #entries = new Map<Key, Value>();
  #weight = 0;

  /** The newest entry is kept even if it alone exceeds `max`. */
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

  /** As `get`, and the entry becomes the newest. */
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

  /** The entry to be evicted next. */
  get oldest(): [Key, Value] | undefined {
    return this.#entries.entries().next().value;
  }

  entries(): IterableIterator<[Key, Value]> {
    return this.#entries.entries();
  }

  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  #weightOf(value: Value): number {
    return this.#weigh === null ? 1 : this.#weigh(value);
  }
}

// What was read about tenants, their keys, domains, webhooks and lanes: read at every call, changed rarely. The whole cache is
// cleared as soon as a verb runs that may change any of it, and nothing is cached until that verb's group is committed
// or rolled back: so it is never older than the database, and never shows uncommitted data.

// Some 500 bytes each. One entry more clears the cache, and it fills again.
const MAX_ENTRIES = 50_000;

export class ReadCache {
  readonly #found = new Map<string, unknown>();
  #suspended = false;

  cached<T>(name: string, look: () => T): T {
    const known = this.#found.get(name);
    if (known !== undefined) return known as T;
    const found = look();
    // What does not exist is not cached: requests with random names must not push out the other entries.
    if (this.#suspended || found === null || found === undefined) return found;
    if (this.#found.size >= MAX_ENTRIES) this.#found.clear();
    this.#found.set(name, found);
    return found;
  }

  clear(): void {
    if (this.#found.size > 0) this.#found.clear();
  }

  suspend(): void {
    this.#suspended = true;
    this.clear();
  }

  resume(): void {
    this.#suspended = false;
  }
}

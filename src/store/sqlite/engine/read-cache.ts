// What was read about tenants, their keys, domains, webhooks and lanes: read at every call, changed rarely. The whole cache is
// cleared as soon as a verb runs that may change any of it, and nothing is cached until that verb's group is committed
// or rolled back: so it never shows uncommitted data. Whatever another connection commits clears it at the next check.
import type Database from 'better-sqlite3';

// Some 500 bytes each. One entry more clears the cache, and it fills again.
const MAX_ENTRIES = 50_000;

export class ReadCache {
  readonly #found = new Map<string, unknown>();
  readonly #version: Database.Statement;
  #checked: unknown = null;
  #suspended = false;

  constructor(db: Database.Database) {
    // A number that changes when another connection has committed, never by this one's own commits.
    this.#version = db.prepare('PRAGMA data_version').pluck();
  }

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

  /**
   * Clears everything when another connection has committed since the last check, and returns whether it did. In a
   * transaction (0.4 µs) it holds until the end of it.
   */
  check(): boolean {
    const version = this.#version.get();
    if (version === this.#checked) return false;
    this.#checked = version;
    this.clear();
    return true;
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

// What was read about tenants, their keys, domains, webhooks and lanes: read at every call, changed rarely. The whole cache is
// cleared as soon as a verb runs that may change any of it, and nothing is cached until that verb's group is committed
// or rolled back: so it never shows uncommitted data. Whatever another connection commits clears it at the next check.
import { performance } from 'node:perf_hooks';
import type Database from 'better-sqlite3';
import type { Steps } from '../../sql/steps.ts';
import { answered } from './statements.ts';

// Some 500 bytes each. One entry more clears the cache, and it fills again.
const MAX_ENTRIES = 50_000;

/** What reads outside a transaction may miss of other connections' commits; the store's contract says so, too. */
const MAX_AGE_MS = 1000;

export class ReadCache {
  readonly #found = new Map<string, unknown>();
  readonly #version: Database.Statement;
  #checked: unknown = null;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #suspended = false;

  constructor(db: Database.Database) {
    // A number that changes when another connection has committed, never by this one's own commits.
    this.#version = db.prepare('PRAGMA data_version').pluck();
  }

  cached<T>(name: string, look: () => Steps<T>): Steps<T> {
    const known = this.#found.get(name);
    return known === undefined ? this.#look(name, look) : answered(known as T);
  }

  *#look<T>(name: string, look: () => Steps<T>): Steps<T> {
    const found = yield* look();
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
    this.#checkedAt = performance.now();
    const version = this.#version.get();
    if (version === this.#checked) return false;
    this.#checked = version;
    this.clear();
    return true;
  }

  /** The same for reads outside a transaction, where a check takes 11 µs: only when the last one is a second old. */
  checkIfOld(): boolean {
    return performance.now() - this.#checkedAt >= MAX_AGE_MS && this.check();
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

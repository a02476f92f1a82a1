// What was read about tenants, their keys, domains, webhooks and lanes: read at every call, changed rarely. It holds as
// long as the row `config_version` has the same number, which every verb of the kind `write` raises in its transaction.
// A transaction has a view of its own: it shares what is held only while that has the number of its own snapshot, since
// others may see a later one meanwhile; and what it wrote counts only after its commit.
import { performance } from 'node:perf_hooks';

// Some 500 bytes each. One entry more clears the cache, and it fills again.
const MAX_ENTRIES = 50_000;

/** What reads may miss of other nodes' commits; the store's contract says so, too. */
const MAX_AGE_MS = 1000;

export interface CacheView {
  get(name: string): unknown;
  set(name: string, found: unknown): void;
}

/** For verbs that may change what is cached: they look for themselves. */
export const NO_CACHE: CacheView = { get: () => undefined, set: () => {} };

export class ConfigCache {
  readonly #found = new Map<string, unknown>();
  #version = -1;
  #checkedAt = Number.NEGATIVE_INFINITY;

  get isOld(): boolean {
    return performance.now() - this.#checkedAt >= MAX_AGE_MS;
  }

  /** What the database said; `askedAt` is from before it was asked. An older snapshot than the last one says nothing. */
  see(version: number, askedAt: number): void {
    if (version < this.#version) return;
    this.#checkedAt = Math.max(this.#checkedAt, askedAt);
    if (version === this.#version) return;
    this.#version = version;
    this.#found.clear();
  }

  /** Another node has changed something: the next read asks. */
  doubt(): void {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
  }

  /** Of a transaction that read this number, or that has no snapshot yet. */
  view(version = this.#version): CacheView {
    const isShared = () => version === this.#version;
    return {
      get: (name) => (isShared() ? this.#found.get(name) : undefined),
      set: (name, found) => {
        if (isShared()) this.#keep(name, found);
      },
    };
  }

  /** Of a group, whose own rows nobody else may see yet. */
  groupView(version: number): CacheView & { committed(): void } {
    const shared = this.view(version);
    const own = new Map<string, unknown>();
    return {
      get: (name) => own.get(name) ?? shared.get(name),
      set: (name, found) => void own.set(name, found),
      committed: () => {
        for (const [name, found] of own) shared.set(name, found);
      },
    };
  }

  #keep(name: string, found: unknown): void {
    if (this.#found.size >= MAX_ENTRIES) this.#found.clear();
    this.#found.set(name, found);
  }
}

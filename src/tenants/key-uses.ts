// When API keys were last used. A call costs one entry in a map; entries are written once a minute, so a crash loses a
// minute of them. Reads include what is not written yet.

import type { Clock } from '../base/clock.ts';
import { MINUTE_MS } from '../base/clock.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { StoreVerbs } from '../store/store.ts';

const PERIOD_MS = MINUTE_MS;
/** Limits how long one verb takes. */
const KEYS_PER_VERB = 500;

export interface KeyUsesKit {
  store: StoreVerbs<{ keys: 'noteKeyUses' | 'lastKeyUses' }>;
  clock: Clock;
}

export class KeyUses {
  readonly #kit: KeyUsesKit;
  #seen = new Map<string, number>();

  constructor(kit: KeyUsesKit) {
    this.#kit = kit;
  }

  readonly note = (keyId: string): void => {
    this.#seen.set(keyId, this.#kit.clock.now());
  };

  /** By key ID; keys that were never used are missing. */
  async ofTenant(tenantId: string): Promise<Map<string, number>> {
    const known = await this.#kit.store.keys.lastKeyUses(tenantId);
    return new Map(known.map(({ keyId, at }) => [keyId, at]));
  }

  /** The last use that is not written yet, otherwise the stored one. */
  latest(keyId: string, stored: number | undefined): number | null {
    return this.#seen.get(keyId) ?? stored ?? null;
  }

  /** Returns how many keys were written. What the store rejects is kept for the next time. */
  async write(): Promise<number> {
    const uses = [...this.#seen].map(([keyId, at]) => ({ keyId, at }));
    for (let from = 0; from < uses.length; from += KEYS_PER_VERB) {
      const batch = uses.slice(from, from + KEYS_PER_VERB);
      await this.#kit.store.keys.noteKeyUses(batch);
      for (const { keyId, at } of batch) if (this.#seen.get(keyId) === at) this.#seen.delete(keyId);
    }
    return uses.length;
  }

  /** What cannot be written is lost: it must not keep the daemon from ending. */
  async close(): Promise<void> {
    await this.write().catch(() => 0);
  }

  timer(): TimerSpec {
    return { name: 'uses of keys', periodMs: PERIOD_MS, run: async () => `${await this.write()} written` };
  }
}

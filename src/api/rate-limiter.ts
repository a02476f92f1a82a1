// How often a key may call: a token bucket per key that holds a minute's worth of calls and is
// refilled continuously. A bucket is kept as one number, the time at which it will be full
// again; one that is full is the same as none, and is forgotten.
import { type Clock, MINUTE_MS, SECOND_MS } from '../base/clock.ts';

export interface RateVerdict {
  allowed: boolean;
  limit: number;
  /** Whole calls that are left right now. */
  remaining: number;
  /** Until the bucket is full again. */
  resetSecs: number;
  /** After so long one call will be let through; at least 1 when refused. */
  retryAfterSecs: number;
}

/**
 * What keys without a cap are told, so that clients that read the headers as numbers go on
 * working: the largest that fits into 32 bits.
 */
const UNCAPPED = 2_147_483_647;

/**
 * About 130 bytes each. Above it, the key that has not called for longest is forgotten early
 * and gets a full bucket.
 */
const MAX_KEYS = 1_000_000;

export class RateLimiter {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  /** By key, least recently used first. */
  readonly #fullAt = new Map<string, number>();

  constructor(clock: Clock, maxKeys: number = MAX_KEYS) {
    this.#clock = clock;
    this.#maxKeys = maxKeys;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#fullAt.size;
  }

  /** Counts a call. `perMinute` is null for a key without a cap. */
  take(keyId: string, perMinute: number | null): RateVerdict {
    const now = this.#clock.now();
    this.#forgetFull(now);
    if (perMinute === null) {
      return { allowed: true, limit: UNCAPPED, remaining: UNCAPPED, resetSecs: 0, retryAfterSecs: 0 };
    }
    const refillMs = MINUTE_MS / perMinute;
    const emptyAt = now + MINUTE_MS;
    // Not further ahead than an empty bucket: the clock may have been set back.
    const fullBefore = Math.min(Math.max(this.#fullAt.get(keyId) ?? now, now), emptyAt);
    // Divisions leave crumbs of a millisecond, which must not cost anybody a call.
    const allowed = fullBefore + refillMs <= emptyAt + 1e-6;
    const fullAt = allowed ? fullBefore + refillMs : fullBefore;
    this.#remember(keyId, fullAt);
    return {
      allowed,
      limit: perMinute,
      remaining: Math.max(0, Math.floor((emptyAt - fullAt) / refillMs + 1e-6)),
      resetSecs: Math.ceil((fullAt - now) / SECOND_MS),
      retryAfterSecs: allowed ? 0 : Math.max(1, Math.ceil((fullBefore + refillMs - emptyAt) / SECOND_MS)),
    };
  }

  #remember(keyId: string, fullAt: number): void {
    this.#fullAt.delete(keyId);
    this.#fullAt.set(keyId, fullAt);
    if (this.#fullAt.size > this.#maxKeys) this.#fullAt.delete(this.#fullAt.keys().next().value!);
  }

  /** Two per call empty the list faster than calls can fill it. */
  #forgetFull(now: number): void {
    if (this.#fullAt.size === 0) return;
    for (let turn = 0; turn < 2; turn++) {
      const oldest = this.#fullAt.entries().next().value;
      if (!oldest || oldest[1] > now) return;
      this.#fullAt.delete(oldest[0]);
    }
  }
}

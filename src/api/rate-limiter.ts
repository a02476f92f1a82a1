// How often a key may call: a token bucket per key that holds a minute's worth of calls and is
// refilled continuously. A large body costs more than the call's one token, and may take a bucket
// below zero. A bucket is kept as one number, the time at which it will be full again; one that
// is full is the same as none, and is forgotten.
import { type Clock, MINUTE_MS, SECOND_MS } from '../base/clock.ts';

export interface RateVerdict {
  allowed: boolean;
  limit: number;
  /** Whole tokens that are left right now; none when the bucket is below zero. */
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

/** Of a millisecond. */
const CRUMB = 1e-6;

const UNLIMITED: RateVerdict = {
  allowed: true,
  limit: UNCAPPED,
  remaining: UNCAPPED,
  resetSecs: 0,
  retryAfterSecs: 0,
};

export class RateLimiter {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  /** By key, least recently used first. */
  readonly #fullAt = new Map<string, number>();
  #latest = Number.NEGATIVE_INFINITY;
  /** By how much the clock has been set back in all. */
  #setBackMs = 0;

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
    const now = this.#now();
    this.#forgetFull(now);
    if (perMinute === null) return UNLIMITED;
    const refillMs = MINUTE_MS / perMinute;
    const fullBefore = this.#fullAtOf(keyId, now);
    // Divisions leave crumbs of a millisecond, which must not cost anybody a call.
    const allowed = fullBefore + refillMs <= now + MINUTE_MS + CRUMB;
    const fullAt = allowed ? fullBefore + refillMs : fullBefore;
    this.#remember(keyId, fullAt);
    const waitMs = fullBefore + refillMs - now - MINUTE_MS;
    const retryAfterSecs = allowed ? 0 : Math.max(1, Math.ceil((waitMs - CRUMB) / SECOND_MS));
    return { allowed, retryAfterSecs, ...figures(perMinute, fullAt - now) };
  }

  /** A call that was let through costs more than was known then. The next one waits for what is below zero. */
  charge(keyId: string, perMinute: number | null, tokens: number): RateVerdict {
    if (perMinute === null) return UNLIMITED;
    const now = this.#now();
    const fullAt = this.#fullAtOf(keyId, now) + (MINUTE_MS / perMinute) * tokens;
    this.#remember(keyId, fullAt);
    return { allowed: true, retryAfterSecs: 0, ...figures(perMinute, fullAt - now) };
  }

  #fullAtOf(keyId: string, now: number): number {
    return Math.max(this.#fullAt.get(keyId) ?? now, now);
  }

  /** Never goes back: a clock that is set back must not make anybody wait for it to catch up. */
  #now(): number {
    const shown = this.#clock.now();
    this.#setBackMs = Math.max(this.#setBackMs, this.#latest - shown);
    this.#latest = shown + this.#setBackMs;
    return this.#latest;
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

function figures(perMinute: number, untilFullMs: number): Pick<RateVerdict, 'limit' | 'remaining' | 'resetSecs'> {
  const left = Math.floor(((MINUTE_MS - untilFullMs) * perMinute) / MINUTE_MS + CRUMB);
  return { limit: perMinute, remaining: Math.max(0, left), resetSecs: Math.ceil(untilFullMs / SECOND_MS) };
}

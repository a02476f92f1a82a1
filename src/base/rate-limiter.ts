// How often somebody may call: a token bucket for each that holds a minute's worth of calls. A large body costs more
// than the call's one token, and may take a bucket below zero. One that is full is forgotten.
import { BoundedMap } from './bounded-map.ts';
import { type Clock, MINUTE_MS, SECOND_MS, steadyClock } from './clock.ts';
import { fullAfter, ROUNDING_MS, type TokenBucket, tokensLeft, tokenWaitMs } from './token-bucket.ts';

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

/** Whether calls may be made; keys are counted apart. `perMinute` is null for a key without a cap. */
export interface Rates {
  /** Counts a call. A promise where it has to be asked for. */
  take(keyId: string, perMinute: number | null): RateVerdict | Promise<RateVerdict>;
  /** A call that was let through costs more than was known then. The next one waits for what is below zero. */
  charge(keyId: string, perMinute: number | null, tokens: number): RateVerdict;
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
export const MAX_KEYS = 1_000_000;

export const UNLIMITED: RateVerdict = {
  allowed: true,
  limit: UNCAPPED,
  remaining: UNCAPPED,
  resetSecs: 0,
  retryAfterSecs: 0,
};

export class RateLimiter implements Rates {
  readonly #clock: Clock;
  /** By key. */
  readonly #fullAt: BoundedMap<string, number>;

  constructor(clock: Clock, maxKeys: number = MAX_KEYS) {
    this.#clock = steadyClock(clock);
    this.#fullAt = new BoundedMap(maxKeys);
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#fullAt.size;
  }

  take(keyId: string, perMinute: number | null): RateVerdict {
    const now = this.#clock.now();
    this.#forgetFull(now);
    if (perMinute === null) return UNLIMITED;
    const bucket = bucketOf(perMinute);
    const before = this.#fullAt.get(keyId) ?? now;
    const waitMs = tokenWaitMs(bucket, before, now);
    const fullAt = fullAfter(bucket, before, now, waitMs === 0 ? 1 : 0);
    this.#fullAt.set(keyId, fullAt);
    return verdictOn(bucket, fullAt, now, waitMs);
  }

  charge(keyId: string, perMinute: number | null, tokens: number): RateVerdict {
    if (perMinute === null) return UNLIMITED;
    const now = this.#clock.now();
    const bucket = bucketOf(perMinute);
    const fullAt = fullAfter(bucket, this.#fullAt.get(keyId) ?? now, now, tokens);
    this.#fullAt.set(keyId, fullAt);
    return verdictOn(bucket, fullAt, now, 0);
  }

  /** Two per call empty the list faster than calls can fill it. */
  #forgetFull(now: number): void {
    for (let turn = 0; turn < 2; turn++) {
      const { oldest } = this.#fullAt;
      if (!oldest || oldest[1] > now) return;
      this.#fullAt.delete(oldest[0]);
    }
  }
}

export function bucketOf(perMinute: number): TokenBucket {
  return { capacity: perMinute, refillMs: MINUTE_MS / perMinute };
}

/** Allowed when there was no wait; the figures are those after the call. */
export function verdictOn(bucket: TokenBucket, fullAt: number, now: number, waitMs: number): RateVerdict {
  const left = Math.floor(tokensLeft(bucket, fullAt, now) + ROUNDING_MS);
  return {
    allowed: waitMs === 0,
    limit: bucket.capacity,
    remaining: Math.max(0, left),
    resetSecs: Math.ceil((fullAt - now) / SECOND_MS),
    retryAfterSecs: waitMs === 0 ? 0 : Math.max(1, Math.ceil((waitMs - ROUNDING_MS) / SECOND_MS)),
  };
}

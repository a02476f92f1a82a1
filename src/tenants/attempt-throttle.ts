// Limits attempts: some are free, then each must wait twice as long as the one before. Counted before the attempt,
// so that concurrent ones can't bypass it. Kept in a bounded map in memory: only tens of thousands of other keys can
// push an entry out early, and a restart clears them all.

import { hash } from 'node:crypto';
import { BoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';

export interface ThrottleRule {
  freeTries: number;
  firstWaitMs: number;
  longestWaitMs: number;
  /** Forgotten after so long without an attempt. */
  forgetAfterMs: number;
}

interface Tries {
  count: number;
  openAt: number;
  lastAt: number;
}

const MAX_KEYS = 50_000;
/** The longest address with the longest network before it. */
const KEY_MAX_CHARS = 380;

export class AttemptThrottle {
  readonly #clock: Clock;
  readonly #rule: ThrottleRule;
  /** Ordered by the last attempt. */
  readonly #tries: BoundedMap<string, Tries>;

  constructor(clock: Clock, rule: ThrottleRule, maxKeys = MAX_KEYS) {
    this.#clock = clock;
    this.#rule = rule;
    this.#tries = new BoundedMap(maxKeys);
  }

  /** 0: an attempt is allowed now. */
  waitMs(key: string): number {
    return Math.max(0, (this.#find(key)?.openAt ?? 0) - this.#clock.now());
  }

  count(key: string): void {
    const now = this.#clock.now();
    const { freeTries, firstWaitMs, longestWaitMs } = this.#rule;
    const count = (this.#find(key)?.count ?? 0) + 1;
    const over = count - freeTries;
    const waitMs = over < 0 ? 0 : Math.min(longestWaitMs, firstWaitMs * 2 ** over);
    this.#tries.set(shorten(key), { count, openAt: now + waitMs, lastAt: now });
  }

  /** Takes back one attempt, since it was not a guess. */
  refund(key: string): void {
    const tries = this.#find(key);
    if (!tries) return;
    if (tries.count <= 1) this.forgive(key);
    else this.#tries.set(shorten(key), { ...tries, count: tries.count - 1, openAt: 0 });
  }

  forgive(key: string): void {
    this.#tries.delete(shorten(key));
  }

  #find(key: string): Tries | undefined {
    const tries = this.#tries.get(shorten(key));
    if (!tries || this.#clock.now() - tries.lastAt < this.#rule.forgetAfterMs) return tries;
    this.#tries.delete(shorten(key));
    return undefined;
  }
}

/** Long keys are hashed: a slice would keep the whole text in memory. */
function shorten(key: string): string {
  return key.length <= KEY_MAX_CHARS ? key : hash('sha256', key);
}

/** One attempt counts for all of these. */
export type Gates = readonly (readonly [throttle: AttemptThrottle, key: string])[];

/** 0 when an attempt is allowed, which is then counted; otherwise how long to wait. */
export function takeAttempt(gates: Gates): number {
  const waitMs = Math.max(...gates.map(([throttle, key]) => throttle.waitMs(key)));
  if (waitMs > 0) return waitMs;
  for (const [throttle, key] of gates) throttle.count(key);
  return 0;
}

// Limits attempts (throttle-rule.ts) in the memory of one node, where a guess is hopeless and only its cost is limited.
// Counted before the attempt, so that concurrent ones can't bypass it. In a bounded map: only tens of thousands of other
// keys can push an entry out early, and a restart clears them all. What guards passwords is in the store
// (account-throttles.ts).

import { hash } from 'node:crypto';
import { BoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import { countTry, type ThrottleRule, type Tries, waitAfter } from '../base/throttle-rule.ts';

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
    return waitAfter(this.#tries.get(shorten(key)), this.#clock.now());
  }

  count(key: string): void {
    const short = shorten(key);
    this.#tries.set(short, countTry(this.#rule, this.#tries.get(short), this.#clock.now()));
  }

  /** Takes back one attempt, since it was not a guess. */
  refund(key: string): void {
    const tries = this.#tries.get(shorten(key));
    if (!tries) return;
    if (tries.count <= 1) this.#tries.delete(shorten(key));
    else this.#tries.set(shorten(key), { ...tries, count: tries.count - 1, openAt: 0 });
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

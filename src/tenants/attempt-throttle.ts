// How often something may be tried: some times freely, then with pauses that double. Counted before the try,
// so that many at once are no way around it. Kept in memory, in bounded room: whoever is forgotten early has
// to compete with tens of thousands of others for it, and a restart forgives everybody.

import { hash } from 'node:crypto';
import { BoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';

export interface ThrottleRule {
  freeTries: number;
  firstWaitMs: number;
  longestWaitMs: number;
  /** Without a try for so long, all is forgotten. */
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
  /** The one that tried last comes last. */
  readonly #tries: BoundedMap<string, Tries>;

  constructor(clock: Clock, rule: ThrottleRule, maxKeys = MAX_KEYS) {
    this.#clock = clock;
    this.#rule = rule;
    this.#tries = new BoundedMap(maxKeys);
  }

  /** 0: it may be tried now. */
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

  /** It was no guess after all: one try less. */
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

/** By its hash where it is long: a piece of it would keep the whole text in memory. */
function shorten(key: string): string {
  return key.length <= KEY_MAX_CHARS ? key : hash('sha256', key);
}

/** One try counts for all of these. */
export type Gates = readonly (readonly [throttle: AttemptThrottle, key: string])[];

/** 0 when it may be tried, which is then counted; otherwise for how long to wait. */
export function takeTry(gates: Gates): number {
  const waitMs = Math.max(...gates.map(([throttle, key]) => throttle.waitMs(key)));
  if (waitMs > 0) return waitMs;
  for (const [throttle, key] of gates) throttle.count(key);
  return 0;
}

// How much one person may change at once. A program calls the API, which counts its calls; forms must be no way
// around that: each can be work for the database, for keys, or for the DNS. Nobody types so fast. Each node counts for itself,
// since it is its own work that it protects; mail that is written in the portal has the limit of all nodes (Rates).
import { type Clock, SECOND_MS, steadyClock } from '../base/clock.ts';
import { fullAfter, type TokenBucket, tokenWaitMs } from '../base/token-bucket.ts';

const AT_ONCE = 8;
/** Two in a second: more than the live preview of templates sends while somebody writes. */
const BUCKET: TokenBucket = { capacity: 120, refillMs: SECOND_MS / 2 };

interface Allowance {
  fullAt: number;
  running: number;
}

export type Permission = { kind: 'go'; done(): void } | { kind: 'wait'; seconds: number };

export class ActionLimit {
  readonly #clock: Clock;
  /** Of those who have changed something lately: whoever has all of it back is forgotten. */
  readonly #people = new Map<string, Allowance>();

  constructor(clock: Clock) {
    this.#clock = steadyClock(clock);
  }

  take(userId: string): Permission {
    const now = this.#clock.now();
    const allowance = this.#people.get(userId) ?? { fullAt: now, running: 0 };
    if (allowance.running >= AT_ONCE) return { kind: 'wait', seconds: 1 };
    const waitMs = tokenWaitMs(BUCKET, allowance.fullAt, now);
    if (waitMs > 0) return { kind: 'wait', seconds: Math.ceil(waitMs / SECOND_MS) };
    allowance.fullAt = fullAfter(BUCKET, allowance.fullAt, now);
    allowance.running++;
    this.#people.set(userId, allowance);
    return { kind: 'go', done: () => this.#done(userId) };
  }

  #done(userId: string): void {
    const allowance = this.#people.get(userId);
    if (allowance) allowance.running--;
    const now = this.#clock.now();
    for (const [id, { fullAt, running }] of this.#people) {
      if (running === 0 && fullAt <= now) this.#people.delete(id);
    }
  }
}

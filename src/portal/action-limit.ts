// How much one person may change at once. A program calls the API, which counts its calls; forms must be no way
// around that: each can be work for the database, for keys, or for the DNS. Nobody types so fast.
import { type Clock, SECOND_MS } from '../base/clock.ts';

const AT_ONCE = 8;
/** More than the live preview of templates sends while somebody writes. */
const PER_SECOND = 2;
const BURST = 120;

interface Allowance {
  left: number;
  at: number;
  running: number;
}

export type Permission = { kind: 'go'; done(): void } | { kind: 'wait'; seconds: number };

export class ActionLimit {
  readonly #clock: Clock;
  /** Of those who have changed something lately: whoever has all of it back is forgotten. */
  readonly #people = new Map<string, Allowance>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(userId: string): Permission {
    const now = this.#clock.now();
    const { left, at, running } = this.#people.get(userId) ?? { left: BURST, at: now, running: 0 };
    const allowance = { left: refilled(left, now - at), at: now, running };
    this.#people.set(userId, allowance);
    if (running >= AT_ONCE) return { kind: 'wait', seconds: 1 };
    if (allowance.left < 1) return { kind: 'wait', seconds: Math.ceil((1 - allowance.left) / PER_SECOND) };
    allowance.left--;
    allowance.running++;
    return { kind: 'go', done: () => this.#done(userId) };
  }

  #done(userId: string): void {
    const allowance = this.#people.get(userId);
    if (allowance) allowance.running--;
    const now = this.#clock.now();
    for (const [id, { left, at, running }] of this.#people) {
      if (running === 0 && refilled(left, now - at) === BURST) this.#people.delete(id);
    }
  }
}

function refilled(left: number, elapsedMs: number): number {
  return Math.min(BURST, left + (Math.max(0, elapsedMs) / SECOND_MS) * PER_SECOND);
}

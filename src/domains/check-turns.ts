// Verifications of one domain take turns: one at a time, and some seconds apart, since each queries servers that the
// domain's owner has chosen. A call gets the result of a check that began after it, or of an earlier one that passed: a
// tenant who has just published a record never gets an outdated failure. Calls that wait for the same turn share it.
// Turns are counted by tenant and name, so that deleting and registering again gains none; results belong to one domain
// record, with its selector and key. zone-turns.ts limits all names of a zone. Each daemon has its own turns.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, SECOND_MS } from '../base/clock.ts';
import { ZoneTurns, zoneOf } from './zone-turns.ts';

export interface CheckTurnsKit<T> {
  clock: Clock;
  /** Whether a result also serves calls that came while its check was running. */
  isGood(result: T): boolean;
  /** From the end of one check to the start of the next; also from one token of a zone to the next. */
  gapMs?: number;
  /** Replaced in tests. */
  pause?: (ms: number) => Promise<unknown>;
}

export interface CheckedDomain {
  id: string;
  tenantId: string;
  name: string;
}

/** A turn waits, runs, and has ended. */
interface Turn<T> {
  domainId: string;
  state: 'waiting' | 'running' | { endedAt: number };
  result: Promise<T>;
}

const GAP_MS = 10 * SECOND_MS;
/** Of one tenant, in one zone. Each may wait for a token, so the last one waits about half a minute. */
const MAX_WAITING = 3;

export class CheckTurns<T> {
  readonly #clock: Clock;
  readonly #isGood: (result: T) => boolean;
  readonly #gapMs: number;
  readonly #pause: (ms: number) => Promise<unknown>;
  readonly #zones: ZoneTurns;
  /** The last turn of each tenant and name, ordered by their ends. */
  readonly #turns = new Map<string, Turn<T>>();
  /** The number of waiting turns, by tenant and zone. */
  readonly #waiting = new Map<string, number>();

  constructor({ clock, isGood, gapMs = GAP_MS, pause = unrefPause }: CheckTurnsKit<T>) {
    this.#clock = clock;
    this.#isGood = isGood;
    this.#gapMs = gapMs;
    this.#pause = pause;
    this.#zones = new ZoneTurns({ clock, intervalMs: gapMs, pause });
  }

  /** Waits for a turn: for a running check, the gap after it, and the zone. Null: too many turns of the tenant wait. */
  take(domain: CheckedDomain, check: () => Promise<T>): Promise<T> | null {
    this.#forget();
    const last = this.#turns.get(keyOf(domain));
    const isShared = last?.domainId === domain.id;
    if (isShared && last.state === 'waiting') return last.result;
    if (this.#waitingBeside(domain) >= MAX_WAITING) return null;
    return this.#begin(domain, async (turn) => {
      this.#count(domain, 1);
      try {
        const earlier = last && !hasEnded(last) ? await last.result.catch(() => null) : null;
        if (isShared && earlier !== null && this.#isGood(earlier)) return earlier;
        const waitMs = this.#waitMs(last);
        if (waitMs > 0) await this.#pause(waitMs);
        const zone = this.#zones.of(domain.name);
        if (!zone.tryTake()) await zone.waitForToken(domain.tenantId);
      } finally {
        this.#count(domain, -1);
      }
      turn.state = 'running';
      return check();
    });
  }

  /** For background checks. Null: it is not the domain's turn yet. */
  takeNow(domain: CheckedDomain, check: () => Promise<T>): Promise<T> | null {
    this.#forget();
    const last = this.#turns.get(keyOf(domain));
    if (last && !hasEnded(last)) return last.domainId === domain.id ? last.result : null;
    if (this.#waitMs(last) > 0 || !this.#zones.of(domain.name).tryTake()) return null;
    return this.#begin(domain, (turn) => {
      turn.state = 'running';
      return check();
    });
  }

  #begin(domain: CheckedDomain, run: (turn: Turn<T>) => Promise<T>): Promise<T> {
    const key = keyOf(domain);
    const turn = { domainId: domain.id, state: 'waiting' } as Turn<T>;
    turn.result = run(turn);
    this.#put(key, turn);
    const end = () => {
      turn.state = { endedAt: this.#clock.now() };
      // Another turn may have queued up after it.
      if (this.#turns.get(key) === turn) this.#put(key, turn);
    };
    turn.result.then(end, end);
    return turn.result;
  }

  #waitingBeside(domain: CheckedDomain): number {
    return this.#waiting.get(zoneKeyOf(domain)) ?? 0;
  }

  #count(domain: CheckedDomain, change: number): void {
    const count = this.#waitingBeside(domain) + change;
    if (count > 0) this.#waiting.set(zoneKeyOf(domain), count);
    else this.#waiting.delete(zoneKeyOf(domain));
  }

  #waitMs(last: Turn<T> | undefined): number {
    if (!last || !hasEnded(last)) return 0;
    // After a clock was set back, the wait is still at most the gap.
    return Math.min(this.#gapMs, last.state.endedAt + this.#gapMs - this.#clock.now());
  }

  #put(key: string, turn: Turn<T>): void {
    this.#turns.delete(key);
    this.#turns.set(key, turn);
  }

  #forget(): void {
    for (const [key, turn] of this.#turns) {
      if (!hasEnded(turn)) continue;
      if (this.#waitMs(turn) > 0) break;
      this.#turns.delete(key);
    }
  }
}

function keyOf({ tenantId, name }: CheckedDomain): string {
  return `${tenantId} ${name}`;
}

function zoneKeyOf({ tenantId, name }: CheckedDomain): string {
  return `${tenantId} ${zoneOf(name)}`;
}

function hasEnded<T>(turn: Turn<T>): turn is Turn<T> & { state: { endedAt: number } } {
  return typeof turn.state === 'object';
}

/** Does not keep the daemon from ending. */
function unrefPause(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}

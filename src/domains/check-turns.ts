// Verifications of one domain take turns: one at a time, and some seconds apart, since each asks servers that the
// domain's owner has chosen. Who calls while one runs gets its result; who calls soon after it waits, and
// shares the next one with everybody else who waits. Each daemon keeps its own turns.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, SECOND_MS } from '../base/clock.ts';

export interface CheckTurnsKit {
  clock: Clock;
  /** From the end of one to the beginning of the next. */
  gapMs?: number;
  /** Of its own in tests. */
  pause?: (ms: number) => Promise<unknown>;
}

interface Turn<T> {
  /** Set when it has ended; null while it waits or runs. */
  endedAt: number | null;
  result: Promise<T>;
}

const GAP_MS = 10 * SECOND_MS;

export class CheckTurns<T> {
  readonly #clock: Clock;
  readonly #gapMs: number;
  readonly #pause: (ms: number) => Promise<unknown>;
  /** The last turn of each domain, oldest first. */
  readonly #turns = new Map<string, Turn<T>>();

  constructor({ clock, gapMs = GAP_MS, pause = unrefPause }: CheckTurnsKit) {
    this.#clock = clock;
    this.#gapMs = gapMs;
    this.#pause = pause;
  }

  /** Waits for its turn, at most the gap. */
  take(domainId: string, check: () => Promise<T>): Promise<T> {
    this.#forget();
    const last = this.#turns.get(domainId);
    if (last && last.endedAt === null) return last.result;
    return this.#begin(domainId, this.#waitMs(last), check);
  }

  /** Null: it is not its turn yet. */
  takeNow(domainId: string, check: () => Promise<T>): Promise<T> | null {
    this.#forget();
    const last = this.#turns.get(domainId);
    if (last && last.endedAt === null) return last.result;
    return this.#waitMs(last) > 0 ? null : this.#begin(domainId, 0, check);
  }

  #begin(domainId: string, waitMs: number, check: () => Promise<T>): Promise<T> {
    const run = async () => {
      if (waitMs > 0) await this.#pause(waitMs);
      return check();
    };
    const turn: Turn<T> = { endedAt: null, result: run() };
    this.#put(domainId, turn);
    const end = () => {
      turn.endedAt = this.#clock.now();
      this.#put(domainId, turn);
    };
    turn.result.then(end, end);
    return turn.result;
  }

  #waitMs(last: Turn<T> | undefined): number {
    if (!last || last.endedAt === null) return 0;
    // A clock that was set back makes nobody wait longer than the gap.
    return Math.min(this.#gapMs, last.endedAt + this.#gapMs - this.#clock.now());
  }

  #put(domainId: string, turn: Turn<T>): void {
    this.#turns.delete(domainId);
    this.#turns.set(domainId, turn);
  }

  #forget(): void {
    for (const [id, turn] of this.#turns) {
      if (turn.endedAt === null) continue;
      if (this.#waitMs(turn) > 0) break;
      this.#turns.delete(id);
    }
  }
}

/** Keeps no daemon from ending. */
function unrefPause(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}

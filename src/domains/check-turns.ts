// Verifications of one domain take turns: one at a time, and some seconds apart, since each asks servers that the
// domain's owner has chosen. A call gets the result of a check that began after it, or of an earlier one that says
// all is well: whoever has just published a record is never told what was true before. Calls that wait for the
// same turn share it. Each daemon keeps its own turns.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, SECOND_MS } from '../base/clock.ts';

export interface CheckTurnsKit<T> {
  clock: Clock;
  /** Whether a result also serves calls that came while its check was running. */
  isGood(result: T): boolean;
  /** From the end of one to the beginning of the next. */
  gapMs?: number;
  /** Of its own in tests. */
  pause?: (ms: number) => Promise<unknown>;
}

/** A turn waits, runs, and has ended. */
interface Turn<T> {
  state: 'waiting' | 'running' | { endedAt: number };
  result: Promise<T>;
}

const GAP_MS = 10 * SECOND_MS;

export class CheckTurns<T> {
  readonly #clock: Clock;
  readonly #isGood: (result: T) => boolean;
  readonly #gapMs: number;
  readonly #pause: (ms: number) => Promise<unknown>;
  /** The last turn of each domain, those that ended first in front. */
  readonly #turns = new Map<string, Turn<T>>();

  constructor({ clock, isGood, gapMs = GAP_MS, pause = unrefPause }: CheckTurnsKit<T>) {
    this.#clock = clock;
    this.#isGood = isGood;
    this.#gapMs = gapMs;
    this.#pause = pause;
  }

  /** Waits for a turn: at most for the check that runs, and the gap behind it. */
  take(domainId: string, check: () => Promise<T>): Promise<T> {
    this.#forget();
    const last = this.#turns.get(domainId);
    if (last?.state === 'waiting') return last.result;
    return this.#begin(domainId, async (turn) => {
      const earlier = last?.state === 'running' ? await last.result.catch(() => null) : null;
      if (earlier !== null && this.#isGood(earlier)) return earlier;
      const waitMs = this.#waitMs(last);
      if (waitMs > 0) await this.#pause(waitMs);
      turn.state = 'running';
      return check();
    });
  }

  /** For looks that nobody waits for. Null: it is not the domain's turn yet. */
  takeNow(domainId: string, check: () => Promise<T>): Promise<T> | null {
    this.#forget();
    const last = this.#turns.get(domainId);
    if (last && !hasEnded(last)) return last.result;
    return this.#waitMs(last) > 0 ? null : this.take(domainId, check);
  }

  #begin(domainId: string, run: (turn: Turn<T>) => Promise<T>): Promise<T> {
    const turn = { state: 'waiting' } as Turn<T>;
    turn.result = run(turn);
    this.#put(domainId, turn);
    const end = () => {
      turn.state = { endedAt: this.#clock.now() };
      // Another turn may have got in line behind it.
      if (this.#turns.get(domainId) === turn) this.#put(domainId, turn);
    };
    turn.result.then(end, end);
    return turn.result;
  }

  #waitMs(last: Turn<T> | undefined): number {
    if (!last || !hasEnded(last)) return 0;
    // A clock that was set back makes nobody wait longer than the gap.
    return Math.min(this.#gapMs, last.state.endedAt + this.#gapMs - this.#clock.now());
  }

  #put(domainId: string, turn: Turn<T>): void {
    this.#turns.delete(domainId);
    this.#turns.set(domainId, turn);
  }

  #forget(): void {
    for (const [id, turn] of this.#turns) {
      if (!hasEnded(turn)) continue;
      if (this.#waitMs(turn) > 0) break;
      this.#turns.delete(id);
    }
  }
}

function hasEnded<T>(turn: Turn<T>): turn is Turn<T> & { state: { endedAt: number } } {
  return typeof turn.state === 'object';
}

/** Keeps no daemon from ending. */
function unrefPause(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false });
}

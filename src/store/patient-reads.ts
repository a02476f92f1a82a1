// Reads of couriers while the database is away: tried again for a while, since what they ask for is there once it is back.
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../base/clock.ts';
import { describeError, Unavailable } from '../base/errors.ts';

const READ_AGAIN_MS = SECOND_MS;

export interface Patience {
  /** After that, what was to be sent goes back to the queue. */
  readForMs: number;
  /** The database or the way to it, and not what was asked. */
  isAway(error: unknown): boolean;
}

export class PatientReads {
  readonly #patience: Patience;
  #closed = false;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  /** Rejects with `Unavailable` when it takes too long. */
  async answer<T>(read: () => Promise<T>): Promise<T> {
    const { readForMs, isAway } = this.#patience;
    for (const until = performance.now() + readForMs; ; await pause(READ_AGAIN_MS)) {
      try {
        return await read();
      } catch (error) {
        if (this.#closed || !isAway(error)) throw error;
        if (performance.now() >= until) throw new Unavailable(describeError(error), { cause: error });
      }
    }
  }

  close(): void {
    this.#closed = true;
  }
}

/** In place of a message that could not be read. */
export function instead(error: unknown): { kind: 'unavailable' | 'unreadable'; reason: string } {
  const kind = error instanceof Unavailable ? 'unavailable' : 'unreadable';
  return { kind, reason: `the stored message cannot be read: ${describeError(error)}` };
}

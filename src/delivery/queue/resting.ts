// Looks at the whole queue that are repeated without need, as a safety net. Each steps over the rows of messages that have been
// sent since the last vacuum, and on PostgreSQL a transaction that is open for hours keeps those of all that time: such looks
// must not become most of what the server does.
import { MINUTE_MS } from '../../base/clock.ts';

const REST_PER_WORK = 50;
/** What the net is for may have happened. */
const LONGEST_REST_MS = 10 * MINUTE_MS;

/** After each time it rests for so many times as long; after one that failed, because the store was away, for as long. */
export class Resting {
  readonly #monotonicMs: () => number;
  #until = Number.NEGATIVE_INFINITY;
  #isWorking = false;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  async unlessItRests(work: () => Promise<void>): Promise<void> {
    const startedAt = this.#monotonicMs();
    if (this.#isWorking || startedAt < this.#until) return;
    this.#isWorking = true;
    let times = 1;
    try {
      await work();
      times = REST_PER_WORK;
    } finally {
      const endedAt = this.#monotonicMs();
      this.#until = endedAt + Math.min(times * (endedAt - startedAt), LONGEST_REST_MS);
      this.#isWorking = false;
    }
  }
}

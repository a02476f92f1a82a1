// Looks at the whole queue that are repeated without need, as a safety net. Each steps over the rows of messages that have been
// sent since the last vacuum, and on PostgreSQL a transaction that is open for hours keeps those of all that time: such looks
// must not become most of what the server does.

const REST_PER_WORK = 50;

/** After each time it rests for so many times as long. */
export class Resting {
  readonly #monotonicMs: () => number;
  #until = Number.NEGATIVE_INFINITY;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  async unlessItRests(work: () => Promise<void>): Promise<void> {
    const startedAt = this.#monotonicMs();
    if (startedAt < this.#until) return;
    await work().finally(() => {
      const endedAt = this.#monotonicMs();
      this.#until = endedAt + REST_PER_WORK * (endedAt - startedAt);
    });
  }
}

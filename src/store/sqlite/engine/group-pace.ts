// How soon one group of verbs may follow another. A commit costs the same whether it carries one verb or fifty, and
// while delivery runs at full speed its results would make the thread commit all the time, at the expense of signing,
// while mail waits for the couriers anyway. So groups then keep a distance, by a token bucket. Calls while little is
// delivered never wait, nor do single messages.

/** Between two groups; a 202 under load takes longer by half of it. */
const INTERVAL_MS = 6;
/** So many groups may follow each other at once: a single message takes three. */
const MAX_BURST = 8;
/** Results count as a stream when this many verbs with results came within this time. */
const STREAM_VERBS = 16;
const STREAM_MS = 160;

export class GroupPace {
  /** When the last verbs with results came; `#oldest` is overwritten next. */
  readonly #results = Array<number>(STREAM_VERBS).fill(Number.NEGATIVE_INFINITY);
  #oldest = 0;
  /** Groups that may follow at once, as of `#refilledAt`. */
  #tokens = MAX_BURST;
  #refilledAt = 0;

  resultsCame(now: number): void {
    this.#results[this.#oldest] = now;
    this.#oldest = (this.#oldest + 1) % STREAM_VERBS;
  }

  committed(now: number): void {
    this.#refill(now);
    this.#tokens = Math.max(0, this.#tokens - 1);
  }

  /** How long the next group has to wait; 0: not at all. */
  delayMs(now: number): number {
    if (now - this.#results[this.#oldest]! > STREAM_MS) return 0;
    this.#refill(now);
    return this.#tokens >= 1 ? 0 : (1 - this.#tokens) * INTERVAL_MS;
  }

  #refill(now: number): void {
    this.#tokens = Math.min(MAX_BURST, this.#tokens + (now - this.#refilledAt) / INTERVAL_MS);
    this.#refilledAt = now;
  }
}

// How soon one group of verbs may follow another. A commit costs the same whether it carries one verb or
// fifty, and while delivery runs at full speed its results would have the thread commit all the time, at
// the expense of signing. Nobody gains by it: the mail waits for the couriers. So groups then keep a
// distance. Those who call while little is delivered never wait, nor does mail that comes singly.

/** Between two groups; the wait for a 202 under load grows by half of it. */
const EVERY_MS = 6;
/** So many may follow each other at once: a message alone takes three. */
const MOST_SAVED = 8;
/** Results come in a stream when there were so many verbs with some within so many milliseconds. */
const STREAM_VERBS = 16;
const STREAM_MS = 160;

export class GroupPace {
  /** When the last verbs with results came, the oldest one next to be overwritten. */
  readonly #results = Array<number>(STREAM_VERBS).fill(Number.NEGATIVE_INFINITY);
  #oldest = 0;
  /** Groups that may follow at once, as of `#countedAt`. */
  #saved = MOST_SAVED;
  #countedAt = 0;

  resultsCame(now: number): void {
    this.#results[this.#oldest] = now;
    this.#oldest = (this.#oldest + 1) % STREAM_VERBS;
  }

  committed(now: number): void {
    this.#count(now);
    this.#saved = Math.max(0, this.#saved - 1);
  }

  /** How long the next group has to wait; 0: not at all. */
  delayMs(now: number): number {
    if (now - this.#results[this.#oldest]! > STREAM_MS) return 0;
    this.#count(now);
    return this.#saved >= 1 ? 0 : (1 - this.#saved) * EVERY_MS;
  }

  #count(now: number): void {
    this.#saved = Math.min(MOST_SAVED, this.#saved + (now - this.#countedAt) / EVERY_MS);
    this.#countedAt = now;
  }
}

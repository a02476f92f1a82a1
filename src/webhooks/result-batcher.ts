// Records the results of attempts: many with one verb, the next batch when the last is on disk. Results that the
// database does not accept are kept and written again a second later; if the daemon dies before, their leases expire
// and the events are sent once more with the same IDs.

import { type Clock, MINUTE_MS, SECOND_MS, toTimestamp } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { DeliveryResult } from '../store/webhooks.ts';

export interface ResultBatcherKit {
  store: StoreVerbs<{ webhooks: 'recordDeliveries' }>;
  clock: Clock;
  log: Logger;
  /** The results are on disk. */
  onRecorded(results: DeliveryResult[]): void;
  /** No write is in progress any more. */
  onSettled(): void;
}

/** Limits how long one verb takes. */
const RESULTS_PER_VERB = 200;
const RETRY_AFTER_MS = SECOND_MS;
/** An outage is one matter, however many calls end meanwhile. */
const LOG_EVERY_MS = MINUTE_MS;

export class ResultBatcher {
  readonly #kit: ResultBatcherKit;
  readonly #waiting: DeliveryResult[] = [];
  #writing: Promise<void> | null = null;
  /** Since when nothing could be stored, and when it is tried again. */
  #outage: { since: number; loggedAt: number; retryAt: number } | null = null;

  constructor(kit: ResultBatcherKit) {
    this.#kit = kit;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#writing === null;
  }

  add(result: DeliveryResult): void {
    this.#waiting.push(result);
    if (!this.#outage) void this.flush();
  }

  /** Writes what is left of an outage, once it is time. */
  tick(): void {
    if (!this.#outage || this.#kit.clock.now() >= this.#outage.retryAt) void this.flush();
  }

  /** Settles when everything is written, or writing has failed. */
  flush(): Promise<void> {
    if (this.#waiting.length > 0) {
      this.#writing ??= this.#write().finally(() => {
        this.#writing = null;
        this.#kit.onSettled();
      });
    }
    return this.#writing ?? Promise.resolve();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Results of one turn of the event loop are written together.
      await new Promise<void>((resolve) => setImmediate(resolve));
      const batch = this.#waiting.splice(0, RESULTS_PER_VERB);
      if (!(await this.#writeBatch(batch))) return;
    }
  }

  async #writeBatch(batch: DeliveryResult[]): Promise<boolean> {
    const { store, clock, onRecorded } = this.#kit;
    try {
      await store.webhooks.recordDeliveries(batch, clock.now());
    } catch (error) {
      this.#waiting.unshift(...batch);
      this.#noteOutage(error);
      return false;
    }
    this.#outage = null;
    onRecorded(batch);
    return true;
  }

  #noteOutage(error: unknown): void {
    const { clock, log } = this.#kit;
    const now = clock.now();
    this.#outage ??= { since: now, loggedAt: Number.NEGATIVE_INFINITY, retryAt: now };
    this.#outage.retryAt = now + RETRY_AFTER_MS;
    if (now - this.#outage.loggedAt < LOG_EVERY_MS) return;
    this.#outage.loggedAt = now;
    const what = 'results of webhook deliveries could not be stored; they are kept and tried again every second';
    const facts = { error, results: this.#waiting.length, since: toTimestamp(this.#outage.since) };
    log.error(facts, `${what}: ${describeError(error)}`);
  }
}

// Records the results of attempts: many with one verb, the next batch when the last is on disk. Results that the
// database does not accept are kept and written again; if the daemon dies before, their leases expire and the events
// are sent once more with the same IDs.

import type { Clock } from '../base/clock.ts';
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

export class ResultBatcher {
  readonly #kit: ResultBatcherKit;
  readonly #waiting: DeliveryResult[] = [];
  #writing: Promise<void> | null = null;

  constructor(kit: ResultBatcherKit) {
    this.#kit = kit;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#writing === null;
  }

  add(result: DeliveryResult): void {
    this.#waiting.push(result);
    void this.flush();
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
    const { store, clock, log, onRecorded } = this.#kit;
    try {
      await store.webhooks.recordDeliveries(batch, clock.now());
    } catch (error) {
      this.#waiting.unshift(...batch);
      log.error(
        { error, results: batch.length },
        `results of webhook deliveries could not be stored: ${describeError(error)}`,
      );
      return false;
    }
    onRecorded(batch);
    return true;
  }
}

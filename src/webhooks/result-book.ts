// Writes down how attempts ended: many with one verb, the next when the last is on disk. What the
// database does not take is kept and tried again; should the daemon end before, the lease ends too
// and the event goes out once more under the same id.

import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { DeliveryResult } from '../store/webhooks.ts';

export interface ResultBookKit {
  store: StoreVerbs<{ webhooks: 'recordDeliveries' }>;
  clock: Clock;
  log: Logger;
  /** It is on disk. */
  onRecorded(results: DeliveryResult[]): void;
  /** Nothing is being written any more. */
  onSettled(): void;
}

/** Keeps one verb short. */
const RESULTS_PER_VERB = 200;

export class ResultBook {
  readonly #kit: ResultBookKit;
  readonly #waiting: DeliveryResult[] = [];
  #writing: Promise<void> | null = null;

  constructor(kit: ResultBookKit) {
    this.#kit = kit;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#writing === null;
  }

  add(result: DeliveryResult): void {
    this.#waiting.push(result);
    void this.flush();
  }

  /** Settles when everything is written, or cannot be. */
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
      // What ends in the same turn of the event loop is written together.
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

// The orders of the main thread, as a courier session reads them.
import type { CourierOrder } from './messages.ts';

export class OrderInbox {
  #batches: string[][] = [];
  #ended = false;
  #stopped = false;
  #wake: (() => void) | null = null;
  readonly #aborted = new AbortController();
  readonly #onTaken: () => void;

  constructor(onTaken: () => void) {
    this.#onTaken = onTaken;
  }

  /** Whether the messages that are not on the wire yet shall be given back. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Aborted when what is on the wire shall be cut off, too. */
  get signal(): AbortSignal {
    return this.#aborted.signal;
  }

  take(order: CourierOrder): void {
    if (order.kind === 'batch') this.#batches.push(order.messageIds);
    else this.#ended = true;
    if (order.kind === 'stop' || order.kind === 'abort') this.#stopped = true;
    if (order.kind === 'abort') this.#aborted.abort(order.reason);
    this.#wake?.();
  }

  /** Null when the session is to be closed. */
  async nextBatch(): Promise<string[] | null> {
    while (this.#batches.length === 0 && !this.#ended) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = null;
    }
    const batch = this.#batches.shift() ?? null;
    if (batch) this.#onTaken();
    return batch;
  }
}

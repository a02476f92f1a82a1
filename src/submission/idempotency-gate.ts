// Concurrent calls with the same idempotency key queue up: one runs, the others wait. Once one is
// accepted, all waiting calls get its receipt; after a refusal the next in the queue runs. An empty
// queue uses no memory.

export class IdempotencyGate<Receipt> {
  readonly #queues = new Map<string, ((receipt: Receipt | null) => void)[]>();

  /**
   * The receipt of an earlier call with this key, or null: then the caller runs, and must call `leave`
   * in every case.
   */
  enter(name: string): Promise<Receipt | null> {
    const queue = this.#queues.get(name);
    if (!queue) {
      this.#queues.set(name, []);
      return Promise.resolve(null);
    }
    return new Promise((resolve) => queue.push(resolve));
  }

  /** `receipt` is null when the call was refused or failed. */
  leave(name: string, receipt: Receipt | null): void {
    const queue = this.#queues.get(name) ?? [];
    const next = receipt === null ? queue.shift() : undefined;
    if (next) {
      next(null);
      return;
    }
    this.#queues.delete(name);
    for (const waiting of queue) waiting(receipt);
  }

  /** The number of keys with a call in progress. */
  get size(): number {
    return this.#queues.size;
  }
}

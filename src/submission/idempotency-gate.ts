// Calls that carry the same idempotency key at the same time stand in line: one is worked on,
// the others wait. As soon as one was accepted, all that wait get its receipt; after a refusal
// the next in line is worked on itself. Nothing stays in memory once the line is empty.

export class IdempotencyGate<Receipt> {
  readonly #lines = new Map<string, ((receipt: Receipt | null) => void)[]>();

  /**
   * The receipt of somebody who stood in front, or null: then it is the caller's turn, and the
   * caller must call `leave`, whatever happens.
   */
  enter(name: string): Promise<Receipt | null> {
    const line = this.#lines.get(name);
    if (!line) {
      this.#lines.set(name, []);
      return Promise.resolve(null);
    }
    return new Promise((resolve) => line.push(resolve));
  }

  /** `receipt` is null when the call was refused or failed. */
  leave(name: string, receipt: Receipt | null): void {
    const line = this.#lines.get(name) ?? [];
    const next = receipt === null ? line.shift() : undefined;
    if (next) {
      next(null);
      return;
    }
    this.#lines.delete(name);
    for (const waiting of line) waiting(receipt);
  }

  /** How many keys are being worked on. */
  get size(): number {
    return this.#lines.size;
  }
}

// Counts the requests that are being processed or answered, so that a closing server knows when the last of them is
// done.

export class InFlight {
  #count = 0;
  #onIdle: (() => void) | null = null;

  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count++;
  }

  end(): void {
    this.#count--;
    if (this.#count === 0) this.#onIdle?.();
  }

  /** Resolves when nothing is in flight, at the latest after `graceMs`. */
  idle(graceMs: number): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, graceMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

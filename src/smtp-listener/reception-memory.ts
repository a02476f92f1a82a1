// The bytes of all mails that a listener is receiving, and their limit: large mails are rare, and many at once must not
// exhaust what the daemon has.

export class ReceptionMemory {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /** Memory that `take` counts is released when `work` settles, or before that by a negative number. */
  async hold<T>(work: (take: (bytes: number) => boolean) => Promise<T>): Promise<T> {
    let held = 0;
    const take = (bytes: number) => {
      held += bytes;
      this.#bytes += bytes;
      return !this.isFull;
    };
    try {
      return await work(take);
    } finally {
      this.#bytes -= held;
    }
  }
}

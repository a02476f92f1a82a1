// The limit on all open connections: each session holds one slot. Groups that find none free wait in a
// queue.

/** A group, which opens sessions. */
export interface SlotHolder {
  /** Tries again to get a slot. */
  pump(): void;
}

export class ConnectionSlots {
  readonly #size: number;
  readonly #waiting = new Set<SlotHolder>();
  #free: number;
  #closed = false;
  #onIdle: (() => void) | null = null;

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  /** The number of connections that may be open. */
  get limit(): number {
    return this.#size;
  }

  get open(): number {
    return this.#size - this.#free;
  }

  /** False: none is free, and the holder is pumped when one is. */
  take(holder: SlotHolder): boolean {
    if (this.#closed) return false;
    if (this.#free === 0) {
      this.#waiting.add(holder);
      return false;
    }
    this.#free--;
    return true;
  }

  /** Pumps the holder as soon as a slot is free. */
  waitFor(holder: SlotHolder): void {
    this.#waiting.add(holder);
  }

  release(): void {
    this.#free++;
    if (this.#free === this.#size) this.#onIdle?.();
    for (const holder of this.#waiting) {
      if (this.#free === 0) return;
      this.#waiting.delete(holder);
      holder.pump();
    }
  }

  /** Gives out no more slots. Resolves when all are free. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#free === this.#size) return;
    await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }
}

// The connections that may be open in all: each session holds one of them. Groups that found none
// left stand in a line.

/** Somebody who opens sessions. */
export interface SlotHolder {
  /** Tries again. */
  pump(): void;
}

export class Slots {
  readonly #size: number;
  readonly #starved = new Set<SlotHolder>();
  #free: number;
  #closed = false;
  #onQuiet: (() => void) | null = null;

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  /** How many may be open. */
  get limit(): number {
    return this.#size;
  }

  get open(): number {
    return this.#size - this.#free;
  }

  /** False when none is left: the holder will be pumped later. */
  take(holder: SlotHolder): boolean {
    if (this.#closed) return false;
    if (this.#free === 0) {
      this.#starved.add(holder);
      return false;
    }
    this.#free--;
    return true;
  }

  /** It wants one as soon as there is one. */
  waitFor(holder: SlotHolder): void {
    this.#starved.add(holder);
  }

  release(): void {
    this.#free++;
    if (this.#free === this.#size) this.#onQuiet?.();
    for (const holder of this.#starved) {
      if (this.#free === 0) return;
      this.#starved.delete(holder);
      holder.pump();
    }
  }

  /** None is given away any more. Settles when none is open. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#free === this.#size) return;
    await new Promise<void>((resolve) => (this.#onQuiet = resolve));
  }
}

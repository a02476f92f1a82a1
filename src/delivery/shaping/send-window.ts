// Counts what was sent within the last minute or hour: never too little, at most one slot too much, and
// small enough to be kept for every group and tenant with such a limit.

/** What was sent within a span, and what may be sent under a limit on it. */
export interface SentWithin {
  add(count: number, now: number): void;
  /** What was counted but not sent. */
  takeBack(count: number): void;
  used(now: number): number;
  /** How many may be sent now; none, or less, when the limit is used up. */
  left(limit: number, now: number): number;
  /** When one more may be sent, or it is worth asking again. */
  freeAt(limit: number, now: number): number;
  /** What must survive a restart. */
  toSlots(now: number): [slot: number, count: number][];
}

/** Of this daemon alone. */
export class SendWindow implements SentWithin {
  readonly #slotMs: number;
  readonly #slots: number;
  readonly #counts = new Map<number, number>();

  /** 60 slots: a minute by seconds, an hour by minutes. */
  constructor(spanMs: number, counts: Iterable<[slot: number, count: number]> = [], slots = 60) {
    this.#slotMs = spanMs / slots;
    this.#slots = slots;
    for (const [slot, count] of counts) this.#counts.set(slot, count);
  }

  add(count: number, now: number): void {
    const slot = Math.floor(now / this.#slotMs);
    this.#counts.set(slot, Math.max(0, (this.#counts.get(slot) ?? 0) + count));
    this.#forget(now);
  }

  /** From the latest slots, where it must have been counted. */
  takeBack(count: number): void {
    let left = count;
    for (const slot of [...this.#counts.keys()].sort((a, b) => b - a)) {
      if (left === 0) return;
      const taken = Math.min(left, this.#counts.get(slot)!);
      this.#counts.set(slot, this.#counts.get(slot)! - taken);
      left -= taken;
    }
  }

  used(now: number): number {
    this.#forget(now);
    let sum = 0;
    for (const count of this.#counts.values()) sum += count;
    return sum;
  }

  left(limit: number, now: number): number {
    return limit - this.used(now);
  }

  freeAt(limit: number, now: number): number {
    let used = this.used(now);
    if (used < limit) return now;
    for (const slot of [...this.#counts.keys()].sort((a, b) => a - b)) {
      used -= this.#counts.get(slot)!;
      if (used < limit) return (slot + this.#slots + 1) * this.#slotMs;
    }
    return now;
  }

  toSlots(now: number): [slot: number, count: number][] {
    this.#forget(now);
    return [...this.#counts].filter(([, count]) => count > 0);
  }

  #forget(now: number): void {
    // One slot more than the span: what was sent at the end of a slot is only then a whole span old.
    const oldest = Math.floor(now / this.#slotMs) - this.#slots;
    for (const slot of this.#counts.keys()) if (slot < oldest) this.#counts.delete(slot);
  }
}

// Until when this process may act on what it holds by a lease, in memory that its threads share: a process that was halted
// for longer must not go on where it stopped, and each of its threads finds that out by itself.

const ENDS_AT = 0;
const LOST_AT = 1;
const NEVER = 2n ** 62n;

/** The same in all threads; it stands still for no process. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

export class LeaseEnd {
  readonly memory: SharedArrayBuffer;
  readonly #moments: BigInt64Array;
  readonly #now: () => number;

  /** With the memory of another one it is the same, in another thread. */
  constructor(now: () => number = monotonicMs, memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
    this.#moments = new BigInt64Array(this.memory);
    this.#now = now;
    if (!memory) Atomics.store(this.#moments, ENDS_AT, NEVER);
    if (!memory) Atomics.store(this.#moments, LOST_AT, -NEVER);
  }

  get isOver(): boolean {
    return BigInt(this.#now()) >= Atomics.load(this.#moments, ENDS_AT);
  }

  /** Null: it never ends. */
  get leftMs(): number | null {
    const endsAt = Atomics.load(this.#moments, ENDS_AT);
    return endsAt === NEVER ? null : Math.max(0, Number(endsAt) - this.#now());
  }

  /** From then on it is over, unless this was called again. */
  set(endsAt: number): void {
    Atomics.store(this.#moments, ENDS_AT, BigInt(Math.floor(endsAt)));
  }

  /** Something that it was for is another's: whatever has begun by now must not be completed. */
  noteLoss(): void {
    Atomics.store(this.#moments, LOST_AT, BigInt(this.#now()));
  }

  /** Begins something; the answer says later whether it may be completed. */
  begin(): () => boolean {
    const begunAt = BigInt(this.#now());
    return () => !this.isOver && begunAt > Atomics.load(this.#moments, LOST_AT);
  }
}

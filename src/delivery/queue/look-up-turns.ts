// Which routes are being looked up: only so many at once, so that one tenant's mail to many new domains does not fill the
// queue of the resolver, where other tenants' look-ups would wait behind it. What is known already needs no turn.
import { FairQueue } from '../../base/fair-queue.ts';

/** The resolver has 256 sockets, and most routes need two or four answers at a time. */
const MAX_AT_ONCE = 100;
/** For one tenant while others wait: names whose servers are silent take seconds each. */
const MAX_BESIDE_OTHERS = 50;

export class LookUpTurns {
  readonly #waiting = new FairQueue<() => void>();
  /** Running look-ups by tenant. */
  readonly #running = new Map<string, number>();
  #runningInAll = 0;
  #stopped = false;

  /** Null: it was stopped before its turn. */
  async run<T>(tenantId: string, lookUp: () => Promise<T>): Promise<T | null> {
    if (this.#stopped) return null;
    const { promise: itsTurn, resolve: begin } = Promise.withResolvers<void>();
    this.#waiting.add(tenantId, begin);
    this.#startNext();
    await itsTurn;
    if (this.#stopped) return null;
    try {
      return await lookUp();
    } finally {
      this.#count(tenantId, -1);
      this.#startNext();
    }
  }

  /** Starts nothing more. */
  stop(): void {
    this.#stopped = true;
    for (const begin of this.#waiting.clear()) begin();
  }

  #startNext(): void {
    while (this.#runningInAll < MAX_AT_ONCE) {
      const next = this.#waiting.take((tenantId) => this.#of(tenantId) < MAX_BESIDE_OTHERS) ?? this.#waiting.take();
      if (!next) return;
      this.#count(next.key, 1);
      next.job();
    }
  }

  #of(tenantId: string): number {
    return this.#running.get(tenantId) ?? 0;
  }

  #count(tenantId: string, change: 1 | -1): void {
    this.#runningInAll += change;
    const running = this.#of(tenantId) + change;
    if (running === 0) this.#running.delete(tenantId);
    else this.#running.set(tenantId, running);
  }
}

// Which of the due lanes are being routed: only so many at once, so that one tenant's mail to many new domains does not
// fill the queue of the resolver, where other tenants' look-ups would wait behind it.
import { FairQueue } from '../../base/fair-queue.ts';
import { FewPerTick } from '../../base/per-tick.ts';
import type { Lane } from './lane.ts';

// Some 2 ms: a hundred thousand lanes may become due, or be woken, at once.
const LANES_PER_TURN = 50;
/** The resolver has 256 sockets, and most routes need two or four answers at a time. */
const MAX_AT_ONCE = 100;
/** For one tenant while others wait: names whose servers are silent take seconds each. */
const MAX_BESIDE_OTHERS = 50;

export class RoutingTurns {
  readonly #waiting = new FairQueue<Lane>();
  readonly #starting: FewPerTick<Lane>;
  readonly #running = new Set<Promise<void>>();
  /** Lanes that are starting or running, by tenant. */
  readonly #atOnce = new Map<string, number>();
  #atOnceInAll = 0;

  constructor(route: (lane: Lane) => Promise<void>) {
    this.#starting = new FewPerTick(LANES_PER_TURN, (lane) => {
      const running = route(lane).finally(() => {
        this.#running.delete(running);
        this.#count(lane, -1);
        this.#startNext();
      });
      this.#running.add(running);
    });
  }

  add(lane: Lane): void {
    this.#waiting.add(lane.tenantId, lane);
    this.#startNext();
  }

  /** Starts nothing more. Resolves when nothing is being routed. */
  async stop(): Promise<void> {
    this.#waiting.clear();
    this.#starting.stop();
    await Promise.all(this.#running);
  }

  #startNext(): void {
    while (this.#atOnceInAll < MAX_AT_ONCE) {
      const next = this.#waiting.take((tenantId) => this.#of(tenantId) < MAX_BESIDE_OTHERS) ?? this.#waiting.take();
      if (!next) return;
      this.#count(next.job, 1);
      this.#starting.add(next.job);
    }
  }

  #of(tenantId: string): number {
    return this.#atOnce.get(tenantId) ?? 0;
  }

  #count({ tenantId }: Lane, change: 1 | -1): void {
    this.#atOnceInAll += change;
    const atOnce = this.#of(tenantId) + change;
    if (atOnce === 0) this.#atOnce.delete(tenantId);
    else this.#atOnce.set(tenantId, atOnce);
  }
}

// Which endpoint is next: endpoints in the order in which they came, one call each before the first has a second.
// Slots are limited, and some are reserved for endpoints that are known to be quick: however many others hang for
// 15 s, those never wait for them.
import type { EndpointQueue } from './endpoint-queue.ts';

/** For endpoints that are unknown, slow or failing. Each takes a socket and some KiB. */
const SLOTS_FOR_ALL = 768;
const SLOTS_FOR_QUICK = 256;

export interface CallSlot {
  free(): void;
}

export interface Turn {
  queue: EndpointQueue;
  /** Takes a slot for a call. */
  take(): CallSlot;
}

interface SlotPool {
  readonly queues: Set<EndpointQueue>;
  free: number;
}

export class EndpointRotation {
  readonly #quick: SlotPool;
  readonly #others: SlotPool;

  constructor(slots = { forAll: SLOTS_FOR_ALL, forQuick: SLOTS_FOR_QUICK }) {
    this.#quick = { queues: new Set(), free: slots.forQuick };
    this.#others = { queues: new Set(), free: slots.forAll };
  }

  /** Endpoints that could have a turn now. */
  get size(): number {
    return [this.#quick, this.#others].reduce((sum, { queues, free }) => sum + (free > 0 ? queues.size : 0), 0);
  }

  /** Adds it at the end, unless it waits already. */
  add(queue: EndpointQueue): void {
    const [pool, other] = queue.isQuick ? [this.#quick, this.#others] : [this.#others, this.#quick];
    other.queues.delete(queue);
    pool.queues.add(queue);
  }

  remove(queue: EndpointQueue): void {
    this.#quick.queues.delete(queue);
    this.#others.queues.delete(queue);
  }

  /** The next endpoint for which there is a slot; it leaves the rotation. */
  next(): Turn | null {
    for (const pool of [this.#quick, this.#others]) {
      const [queue] = pool.free > 0 ? pool.queues : [];
      if (!queue) continue;
      pool.queues.delete(queue);
      return { queue, take: () => occupy(pool) };
    }
    return null;
  }
}

function occupy(pool: SlotPool): CallSlot {
  pool.free--;
  return {
    free() {
      pool.free++;
    },
  };
}

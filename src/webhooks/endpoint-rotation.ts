// Which endpoint is next: endpoints in the order in which they came, one call each before the first has a second.
// Slots are limited, and some are reserved for endpoints that are known to be quick: however many others hang for
// 15 s, those never wait for them. What was quick may hang, too, so one tenant's endpoints get only a share of the slots.
import type { EndpointQueue } from './endpoint-queue.ts';

/** For endpoints that are unknown, slow or failing; quick ones may use what is left. Each takes a socket and some KiB. */
const SLOTS_FOR_ALL = 768;
const SLOTS_FOR_QUICK = 256;
/** Of either kind. Enough for a single tenant: 64 slots for calls of 50 ms are more than a thousand calls per second. */
const SHARE_OF_TENANT = 1 / 4;

export interface CallSlots {
  forAll: number;
  forQuick: number;
}

export interface CallSlot {
  free(): void;
}

export interface Turn {
  queue: EndpointQueue;
  /** Takes a slot for a call. */
  take(): CallSlot;
}

class SlotPool {
  readonly queues = new Set<EndpointQueue>();
  #free: number;
  readonly #maxPerTenant: number;
  readonly #heldByTenant = new Map<string, number>();

  constructor(slots: number) {
    this.#free = slots;
    this.#maxPerTenant = Math.ceil(slots * SHARE_OF_TENANT);
  }

  firstThatFits(queues: Iterable<EndpointQueue>): EndpointQueue | null {
    if (this.#free === 0) return null;
    for (const queue of queues) if (this.#heldBy(queue.tenantId) < this.#maxPerTenant) return queue;
    return null;
  }

  occupy({ tenantId }: EndpointQueue): CallSlot {
    this.#free--;
    this.#heldByTenant.set(tenantId, this.#heldBy(tenantId) + 1);
    return {
      free: () => {
        this.#free++;
        const held = this.#heldBy(tenantId) - 1;
        if (held > 0) this.#heldByTenant.set(tenantId, held);
        else this.#heldByTenant.delete(tenantId);
      },
    };
  }

  #heldBy(tenantId: string): number {
    return this.#heldByTenant.get(tenantId) ?? 0;
  }
}

export class EndpointRotation {
  readonly #quick: SlotPool;
  readonly #others: SlotPool;

  constructor(slots: CallSlots = { forAll: SLOTS_FOR_ALL, forQuick: SLOTS_FOR_QUICK }) {
    this.#quick = new SlotPool(slots.forQuick);
    this.#others = new SlotPool(slots.forAll);
  }

  /** Endpoints that wait for a turn. */
  get size(): number {
    return this.#quick.queues.size + this.#others.queues.size;
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
    const [quick, others] = [this.#quick, this.#others];
    return turnIn(quick, quick) ?? turnIn(others, others) ?? turnIn(quick, others);
  }
}

function turnIn({ queues }: SlotPool, pool: SlotPool): Turn | null {
  const queue = pool.firstThatFits(queues);
  if (queue === null) return null;
  queues.delete(queue);
  return { queue, take: () => pool.occupy(queue) };
}

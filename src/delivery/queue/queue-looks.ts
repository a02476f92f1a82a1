// What is due in this node's slots, read for the scheduler. What the store could not say is asked for again soon: those who
// told of mail there do so only once.
import { SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { Ownership } from '../../store/ownership.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import { Resting } from './resting.ts';

const AGAIN_AFTER_MS = SECOND_MS;

export interface QueueLooksKit {
  store: StoreVerbs<{ queue: 'dueLanes' }>;
  ownership: Ownership;
  monotonicMs(): number;
  log: Logger;
  found(lanes: LaneNotice[]): void;
}

export class QueueLooks {
  readonly #kit: QueueLooksKit;
  readonly #regular: Resting;
  /** Slots that could not be read. */
  readonly #unread = new Set<number>();
  #again: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(kit: QueueLooksKit) {
    this.#kit = kit;
    this.#regular = new Resting(kit.monotonicMs);
  }

  /** In all of its slots, where nothing has told of mail. */
  inCase(): Promise<void> {
    return this.#regular.unlessItRests(() => this.at(this.#kit.ownership.slots));
  }

  /** In those of the slots that are this node's. */
  async at(slots: readonly number[]): Promise<void> {
    const { store, ownership, monotonicMs, log, found } = this.#kit;
    const startedAt = monotonicMs();
    const own = slots.filter((slot) => ownership.of(slot) !== null);
    if (own.length === 0 || this.#stopped) return;
    try {
      found(await store.queue.dueLanes(own));
    } catch (error) {
      log.error({ error }, `the queue could not be read: ${describeError(error)}`);
      for (const slot of own) this.#unread.add(slot);
      if (!this.#stopped)
        this.#again ??= setTimeout(() => this.#readAgain(), AGAIN_AFTER_MS + monotonicMs() - startedAt);
    }
  }

  stop(): void {
    this.#stopped = true;
    if (this.#again) clearTimeout(this.#again);
  }

  #readAgain(): void {
    this.#again = null;
    const slots = [...this.#unread];
    this.#unread.clear();
    void this.at(slots);
  }
}

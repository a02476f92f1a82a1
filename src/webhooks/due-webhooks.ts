// Which webhooks have deliveries that are due, now or later: asked page by page, since there may be very many; once a minute,
// in case a notice was lost, and soon again when the store could not say.
import type { Clock } from '../base/clock.ts';
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import type { Ownership } from '../store/ownership.ts';
import type { StoreVerbs } from '../store/store.ts';

const PAGE = 1000;
export const LOOK_EVERY_MS = MINUTE_MS;
const AGAIN_AFTER_MS = SECOND_MS;

export interface DueWebhooksKit {
  store: StoreVerbs<{ webhooks: 'dueWebhooks' }>;
  ownership: Ownership;
  clock: Clock;
  log: Logger;
  found(webhookId: string, dueAt: number): void;
}

export class DueWebhooks {
  readonly #kit: DueWebhooksKit;
  #nextLookAt = 0;
  #stopped = false;

  constructor(kit: DueWebhooksKit) {
    this.#kit = kit;
  }

  async look(): Promise<void> {
    const { store, ownership, clock, found } = this.#kit;
    this.#nextLookAt = clock.now() + LOOK_EVERY_MS;
    for (let after: string | null = null; !this.#stopped; ) {
      const page = await store.webhooks.dueWebhooks(ownership.slots, after, PAGE);
      for (const { webhookId, dueAt } of page.found) found(webhookId, dueAt);
      if (page.last === null) return;
      after = page.last;
    }
  }

  lookOrLog(): void {
    const { clock, log } = this.#kit;
    this.look().catch((error: unknown) => {
      log.error({ error }, `due webhook deliveries could not be read: ${describeError(error)}`);
      this.#nextLookAt = clock.now() + AGAIN_AFTER_MS;
    });
  }

  tick(now: number): void {
    if (now >= this.#nextLookAt) this.lookOrLog();
  }

  stop(): void {
    this.#stopped = true;
  }
}

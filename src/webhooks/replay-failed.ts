// Replays everything that has failed for a webhook since a time: for the command line and the portal.

import type { Clock } from '../base/clock.ts';
import type { StoreVerbs } from '../store/store.ts';

/** Limits how long one verb takes, so that the daemon's other verbs don't wait. */
const REPLAYS_PER_VERB = 500;

export interface ReplayKit {
  store: StoreVerbs<{ webhooks: 'replayFailed' }>;
  clock: Clock;
}

/** Returns how many are due now. */
export async function replayFailedSince(
  { store, clock }: ReplayKit,
  tenantId: string,
  { webhookId, since }: { webhookId: string; since: number },
): Promise<number> {
  let replayed = 0;
  for (;;) {
    const target = { webhookId, since, limit: REPLAYS_PER_VERB };
    const count = await store.webhooks.replayFailed(tenantId, target, clock.now());
    replayed += count;
    if (count < REPLAYS_PER_VERB) return replayed;
  }
}

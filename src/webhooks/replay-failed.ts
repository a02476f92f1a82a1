// Sends everything once more that a webhook was given up for since a time: by the command line and the
// portal alike.

import type { Clock } from '../base/clock.ts';
import type { StoreVerbs } from '../store/store.ts';

/** One verb each: the daemon has other things to do meanwhile. */
const REPLAYED_PER_VERB = 500;

export interface ReplayKit {
  store: StoreVerbs<{ webhooks: 'replayFailed' }>;
  clock: Clock;
}

/** Says how many are due now. */
export async function replayFailedSince(
  { store, clock }: ReplayKit,
  tenantId: string,
  { webhookId, since }: { webhookId: string; since: number },
): Promise<number> {
  let replayed = 0;
  for (;;) {
    const target = { webhookId, since, limit: REPLAYED_PER_VERB };
    const count = await store.webhooks.replayFailed(tenantId, target, clock.now());
    replayed += count;
    if (count < REPLAYED_PER_VERB) return replayed;
  }
}

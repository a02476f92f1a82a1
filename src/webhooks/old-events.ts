// Erases events whose time is over, with their deliveries, and what deleted webhooks leave behind:
// in small slices, because the one writer has other things to do.
import type { Clock } from '../base/clock.ts';
import type { DeliveryStore } from '../store/webhook-deliveries.ts';

export interface OldEventsKit {
  store: Pick<DeliveryStore, 'forgetEvents' | 'forgetDeletedWebhooks'>;
  clock: Clock;
  keepEventsMs: number;
}

const SLICE = 300;
/** At one run: some millions are caught up with within a day. */
const MOST_SLICES = 1000;

export async function forgetOldEvents({ store, clock, keepEventsMs }: OldEventsKit): Promise<string> {
  let rows = 0;
  for (let count = 0; count < MOST_SLICES; count++) {
    const erased = await store.forgetDeletedWebhooks(SLICE);
    if (erased === 0) break;
    rows += erased;
  }
  const before = clock.now() - keepEventsMs;
  let events = 0;
  let afterSeq = 0;
  for (let count = 0; count < MOST_SLICES; count++) {
    const slice = await store.forgetEvents(before, { afterSeq, limit: SLICE });
    if (slice === null) break;
    events += slice.erased;
    afterSeq = slice.lastSeq;
  }
  return `${events} events, ${rows} rows of deleted webhooks erased`;
}

// Erases what deleted webhooks leave behind: in small slices, because the one writer has other
// things to do.
import type { DeliveryStore } from '../store/webhook-deliveries.ts';

const SLICE = 300;
/** At one run: nobody waits for it. */
const MOST_SLICES = 1000;

export async function eraseDeletedWebhooks(store: Pick<DeliveryStore, 'forgetDeletedWebhooks'>): Promise<string> {
  let rows = 0;
  for (let count = 0; count < MOST_SLICES; count++) {
    const erased = await store.forgetDeletedWebhooks(SLICE);
    if (erased === 0) break;
    rows += erased;
  }
  return `${rows} rows erased`;
}

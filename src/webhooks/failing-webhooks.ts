// Tells a tenant's owners of an endpoint that fails: once, after an hour without a success. Nothing
// else follows from it: an endpoint is never switched off.
import { type Clock, HOUR_MS } from '../base/clock.ts';
import type { Logger } from '../observe/log.ts';
import type { DeliveryStore, FailingWebhook } from '../store/webhook-deliveries.ts';
import * as webhookLog from './webhook-log.ts';

/** A night's failure is worth a mail, a restart is not. */
export const TOLD_AFTER_MS = HOUR_MS;

export interface FailingKit {
  store: Pick<DeliveryStore, 'takeFailingWebhooks'>;
  clock: Clock;
  log: Logger;
  /** By mail, or however owners are told. */
  tellOwners?(webhook: FailingWebhook): void;
}

export async function tellOfFailing({ store, clock, log, tellOwners }: FailingKit): Promise<string> {
  const now = clock.now();
  const failing = await store.takeFailingWebhooks(now - TOLD_AFTER_MS, now);
  for (const webhook of failing) {
    webhookLog.failing(log, webhook);
    tellOwners?.(webhook);
  }
  return `${failing.length} told`;
}

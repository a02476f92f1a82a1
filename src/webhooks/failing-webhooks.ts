// Notifies a tenant's owners by mail of an endpoint that fails: once, after an hour without a success. That is all that
// happens: an endpoint is never switched off.

import { type Clock, HOUR_MS, toTimestamp } from '../base/clock.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { FailingWebhook } from '../store/webhooks.ts';
import * as webhookLog from './webhook-log.ts';

/** An outage of an hour is worth a mail, a restart is not. */
const NOTIFY_AFTER_MS = HOUR_MS;

export interface FailingKit {
  store: StoreVerbs<{ webhooks: 'listFailingWebhooks' | 'noteFailureTold'; reputation: 'ownersOf' }>;
  clock: Clock;
  log: Logger;
  /** False: not all mails are queued. Repeated, it queues those that are missing. */
  notify(to: readonly string[], notice: { subject: string; text: string; key: string }): Promise<boolean>;
}

export async function notifyFailing({ store, clock, log, notify }: FailingKit): Promise<string> {
  const now = clock.now();
  const failing = await store.webhooks.listFailingWebhooks(now - NOTIFY_AFTER_MS);
  let told = 0;
  for (const webhook of failing) {
    // Noted behind the mails: after a fault or a crash between, the next run finds the webhook again.
    if (!(await notify(await store.reputation.ownersOf(webhook.tenantId), noticeOf(webhook)))) continue;
    if (!(await store.webhooks.noteFailureTold(webhook, now))) continue;
    webhookLog.failing(log, webhook);
    told++;
  }
  return `${told} told`;
}

function noticeOf({ webhookId, url, failingSince }: FailingWebhook) {
  const since = toTimestamp(failingSince);
  return {
    subject: 'Your webhook has been failing for an hour',
    text: `${url}\nhas accepted no event since ${since}. Each event is retried for about three days; then its delivery fails
and you can replay it. The webhook stays enabled.\n`,
    key: `webhook-failing:${webhookId}:${failingSince}`,
  };
}

// Erases what deleted webhooks leave behind, in small slices, so that other verbs of the writer don't wait.

const SLICE = 300;
/** In one run; the next one continues. */
const MAX_SLICES = 1000;

export async function eraseDeletedWebhooks(store: StoreVerbs<{ webhooks: 'forgetDeletedWebhooks' }>): Promise<string> {
  let rows = 0;
  for (let count = 0; count < MAX_SLICES; count++) {
    const erased = await store.webhooks.forgetDeletedWebhooks(SLICE);
    if (erased === 0) break;
    rows += erased;
  }
  return `${rows} rows erased`;
}

// Contract: what is due at webhooks. Whoever writes an event writes its deliveries with it; a
// dispatcher claims them, which leases them, and records what became of each attempt.
import type { SealedSecret } from '../base/vault.ts';
import type { StoredEvent } from './events.ts';

/** One event on its way to one webhook. */
export interface Delivery {
  webhookId: string;
  eventSeq: number;
  /** The number of the attempt that begins now, in all; fences off results of earlier ones. */
  attempt: number;
  /** The same since the last replay: the place in the retry table. */
  step: number;
  event: StoredEvent;
}

/** What is needed to call a webhook. */
export interface Endpoint {
  tenantId: string;
  target: string;
  /** Those that are still valid, the current one first. */
  secrets: SealedSecret[];
}

export interface ClaimedDeliveries {
  webhookId: string;
  /** Null: the webhook is gone. */
  endpoint: Endpoint | null;
  deliveries: Delivery[];
  /** When the next is due, leases included; null when nothing is. */
  nextDueAt: number | null;
}

export interface DeliveryClaim {
  webhookId: string;
  limit: number;
}

export interface ClaimTerms {
  now: number;
  /** By step, from the first: when a delivery is due again should its attempt vanish. The last holds for all later ones. */
  leaseUntil: readonly number[];
}

/** How an attempt ended, and what follows from it. */
export type DeliveryEnd =
  | { to: 'delivered' }
  | { to: 'due'; dueAt: number }
  /** After the last try. */
  | { to: 'failed' }
  /** Not tried: as if it had not been claimed. */
  | { to: 'released' };

export interface DeliveryResult {
  delivery: Pick<Delivery, 'webhookId' | 'eventSeq' | 'attempt'>;
  end: DeliveryEnd;
  startedAt: number;
  elapsedMs: number;
  status: number | null;
  reason: string;
  answer: string | null;
}

/** A webhook that has been failing for long, and whose tenant was not told yet. */
export interface FailingWebhook {
  webhookId: string;
  tenantId: string;
  url: string;
  failingSince: number;
}

export interface AttemptView {
  webhookId: string;
  eventId: string;
  eventType: string;
  number: number;
  startedAt: number;
  elapsedMs: number;
  status: number | null;
  reason: string;
  answer: string | null;
  nextAt: number | null;
  /** Of the delivery, now. */
  state: 'due' | 'delivered' | 'failed';
}

/** Which attempts at a webhook are listed. */
export interface AttemptFilter {
  webhookId: string;
  eventId: string | null;
  limit: number;
  /** Only the last attempts of deliveries that wait for another, or have failed for good. */
  state?: 'due' | 'failed';
  /** Only attempts that come after this one in the list. Not together with `state`. */
  after?: AttemptName;
}

export interface AttemptName {
  eventId: string;
  number: number;
}

export type ReplayOutcome = 'due' | 'under_way' | 'no_webhook' | 'no_event';

export interface DeliveryStore {
  /** Calls `listener` with the webhooks that got something due, soon after the commit. One listener. */
  watchDeliveries(listener: (webhookIds: string[]) => void): void;
  /** Webhooks for which something is due, now or later, by their ids from `after` on. */
  dueWebhooks(
    after: string | null,
    limit: number,
  ): Promise<{ found: { webhookId: string; dueAt: number }[]; last: string | null }>;
  /** Leases what is due: oldest first for each webhook. */
  claimDeliveries(claims: DeliveryClaim[], terms: ClaimTerms): Promise<ClaimedDeliveries[]>;
  /** Results of attempts whose lease is over, or whose webhook is gone, change nothing. */
  recordDeliveries(results: DeliveryResult[], at: number): Promise<void>;
  /** Webhooks that have been failing since `since` or longer: each once, until one attempt succeeds. */
  takeFailingWebhooks(since: number, at: number): Promise<FailingWebhook[]>;
  /** Makes due what was under way when a daemon ended. */
  recoverDeliveries(at: number): Promise<number>;
  /** Newest first. */
  listWebhookAttempts(tenantId: string, filter: AttemptFilter): Promise<AttemptView[]>;
  /** With the event as it was sent. */
  findWebhookAttempt(
    tenantId: string,
    webhookId: string,
    attempt: AttemptName,
  ): Promise<{ attempt: AttemptView; event: StoredEvent } | null>;
  /** One event of the tenant, whatever became of it before. */
  replayDelivery(tenantId: string, target: { webhookId: string; eventId: string }, at: number): Promise<ReplayOutcome>;
  /** Those that have failed at or after `since`; says how many, at most `limit`. */
  replayFailed(
    tenantId: string,
    target: { webhookId: string; since: number; limit: number },
    at: number,
  ): Promise<number>;
  /** Erases deliveries of deleted webhooks; says how many rows, 0 when there are none left. */
  forgetDeletedWebhooks(limit: number): Promise<number>;
}

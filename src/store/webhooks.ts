// Contract: the endpoints that a tenant's events are sent to, with their signing secrets.
import type { SealedSecret } from '../base/vault.ts';
import type { StoredEvent } from './events.ts';

export interface Webhook {
  id: string;
  tenantId: string;
  /** As the tenant wrote it. */
  url: string;
  /** The URL in its normal form: what is compared and connected to. */
  target: string;
  description: string | null;
  createdAt: number;
}

export interface NewWebhook extends Webhook {
  secret: SealedSecret;
}

/** How a webhook does, for people. */
export interface WebhookHealth extends Webhook {
  /** Since when no attempt has succeeded; null while it works or was never called. */
  failingSince: number | null;
  /** How many wait and how many have failed for good, counted up to a limit. */
  due: number;
  failed: number;
}

/** Counting on would take longer with every event that waits. */
export const COUNTED_AT_MOST = 10_000;

export interface SecretRotation {
  secret: SealedSecret;
  at: number;
  /** Until then the secret before it signs, too. */
  previousUntil: number;
}

export interface WebhookSecret {
  secret: SealedSecret;
  createdAt: number;
  /** Null: the current one. */
  expiresAt: number | null;
}

export interface WebhookStore {
  /** 'exists' when the tenant has the target already; 'too_many' when it has `maxPerTenant` others. */
  createWebhook(webhook: NewWebhook, maxPerTenant: number): Promise<'created' | 'exists' | 'too_many'>;
  getWebhook(tenantId: string, id: string): Promise<Webhook | null>;
  /** Oldest first. */
  listWebhooks(tenantId: string): Promise<Webhook[]>;
  /** Erases its secrets, too, and nothing that is due for it is handed out any more. False when there is none. */
  deleteWebhook(tenantId: string, id: string): Promise<boolean>;
  /** One that was still valid beside the current one ends now. False when there is no such webhook. */
  rotateWebhookSecret(tenantId: string, id: string, rotation: SecretRotation): Promise<boolean>;
  /** For the operator, who names a webhook and not its tenant. */
  ownerOfWebhook(id: string): Promise<string | null>;
  /** Oldest first; of all tenants when null. Counts up to `COUNTED_AT_MOST` when nothing else is said. */
  listWebhookHealth(tenantId: string | null, countedAtMost?: number): Promise<WebhookHealth[]>;
  /** As in the list, for one. */
  getWebhookHealth(tenantId: string, id: string): Promise<WebhookHealth | null>;
  /** Its secrets, the current one first; of those before it the ones that still sign. */
  listWebhookSecrets(tenantId: string, id: string, now: number): Promise<WebhookSecret[]>;
}

// Contract: what is due at webhooks. Whoever writes an event writes its deliveries with it; a
// dispatcher claims them, which leases them, and records what became of each attempt.

/** One event on its way to one webhook. */
export interface WebhookDelivery {
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
  deliveries: WebhookDelivery[];
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
  delivery: Pick<WebhookDelivery, 'webhookId' | 'eventSeq' | 'attempt'>;
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

export interface WebhookDeliveryStore {
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

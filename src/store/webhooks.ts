// Contract: the endpoints that a tenant's events are sent to, with their signing secrets.
import type { SealedSecret } from '../base/vault.ts';
import type { EventFamily, EventType, StoredEvent } from './events.ts';
import type { Owner } from './owners.ts';

/** In PostgreSQL, a row of the index that finds it has at most 2704 bytes, with the tenant's ID. */
export const MAX_TARGET_CHARS = 2600;

export interface Webhook {
  id: string;
  tenantId: string;
  /** As the tenant wrote it. */
  url: string;
  /** The URL in normal form, of at most MAX_TARGET_CHARS: compared and connected to. */
  target: string;
  description: string | null;
  createdAt: number;
  /** Which events it is sent, at least one type or family. Left out: every event. */
  events?: readonly EventChoice[];
}

export type EventChoice = EventType | EventFamily;

/** What is left out stays as it is. */
export interface WebhookChange {
  url?: Pick<Webhook, 'url' | 'target'>;
  description?: string;
  /** Null: every event. */
  events?: readonly EventChoice[] | null;
}

export interface NewWebhook extends Webhook {
  secret: SealedSecret;
  /** Whose owner calls it; left out: the first. */
  slot?: number;
}

/** A webhook with its state, for people. */
export interface WebhookHealth extends Webhook {
  /** Since when all attempts have failed, retries of what failed before its last success aside; null while it works or was never called. */
  failingSince: number | null;
  /** How many deliveries wait and how many have failed for good, counted up to a limit. */
  due: number;
  failed: number;
}

/** Of one webhook, the current one included: each is a signature more in the header of every event. */
export const MAX_SECRETS = 5;

/** Counting further would take longer with every event that waits. */
export const MAX_DELIVERIES_COUNTED = 10_000;

export interface SecretRotation {
  secret: SealedSecret;
  at: number;
  /** Until then the previous secret signs, too. */
  previousUntil: number;
}

export interface WebhookSecret {
  secret: SealedSecret;
  createdAt: number;
  /** Null: the current one. */
  expiresAt: number | null;
}

export interface WebhookStore {
  /** 'exists' when the tenant has the target already; 'too_many' when it has `maxPerTenant` webhooks. */
  createWebhook(webhook: NewWebhook, maxPerTenant: number): Promise<'created' | 'exists' | 'too_many'>;
  /** 'exists' when another webhook of the tenant has the target; null when there is no such webhook. */
  changeWebhook(tenantId: string, id: string, change: WebhookChange): Promise<Webhook | 'exists' | null>;
  getWebhook(tenantId: string, id: string): Promise<Webhook | null>;
  /** Oldest first. */
  listWebhooks(tenantId: string): Promise<Webhook[]>;
  /** Also erases its secrets; its deliveries are not claimed any more. False when there is none. */
  deleteWebhook(tenantId: string, id: string): Promise<boolean>;
  /** Earlier secrets keep their ends; the oldest of more than MAX_SECRETS ends now. False when there is no such webhook. */
  rotateWebhookSecret(tenantId: string, id: string, rotation: SecretRotation): Promise<boolean>;
  /** The tenant's ID, for operators, who name only the webhook. */
  ownerOfWebhook(id: string): Promise<string | null>;
  /** Oldest first; of all tenants when null. Counts up to MAX_DELIVERIES_COUNTED by default. */
  listWebhookHealth(tenantId: string | null, maxCounted?: number): Promise<WebhookHealth[]>;
  /** As in the list, for one. */
  getWebhookHealth(tenantId: string, id: string): Promise<WebhookHealth | null>;
  /** The current secret first, then older ones that still sign. */
  listWebhookSecrets(tenantId: string, id: string, now: number): Promise<WebhookSecret[]>;
}

// Contract: webhook deliveries. The verb that writes an event writes its deliveries with it; a dispatcher
// claims them, which leases them, and records the result of each attempt.

/** One event on its way to one webhook. */
export interface WebhookDelivery {
  webhookId: string;
  eventSeq: number;
  /** The number of the attempt that begins now, over all replays; it fences off late results of earlier ones. */
  attempt: number;
  /** The number since the last replay: the step in the retry table. */
  step: number;
  owner: Owner;
  event: StoredEvent;
}

/** What a call to a webhook needs. */
export interface Endpoint {
  tenantId: string;
  target: string;
  /** Valid secrets, the current one first. */
  secrets: SealedSecret[];
}

export interface ClaimedDeliveries {
  webhookId: string;
  /** Null: the webhook is gone, or nobody who claims owns its slot. */
  endpoint: Endpoint | null;
  deliveries: WebhookDelivery[];
  /** When the next is due, leases included; null when nothing is. */
  nextDueAt: number | null;
}

export interface DeliveryClaim {
  webhookId: string;
  limit: number;
}

export interface LeaseTerms {
  /** The one of a webhook's slot claims for it. */
  owners: readonly Owner[];
  now: number;
  /** By step, from the first: when a delivery is due again if its attempt vanishes. Later steps use the last. */
  leaseUntil: readonly number[];
}

/** The state of a delivery after an attempt. */
export type DeliveryEnd =
  | { to: 'delivered' }
  | { to: 'due'; dueAt: number }
  /** After the last attempt. */
  | { to: 'failed' }
  /** Not attempted: as if it had not been claimed. */
  | { to: 'released' };

export interface DeliveryResult {
  delivery: Pick<WebhookDelivery, 'webhookId' | 'eventSeq' | 'attempt' | 'step' | 'owner'>;
  end: DeliveryEnd;
  startedAt: number;
  elapsedMs: number;
  status: number | null;
  reason: string;
  answer: string | null;
}

/** A webhook that has been failing for long, and whose tenant was not notified yet. */
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
  /** The delivery's current state. */
  state: DeliveryState;
}

/** Which attempts at a webhook are listed. */
export interface AttemptFilter {
  webhookId: string;
  eventId: string | null;
  limit: number;
  /** Only the last attempts of deliveries that wait for a retry, or have failed for good. */
  state?: 'due' | 'failed';
  /** Only attempts after this one in the list. Not together with `state`. */
  after?: AttemptName;
}

export interface AttemptName {
  eventId: string;
  number: number;
}

/** One event on its way to one webhook, for people. */
export interface DeliveryView {
  eventId: string;
  eventType: EventType;
  state: DeliveryState;
  /** Over all replays, one that is in progress included. */
  attempts: number;
  /** When it is attempted next; null: it has ended, or is in progress. */
  dueAt: number | null;
  finishedAt: number | null;
  /** Null: none has ended yet, or its record is lost. */
  lastAttempt: Pick<AttemptView, 'number' | 'startedAt' | 'elapsedMs' | 'status' | 'reason' | 'answer'> | null;
}

export const DELIVERY_STATES = ['due', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliverySearch {
  webhookId: string;
  state: DeliveryState | null;
  /** The position after which the page begins, as an earlier page told it. */
  after: DeliveryPosition | null;
  limit: number;
}

/** Of an event in the order of the list: by time where the list is sorted by time, else 0. */
export interface DeliveryPosition {
  at: number;
  eventId: string;
}

export interface FoundDeliveries {
  deliveries: DeliveryView[];
  /** Null: the end. A page may be short although there is more. */
  next: DeliveryPosition | null;
}

/** How many deliveries one page looks at, where only delivered ones are asked for. */
export const MAX_DELIVERIES_SEARCHED = 2000;

export type ReplayOutcome = 'due' | 'under_way' | 'no_webhook' | 'no_event';

export interface WebhookDeliveryStore {
  /** Webhooks of these slots with deliveries that are due, now or later, by ID, after `after`. */
  dueWebhooks(
    slots: readonly number[],
    after: string | null,
    limit: number,
  ): Promise<{ found: { webhookId: string; dueAt: number }[]; last: string | null }>;
  /** In the order of the IDs, as a claim returns them; null: the webhook is gone. */
  readEndpoints(webhookIds: readonly string[], now: number): Promise<(Endpoint | null)[]>;
  /** Leases due deliveries: oldest first for each webhook. */
  claimDeliveries(claims: DeliveryClaim[], terms: LeaseTerms): Promise<ClaimedDeliveries[]>;
  /**
   * Results of attempts whose lease has expired, whose slot somebody else has taken, or whose webhook is gone change
   * nothing. Returns how many those are.
   */
  recordDeliveries(results: DeliveryResult[], at: number): Promise<number>;
  /** Webhooks that have been failing since `since` or longer, and whose tenants were not told. */
  listFailingWebhooks(since: number): Promise<FailingWebhook[]>;
  /** The tenant was told of this failure; false when it was before, or the failure is over. */
  noteFailureTold(failure: Pick<FailingWebhook, 'webhookId' | 'failingSince'>, at: number): Promise<boolean>;
  /** Newest first. */
  listWebhookAttempts(tenantId: string, filter: AttemptFilter): Promise<AttemptView[]>;
  /** With the event as it was sent. */
  findWebhookAttempt(
    tenantId: string,
    webhookId: string,
    attempt: AttemptName,
  ): Promise<{ attempt: AttemptView; event: StoredEvent } | null>;
  /**
   * Those that have failed: latest failure first; those that are due: next attempt first; else newest event first.
   * 'unknown' when the event of the position does not exist; null when there is no such webhook.
   */
  listWebhookDeliveries(tenantId: string, search: DeliverySearch): Promise<FoundDeliveries | 'unknown' | null>;
  /** Replays one event of the tenant, whatever its state and the webhook's choice of events. */
  replayDelivery(tenantId: string, target: { webhookId: string; eventId: string }, at: number): Promise<ReplayOutcome>;
  /** Replays deliveries that failed at or after `since`; returns how many, at most `limit`. */
  replayFailed(
    tenantId: string,
    target: { webhookId: string; since: number; limit: number },
    at: number,
  ): Promise<number>;
  /** Erases deliveries of deleted webhooks; returns how many rows, 0 when there are none left. */
  forgetDeletedWebhooks(limit: number): Promise<number>;
}

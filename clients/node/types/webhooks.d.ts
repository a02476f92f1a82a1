// Addresses that are told of events, and the check of what they get.

import type { Event } from './events.js';

export interface Webhooks {
  /** The answer's `secret` is shown only here. */
  create(webhook: WebhookContent & { url: string }): Promise<WebhookWithSecret>;
  list(): Promise<Webhook[]>;
  get(id: string): Promise<Webhook>;
  /** What is not given stays as it is, and so does the secret. */
  update(id: string, changes: WebhookContent): Promise<Webhook>;
  delete(id: string): Promise<void>;
  /**
   * Makes a new secret, which is shown only here; for 24 hours the one before signs, too. Retried after a 429 only: after
   * any other error the secret may be a new one, which nobody knows. Rotate it again.
   */
  rotate(id: string): Promise<RotatedWebhook>;
  /** Sends an event of the type `test`, and says what the endpoint answered. */
  test(id: string): Promise<WebhookTest>;
  /** What it was sent or is to be sent. Pass `next` as `after`, with the same `state`, until `hasMore` is false. */
  deliveries(id: string, query?: DeliveryQuery): Promise<DeliveryPage>;
  /** Sends an event again, with the same ID. */
  replay(id: string, eventId: string): Promise<ReplayedDelivery>;
}

/** A type of events, or a family, which is all of its types. */
export type EventChoice = Exclude<Event['type'] | Event['family'], 'test'>;

export interface WebhookContent {
  url?: string | undefined;
  description?: string | undefined;
  /** Empty: every event. */
  events?: EventChoice[] | undefined;
}

export interface Webhook {
  id: string;
  url: string;
  description: string | null;
  createdAt: string;
  /** Null: every event. */
  events: EventChoice[] | null;
}

export interface WebhookWithSecret extends Webhook {
  secret: string;
}

export interface RotatedWebhook extends WebhookWithSecret {
  /** Until then the secret before signs, too. */
  previousUntil: string;
}

export interface WebhookTest {
  /** Whether it answered 2xx. */
  accepted: boolean;
  status: number | null;
  /** The outcome, as a sentence. */
  reason: string;
  /** The first 4 KiB. */
  answer: string | null;
  elapsedMs: number;
}

export type DeliveryState = 'due' | 'delivered' | 'failed';

export interface DeliveryQuery {
  state?: DeliveryState | undefined;
  after?: string | undefined;
  /** 1 to 100; 25 unless given. */
  limit?: number | undefined;
}

export interface DeliveryPage {
  deliveries: WebhookDelivery[];
  hasMore: boolean;
  /** What to pass as `after`; null at the end. */
  next: string | null;
}

/** One event on its way to one webhook. */
export interface WebhookDelivery {
  eventId: string;
  type: string;
  state: DeliveryState;
  /** Over all replays. */
  attempts: number;
  /** Null when it has ended, or is in progress. */
  nextAttemptAt: string | null;
  finishedAt: string | null;
  lastAttempt: WebhookAttempt | null;
}

export interface WebhookAttempt {
  number: number;
  startedAt: string;
  elapsedMs: number;
  status: number | null;
  reason: string;
  answer: string | null;
}

export interface ReplayedDelivery {
  webhookId: string;
  eventId: string;
  state: 'due';
}

/** As servers of Node have them, a Fetch `Headers`, a `Map`. Names in any case. */
export type WebhookHeaders = Record<string, string | string[] | undefined> | { entries(): Iterable<[string, string]> };

/**
 * The event, when its signature and its time are right; throws a WebhookVerificationError otherwise.
 * `payload` is the body as it was received, before any JSON parser.
 */
export declare function verifyWebhook(
  payload: string | ArrayBufferView | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string,
  options?: { toleranceSeconds?: number | undefined },
): Event;

// Addresses that are told of events, and the check of what they get.

import type { Event } from './events.js';

export interface Webhooks {
  /** The answer's `secret` is shown only here. */
  create(webhook: { url: string; description?: string | undefined }): Promise<WebhookWithSecret>;
  list(): Promise<Webhook[]>;
  get(id: string): Promise<Webhook>;
  delete(id: string): Promise<void>;
}

export interface Webhook {
  id: string;
  url: string;
  description: string | null;
  createdAt: string;
}

export interface WebhookWithSecret extends Webhook {
  secret: string;
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

// Contract: the endpoints that a tenant's events are sent to, with their signing secrets.
import type { SealedSecret } from '../base/vault.ts';

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

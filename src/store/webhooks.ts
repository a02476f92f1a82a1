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

export interface WebhookStore {
  /** 'exists' when the tenant has the target already; 'too_many' when it has `maxPerTenant` others. */
  createWebhook(webhook: NewWebhook, maxPerTenant: number): Promise<'created' | 'exists' | 'too_many'>;
  getWebhook(tenantId: string, id: string): Promise<Webhook | null>;
  /** Oldest first. */
  listWebhooks(tenantId: string): Promise<Webhook[]>;
  /** Erases its secrets, too. False when there is none. */
  deleteWebhook(tenantId: string, id: string): Promise<boolean>;
}

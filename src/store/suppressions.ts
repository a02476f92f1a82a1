// Contract: addresses that are not written to: each tenant's own list, and the platform's
// list of mailboxes that do not exist.

export const SUPPRESSION_REASONS = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

export interface Suppression {
  /** Lower case, domain in ASCII. */
  address: string;
  reason: SuppressionReason;
  messageId: string | null;
  createdAt: number;
}

export interface PlatformSuppression {
  address: string;
  /** The group of mail servers that said so. */
  mxGroup: string | null;
  /** What decided, for example `smtp 5.1.1`. */
  rule: string;
  messageId: string | null;
  createdAt: number;
  expiresAt: number;
}

export interface SuppressionStore {
  /** Keeps the first reason when the address is already on the list. */
  addSuppression(tenantId: string, entry: Suppression): Promise<'added' | 'exists'>;
  removeSuppression(tenantId: string, address: string): Promise<boolean>;
  /** Ordered by address, from `after` on. */
  listSuppressions(tenantId: string, page: { after: string | null; limit: number }): Promise<Suppression[]>;
  addPlatformSuppression(entry: PlatformSuppression): Promise<'added' | 'exists'>;
  removePlatformSuppression(address: string): Promise<boolean>;
  listPlatformSuppressions(page: { after: string | null; limit: number }): Promise<PlatformSuppression[]>;
}

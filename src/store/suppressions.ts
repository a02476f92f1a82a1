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
  /** Of a hard bounce: the rule that decided, as in the platform's list. */
  rule?: string;
  /** Of a hard bounce: the group of mail servers that said so, where it is known. */
  mxGroup?: string;
}

/** Hard bounces to be undone: what a group of servers has said since then, or what a rule has decided. */
export type UndoneBounces = { since: number } & (
  | { mxGroup: string }
  /** A `*` at its end stands for any ending. Without `of`: on the platform's list and on tenants'. */
  | { rule: string; of?: 'platform' | { tenantId: string } }
);

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

export interface SuppressionPage {
  /** Behind this address. */
  after: string | null;
  limit: number;
  /** Only addresses that begin so. */
  prefix?: string;
}

export interface SuppressionStore {
  /** Keeps the first reason when the address is already on the list. */
  addSuppression(tenantId: string, entry: Suppression): Promise<'added' | 'exists'>;
  /** As many at once as one verb bears; returns how many were new. */
  importSuppressions(tenantId: string, entries: readonly Suppression[]): Promise<number>;
  /** Tells as well whether the platform's list still holds the address. */
  removeSuppression(
    tenantId: string,
    address: string,
    now: number,
  ): Promise<{ removed: boolean; platform: PlatformSuppression | null }>;
  /** Ordered by address, from `after` on. */
  listSuppressions(tenantId: string, page: SuppressionPage): Promise<Suppression[]>;
  addPlatformSuppression(entry: PlatformSuppression): Promise<'added' | 'exists'>;
  removePlatformSuppression(address: string): Promise<boolean>;
  listPlatformSuppressions(page: SuppressionPage): Promise<PlatformSuppression[]>;
  /**
   * Removes up to `limit` entries of the platform's list, the hard bounces that tenants' lists got for the same
   * addresses since, and up to `limit` more that the group or rule put on tenants' lists alone. Never what a person
   * added, nor what another group has said. Returns how many went.
   */
  undoHardBounces(of: UndoneBounces, limit: number): Promise<{ platform: number; tenants: number }>;
  /** Entries of the platform's list that have expired; returns how many went. */
  forgetExpiredSuppressions(now: number, limit: number): Promise<number>;
}

// Contract: whose word is doubted, and which tenants were stopped: receivers whose hard bounces have
// spiked, and tenants whose last messages bounced or drew complaints too often.

/**
 * Stands among the doubted receivers for all mail that DNS shows no way for: while it does, that mail waits.
 * No MX group and no provider is called so: those of hosts have a dot.
 */
export const NO_ROUTE = 'no-route';

export interface DoubtedReceiver {
  /** Or NO_ROUTE. */
  mxGroup: string;
  since: number;
  /** A sentence. */
  reason: string;
}

/** A tenant's last messages that have ended: how many, and those that count against it. */
export interface JudgedMail {
  messages: number;
  trouble: TroubledMessage[];
}

export interface TroubledMessage {
  recipient: string;
  isHardBounce: boolean;
  /** 0: nobody has complained. */
  complaintWeight: number;
}

export interface ReputationStore {
  /** False when it is doubted already. */
  doubtReceiver(doubt: DoubtedReceiver): Promise<boolean>;
  /** What was doubted until now, or null. */
  trustReceiver(mxGroup: string): Promise<DoubtedReceiver | null>;
  listDoubtedReceivers(): Promise<DoubtedReceiver[]>;

  /** Over the last `window` messages that have ended, but none from before the last stop for review. */
  standingSinceReview(tenantId: string, window: number): Promise<JudgedMail>;
  /** From active to in review; false when the tenant is not active. */
  stopForReview(tenantId: string, review: { at: number; reason: string }): Promise<boolean>;

  /** The last time that it was stopped for review; null: never. */
  reviewOf(tenantId: string): Promise<{ at: number; reason: string } | null>;

  /** Mail addresses of the tenant's owners, for what they have to know. */
  ownersOf(tenantId: string): Promise<string[]>;
}

// Contract: addresses that get no mail: each tenant's own list, and the platform's list of mailboxes that do not
// exist.

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
  /** Of a hard bounce: the MX group that sent it, where it is known. */
  mxGroup?: string;
}

/** Which hard bounces to undo: those that an MX group has caused since a time, or a rule. */
export type UndoneBounces = { since: number } & (
  | { mxGroup: string }
  /** A `*` at its end matches any ending. Without `of`: on the platform's list and on tenants' lists. */
  | { rule: string; of?: 'platform' | { tenantId: string } }
);

export interface PlatformSuppression {
  address: string;
  /** The MX group that caused the entry. */
  mxGroup: string | null;
  /** The rule that decided, for example `smtp 5.1.1`. */
  rule: string;
  messageId: string | null;
  createdAt: number;
  expiresAt: number;
}

export interface SuppressionPage {
  /** Only addresses after this one. */
  after: string | null;
  limit: number;
  /** Only addresses with this prefix. */
  prefix?: string;
}

// Contract: searching a tenant's suppression list.

export interface SuppressionSearch {
  /** Only addresses with this prefix: lower case, domain in ASCII. */
  prefix: string;
  reason: SuppressionReason | null;
  /** Only addresses after this one. */
  after: string | null;
  limit: number;
}

export interface FoundSuppressions {
  /** In alphabetical order. */
  entries: Suppression[];
  /** Where to continue; null: the end. A page may be short although there is more. */
  next: string | null;
}

/** How many entries one page of `searchSuppressions` looks at, where a reason is asked for. */
export const MAX_SUPPRESSIONS_SEARCHED = 2000;

export interface SuppressionStore {
  /**
   * Keeps the first reason when the address is already on the list. Only what a recipient did with a message of ours, to
   * unsubscribe or to complain, replaces a hard bounce; it counts as added.
   */
  addSuppression(tenantId: string, entry: Suppression): Promise<'added' | 'exists'>;
  /** No more entries than one verb should take; returns how many were new. */
  importSuppressions(tenantId: string, entries: readonly Suppression[]): Promise<number>;
  /** Also returns the platform's entry for the address, if there still is one. */
  removeSuppression(
    tenantId: string,
    address: string,
    now: number,
  ): Promise<{ removed: boolean; platform: PlatformSuppression | null }>;
  getSuppression(tenantId: string, address: string): Promise<Suppression | null>;
  /** Why mail of the tenant to this address is refused: its own list first, then the platform's. */
  findReasonAgainst(tenantId: string, address: string, now: number): Promise<SuppressionReason | null>;
  /** Looks at no more than MAX_SUPPRESSIONS_SEARCHED entries, or `limit` if that is more. */
  searchSuppressions(tenantId: string, search: SuppressionSearch): Promise<FoundSuppressions>;
  /** Ordered by address, after `after`. */
  listSuppressions(tenantId: string, page: SuppressionPage): Promise<Suppression[]>;
  /** Replaces an older entry; but a bounce does not replace what an operator added, as long as that holds. */
  addPlatformSuppression(entry: PlatformSuppression): Promise<'added' | 'exists'>;
  removePlatformSuppression(address: string): Promise<boolean>;
  listPlatformSuppressions(page: SuppressionPage): Promise<PlatformSuppression[]>;
  /**
   * Removes up to `limit` entries of the platform's list with the hard bounces that tenants' lists got for the same
   * addresses since, and up to `limit` more that the group or rule put on tenants' lists only. Never removes manual
   * entries, nor those of another group. Returns how many were removed.
   */
  undoHardBounces(of: UndoneBounces, limit: number): Promise<{ platform: number; tenants: number }>;
  /** Erases expired entries of the platform's list; returns how many. */
  forgetExpiredSuppressions(now: number, limit: number): Promise<number>;
}

// Contract: receivers that are doubted because their hard-bounce rate has spiked, and tenants that were stopped
// because their last messages bounced or drew complaints too often.

/**
 * Used as a doubted receiver for all mail without a route in DNS: while it is doubted, that mail waits.
 * It can't be the name of an MX group or provider: names of hosts contain a dot.
 */
export const NO_ROUTE = 'no-route';

export interface DoubtedReceiver {
  /** An MX group, or NO_ROUTE. */
  mxGroup: string;
  since: number;
  /** A sentence. */
  reason: string;
}

/** A tenant's last finished messages: how many, and those that count against it. */
export interface JudgedMail {
  messages: number;
  problems: ProblemMessage[];
}

export interface ProblemMessage {
  recipient: string;
  isHardBounce: boolean;
  /** 0: no complaint. */
  complaintWeight: number;
}

export interface ReputationStore {
  /** False when it is doubted already. */
  doubtReceiver(doubt: DoubtedReceiver): Promise<boolean>;
  /** The doubt that is now lifted, or null. */
  trustReceiver(mxGroup: string): Promise<DoubtedReceiver | null>;
  listDoubtedReceivers(): Promise<DoubtedReceiver[]>;

  /** Over the last `window` finished messages since the last stop for review. */
  resultsSinceReview(tenantId: string, window: number): Promise<JudgedMail>;
  /** From active to in review; false when the tenant is not active. */
  stopForReview(tenantId: string, review: { at: number; reason: string }): Promise<boolean>;

  /** The last stop for review; null: never. */
  reviewOf(tenantId: string): Promise<{ at: number; reason: string } | null>;

  /** Email addresses of the tenant's owners, for notifications. */
  ownersOf(tenantId: string): Promise<string[]>;
}

// Contract: whose word is doubted, and which tenants were stopped: receivers whose hard bounces have
// leapt, and tenants whose last messages bounced or drew complaints too often.
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

// Contract: erasing what has been kept long enough. Every verb works for a few milliseconds and says
// whether there is more; nothing that is not finished is ever touched.

/** Where a walk over finished messages has come to. */
export interface RetentionCursor {
  finishedAt: number;
  messageId: string;
}

export interface ContentWalk {
  /** Whose content: of tenants with a setting of this many days, or (null) of those without one. */
  days: number | null;
  /** Of messages that were finished before. */
  before: number;
  budgetMs: number;
}

export interface RetentionSlice {
  /** Rows looked at. */
  seen: number;
  erased: number;
  more: boolean;
}

export interface RetentionStore {
  /** A content goes when the last message of its submission has been finished for so long. */
  eraseContents(walk: ContentWalk): Promise<RetentionSlice>;
  /** Messages with attempts, events and webhook deliveries; a submission goes with its last message. */
  eraseRecords(before: number, budgetMs: number): Promise<RetentionSlice>;
  /** The settings of tenants that have one, each once. */
  contentDaysInUse(): Promise<number[]>;
  /** Null: as configured. False when there is no such tenant. */
  setContentDays(tenantId: string, days: number | null): Promise<boolean>;
  contentDaysOf(tenantId: string): Promise<number | null>;
  /** What the database file has free inside: new rows take it before the file grows. */
  reusableBytes(): Promise<number>;
}

// Contract: marks that tell where an address may have got mail, for the search by recipient. A search
// is right without them, only slower.

export interface RecipientMarkStore {
  /**
   * Marks the next block of messages behind those that are marked, of which the youngest came before
   * `settledBefore` (what is accepted later comes behind it). False: there is no whole block.
   */
  markRecipients(settledBefore: number): Promise<boolean>;
  /** Marks of messages that are all gone; returns how many marks went, at most `limit`. */
  forgetRecipientMarks(limit: number): Promise<number>;
}

// Contract: erasing data past its retention. Every verb does a slice and says whether there is more: a fixed number of rows,
// or fewer when the budget is over, in a database whose one writer it holds up. Unfinished messages are never touched.

/** The position of a walk over finished messages. */
export interface RetentionCursor {
  finishedAt: number;
  messageId: string;
}

export interface ContentWalk {
  /** Contents of tenants with a setting of this many days, or (null) of those without one. */
  days: number | null;
  /** Only messages that finished before. */
  before: number;
  budgetMs: number;
}

export interface RetentionSlice {
  /** Rows visited. */
  seen: number;
  erased: number;
  more: boolean;
}

export interface RetentionStore {
  /** Erases a content when the last message of its submission finished long enough ago. */
  eraseContents(walk: ContentWalk): Promise<RetentionSlice>;
  /** Messages with attempts, events and webhook deliveries; a submission goes with its last message. */
  eraseRecords(before: number, budgetMs: number): Promise<RetentionSlice>;
  /** The distinct settings of tenants that have one. */
  contentDaysInUse(): Promise<number[]>;
  /** Null: the configured default. False when there is no such tenant. */
  setContentDays(tenantId: string, days: number | null): Promise<boolean>;
  contentDaysOf(tenantId: string): Promise<number | null>;
  /** Free space inside the database file, which new rows use before the file grows. */
  reusableBytes(): Promise<number>;
}

// Contract: marks that say which messages an address may be a recipient of, for the search by recipient. Without them
// a search is only slower.

export interface RecipientMarkStore {
  /**
   * Marks the next block of messages after the marked ones, if its newest was accepted before `settledBefore`, so that
   * no later one can sort into it. Before that, it deletes marks that reach beyond: the clock was ahead. False: there is no
   * whole block.
   */
  markRecipients(settledBefore: number): Promise<boolean>;
  /** Deletes marks of messages that are all erased, at most `limit`; returns how many. */
  forgetRecipientMarks(limit: number): Promise<number>;
}

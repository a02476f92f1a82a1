// Contract: marks that tell where an address may have got mail, for the search by recipient. A search
// is right without them, only slower.

export interface RecipientMarkStore {
  /**
   * Marks the next stretch of messages behind those that are marked, of which the youngest came before
   * `settledBefore` (what is accepted later comes behind it). False: there is no whole stretch.
   */
  markRecipients(settledBefore: number): Promise<boolean>;
  /** Marks of messages that are all gone; returns how many marks went, at most `limit`. */
  forgetRecipientMarks(limit: number): Promise<number>;
}

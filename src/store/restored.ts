// Contract: mail of a restored database. What was unfinished in the backup may have been sent after the backup, so a
// restore holds it, and an operator decides. A held message is parked, with this reason and the time it had.
import type { LaneNotice } from './submissions.ts';

/** Tenants can read it. */
export const HELD_AFTER_RESTORE =
  'held by the operator: the database was restored from a backup, and the message may have been sent since then';

export interface RestoredMailStore {
  /**
   * Holds every unfinished message that can be sent, and lets none of them expire before `notBefore`. Parked messages
   * wait for an operator already. Mail that is accepted later isn't held.
   */
  holdUnfinished(times: { now: number; notBefore: number }): Promise<HeldMail>;
  /** Counts up to `most`: it reads each of them. */
  countHeld(most: number): Promise<number>;
  /** Up to `limit` held messages wait for their time again, or are scheduled again. Left out: of every tenant. */
  releaseHeld(release: { now: number; limit: number; tenantId?: string }): Promise<ReleasedMail>;
}

/** By the state that they had. */
export interface HeldMail {
  scheduled: number;
  queued: number;
  sending: number;
  deferred: number;
}

export interface ReleasedMail {
  messages: number;
  lanes: LaneNotice[];
}

// Contract: messages that nobody would ever come back to: marked as being sent by a session that
// is gone, or in a lane that no longer exists. All of it in small portions.
import type { ClaimedMessage } from './queue.ts';
import type { LaneNotice } from './submissions.ts';

/** A message that is marked as being sent, and in which attempt. */
export interface SendingMark {
  id: string;
  attempt: number;
}

export interface StrayStore {
  /** From behind `after` on, in the order of ids; null: from the beginning. */
  listSending(after: string | null, limit: number): Promise<SendingMark[]>;
  /**
   * Lets messages wait again whose attempt has vanished: at the time that was stored before it
   * began. One that has moved on since is left alone.
   */
  returnStrays(strays: SendingMark[], at: number, reason: string): Promise<LaneNotice[]>;
  /**
   * Looks at up to `limit` lanes that have waiting messages, from behind `after` on, and names those
   * that do not exist or belong to no tenant. `lookedUpTo`: where to go on; null at the end.
   */
  findLostLanes(after: number, limit: number): Promise<{ lanes: number[]; lookedUpTo: number | null }>;
  /** Parks up to `limit` waiting messages of the lane, and returns them. */
  parkLane(lane: number, limit: number, reason: string): Promise<ClaimedMessage[]>;
}

/** Below every lane's number. */
export const BEFORE_ALL_LANES = Number.MIN_SAFE_INTEGER;

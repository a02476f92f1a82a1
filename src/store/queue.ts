// Contract: the queue: what waits, what is being sent, what became of it.
import type { BounceType, PeerFacts } from '../base/outcome.ts';
import type { NewEvent } from './events.ts';
import type { ClaimSource } from './source-addresses.ts';
import type { LaneNotice } from './submissions.ts';

export type MessageState = 'queued' | 'sending' | 'deferred' | 'delivered' | 'bounced' | 'failed';

/** A message that is being sent from now on: what the scheduler must know of it. */
export interface ClaimedMessage {
  id: string;
  tenantId: string;
  submissionId: string;
  lane: number;
  recipient: string;
  from: string;
  fromDomain: string;
  subject: string;
  /** 1 for the first attempt. */
  attempt: number;
  createdAt: number;
  expiresAt: number;
  /** How often its tenant has been told of a delay. */
  notices: number;
  /** From which of our addresses it speaks, in all its attempts; null: the system picks. */
  sourceAddress: string | null;
}

export interface AttemptRecord {
  messageId: string;
  tenantId: string;
  attempt: number;
  startedAt: number;
  outcome: 'delivered' | 'temporary' | 'permanent';
  peer: PeerFacts;
}

/** Where a message goes after an attempt, or when it ends without one. */
export type Transition =
  | { to: 'delivered' }
  | { to: 'deferred'; dueAt: number; reason: string; ambiguous: boolean }
  | { to: 'bounced'; bounce: BounceType; reason: string; suppress: HardBounceNote | null }
  | { to: 'failed'; reason: string }
  /** Cannot be read or composed: waits for a person, stops nobody else. */
  | { to: 'parked'; reason: string };

/** What is written to the tenant's suppression list, and to the platform's. */
export interface HardBounceNote {
  suppressionKey: string;
  mxGroup: string | null;
  rule: string;
  /** Null: for the tenant's list alone, since the evidence is not enough for everybody's. */
  platformExpiresAt: number | null;
  /** For the platform's list a hard bounce of another tenant's message to the address is needed as well. */
  needsSecondTenant?: boolean;
}

export interface MessageUpdate {
  messageId: string;
  tenantId: string;
  at: number;
  attempt: AttemptRecord | null;
  transition: Transition;
  event: NewEvent | null;
}

export interface QueuedMessage {
  id: string;
  tenantId: string;
  submissionId: string;
  recipient: string;
  state: MessageState;
  attempts: number;
  dueAt: number | null;
  expiresAt: number;
  lastReason: string | null;
  ambiguous: boolean;
  parked: boolean;
  /** Null: not tried yet, or the system picked. */
  sourceAddress: string | null;
  createdAt: number;
  finishedAt: number | null;
}

export interface MessageDetail extends QueuedMessage {
  from: string;
  subject: string;
  attemptList: AttemptRecord[];
}

export interface QueueLane extends LaneNotice {
  waiting: number;
}

export interface QueueStore {
  /** Every lane that has something to send, with the time of its next message. */
  dueLanes(): Promise<LaneNotice[]>;
  /**
   * Marks up to `limit` due messages of a lane as being sent, and stores when each would be tried
   * again should this attempt vanish: written before anybody dials. Tenants that are not active
   * give nothing. `nextDueAt` tells when the lane has more, or null.
   */
  claim(
    lane: number,
    limit: number,
    claim: ClaimTimes,
  ): Promise<{ messages: ClaimedMessage[]; nextDueAt: number | null }>;
  /**
   * Gives claimed messages back unattempted (no connection was free after all, shutdown). `putOff`: they
   * are due, and `at` is the end of the pause that keeps them back; should it end early, they are found.
   */
  release(messageIds: string[], at: number, putOff?: boolean): Promise<LaneNotice[]>;
  /** State, attempt, event and suppression of each message, together. */
  record(updates: MessageUpdate[]): Promise<LaneNotice[]>;
  /**
   * Results of an earlier process. Each counts only while its attempt is the last of its message, and has no
   * result yet. Returns how many did.
   */
  recordEarlier(updates: MessageUpdate[]): Promise<number>;
  /** At the start: what a dead process was sending waits again, but for those in `except`. Returns how many. */
  recoverInterrupted(at: number, except?: readonly string[]): Promise<number>;
  /** Messages past their lifetime that are not being sent right now. */
  expired(now: number, limit: number): Promise<ClaimedMessage[]>;

  queueSummary(): Promise<QueueLane[]>;
  listQueue(filter: { tenantId?: string; domain?: string; limit: number }): Promise<QueuedMessage[]>;
  /** Whosever it is: for operators. */
  getMessage(id: string): Promise<MessageDetail | null>;
  /** The tenant's own message. */
  findMessage(tenantId: string, id: string): Promise<MessageDetail | null>;
  /** Due now; a parked message is given another chance. Null when it is finished, unknown or being sent. */
  retryNow(id: string, at: number): Promise<LaneNotice | null>;
  /** Ends a waiting message with the update; false when it is finished, unknown or being sent: then nothing changes. */
  endWaiting(update: MessageUpdate): Promise<boolean>;
  /** What `endWaiting` needs to know of it; null when it is finished, unknown or being sent. */
  findWaiting(id: string): Promise<ClaimedMessage | null>;
}

export interface ClaimTimes {
  now: number;
  /** By attempt, from the first: when the message is due again if it vanishes. The last holds for all later ones. */
  dueAgainAt: readonly number[];
  /** Not given: from whatever address. */
  from?: ClaimSource;
}

// Contract: messages that nobody would ever come back to: marked as being sent by a session that
// is gone, or in a lane that no longer exists. All of it in small portions.

/** A message that is marked as being sent, and in which attempt. */
export interface SendingMark {
  id: string;
  attempt: number;
}

export interface OrphanStore {
  /** From behind `after` on, in the order of ids; null: from the beginning. */
  listSending(after: string | null, limit: number): Promise<SendingMark[]>;
  /**
   * Lets messages wait again whose attempt has vanished: at the time that was stored before it
   * began. One that has moved on since is left alone.
   */
  returnOrphans(orphans: SendingMark[], at: number, reason: string): Promise<LaneNotice[]>;
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

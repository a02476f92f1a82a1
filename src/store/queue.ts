// Contract: the queue: which messages are waiting, being sent or finished.
import type { BounceType, PeerFacts } from '../base/outcome.ts';
import type { NewEvent } from './events.ts';
import type { ClaimSource } from './source-addresses.ts';
import type { CopyKind, Labels, LaneNotice, RejectedRecipient } from './submissions.ts';
import type { SuppressionReason } from './suppressions.ts';

export const MESSAGE_STATES = [
  'scheduled',
  'queued',
  'sending',
  'deferred',
  'delivered',
  'bounced',
  'failed',
  'canceled',
] as const;

export type MessageState = (typeof MESSAGE_STATES)[number];

/** How a message ends for good; one that was delivered may still bounce, as a report tells. */
export const ENDED_STATES: readonly MessageState[] = ['bounced', 'failed', 'canceled'];

/** A message that is being sent from now on, with what the scheduler needs. */
export interface ClaimedMessage {
  id: string;
  tenantId: string;
  submissionId: string;
  lane: number;
  recipient: string;
  from: string;
  fromDomain: string;
  subject: string;
  labels: Labels | null;
  /** 1 for the first attempt. */
  attempt: number;
  createdAt: number;
  /** The time that its call asked for; null: at once. */
  sendAt: number | null;
  expiresAt: number;
  /** How many delay events its tenant got. */
  notices: number;
  /** The source address of all its attempts; null: the system picks. */
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
  /** By its tenant or an operator, before it was sent. */
  | { to: 'canceled'; reason: string }
  /** The message can't be read or composed: it waits for an operator without blocking others. */
  | { to: 'parked'; reason: string };

/** What is written to the tenant's suppression list, and to the platform's. */
export interface HardBounceNote {
  suppressionKey: string;
  mxGroup: string | null;
  rule: string;
  /** Null: for the tenant's list only, since the evidence is too weak for all tenants. */
  platformExpiresAt: number | null;
  /** The platform's list also needs a hard bounce of another tenant's message to the address. */
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
  source: Source;
  from: string;
  subject: string;
  labels: Labels | null;
  attemptList: AttemptRecord[];
}

/** How a submission came in: as a written mail; null: over HTTP. */
type Source = 'smtp' | null;

/** A call as its tenant sees it later. */
export interface SubmissionDetail {
  id: string;
  source: Source;
  createdAt: number;
  /** Null: at once. */
  sendAt: number | null;
  from: string;
  subject: string;
  labels: Labels | null;
  /** In the order of the call. */
  messages: { id: string; recipient: string; copy: CopyKind | null; state: MessageState }[];
  rejected: RejectedRecipient[];
}

export interface QueueLane extends LaneNotice {
  waiting: number;
}

export interface QueueStore {
  /** Every lane with waiting messages, with the time of its next one. */
  dueLanes(): Promise<LaneNotice[]>;
  /**
   * Marks up to `limit` due messages of a lane as being sent, and stores when each is due again if this attempt
   * vanishes: written before any connection is opened. Tenants that are not active give no messages. `nextDueAt` says
   * when the lane has more, or null.
   */
  claim(
    lane: number,
    limit: number,
    claim: ClaimTimes,
  ): Promise<{ messages: ClaimedMessage[]; nextDueAt: number | null }>;
  /**
   * Returns claimed messages without an attempt (no connection was free after all, shutdown). `putOff`: they are
   * due, and `at` is the end of the pause that holds them; if it ends early, they are made due.
   */
  release(messageIds: string[], at: number, putOff?: boolean): Promise<LaneNotice[]>;
  /** State, attempt, event and suppression of each message, in one transaction. */
  record(updates: MessageUpdate[]): Promise<LaneNotice[]>;
  /**
   * Results of an earlier process. Each counts only while its attempt is the last of its message and has no result
   * yet. Returns how many counted.
   */
  recordEarlier(updates: MessageUpdate[]): Promise<number>;
  /** At start: messages that a dead process was sending wait again, except those in `except`. Returns how many. */
  recoverInterrupted(at: number, except?: readonly string[]): Promise<number>;
  /** Messages past their lifetime that are not being sent. */
  expired(now: number, limit: number): Promise<ClaimedMessage[]>;

  queueSummary(): Promise<QueueLane[]>;
  listQueue(filter: { tenantId?: string; domain?: string; limit: number }): Promise<QueuedMessage[]>;
  /** Not scoped to a tenant; operators only. */
  getMessage(id: string): Promise<MessageDetail | null>;
  /** The tenant's own message. */
  findMessage(tenantId: string, id: string): Promise<MessageDetail | null>;
  /** The tenant's own. */
  findSubmission(tenantId: string, id: string): Promise<SubmissionDetail | null>;
  /** Makes the message due now, even a parked one. Null when it is finished, unknown or being sent. */
  retryNow(id: string, at: number): Promise<LaneNotice | null>;
  /** Finishes a waiting message; false, and nothing changes, when it is finished, unknown or being sent. */
  endWaiting(update: MessageUpdate): Promise<boolean>;
  /** What `endWaiting` needs; null when the message is finished, unknown or being sent. */
  findWaiting(id: string): Promise<ClaimedMessage | null>;
}

export interface ClaimTimes {
  now: number;
  /** By attempt, from the first: when the message is due again if the attempt vanishes. Later ones use the last. */
  dueAgainAt: readonly number[];
  /** Left out: from any address. */
  from?: ClaimSource;
}

// Contract: mail for later. It is `scheduled` until its time comes, and then waits like all other mail; nothing of it is
// kept in memory but the time of the next one.

export interface ScheduleStore {
  /** When the next scheduled message is due; null: there is none. */
  nextScheduled(): Promise<number | null>;
  /** Scheduled messages whose time has come, the first ones first. */
  dueScheduled(now: number, limit: number): Promise<ClaimedMessage[]>;
  /**
   * Queues those that are still due, except whose address is on a suppression list by now: they stay scheduled, for the
   * caller to end.
   */
  queueScheduled(due: DueScheduled[], now: number): Promise<{ lanes: LaneNotice[]; suppressed: SuppressedLater[] }>;
  /** Moves what is still scheduled of the tenant's submission; returns how many messages. */
  moveScheduled(tenantId: string, submissionId: string, times: ScheduledTimes): Promise<number>;
  /** What waits of the tenant's submission, scheduled or not. */
  findWaitingOf(tenantId: string, submissionId: string): Promise<ClaimedMessage[]>;
}

export interface DueScheduled {
  id: string;
  tenantId: string;
  suppressionKey: string;
  /** As in NewRecipient. */
  staysUsable?: boolean;
}

export interface SuppressedLater {
  id: string;
  reason: SuppressionReason;
}

export interface ScheduledTimes {
  sendAt: number;
  /** The lifetime counts from `sendAt`. */
  expiresAt: number;
}

// Contract: orphans: messages marked as being sent whose session is gone, and messages in a lane that no
// longer exists. All of it in small batches.

/** A message that is marked as being sent, with the attempt. */
export interface SendingMark {
  id: string;
  attempt: number;
}

export interface OrphanStore {
  /** After `after`, in the order of IDs; null: from the beginning. */
  listSending(after: string | null, limit: number): Promise<SendingMark[]>;
  /**
   * Returns messages whose attempt has vanished to the queue: due at the time that was stored before it began. A
   * message that has moved on since is left alone.
   */
  returnOrphans(orphans: SendingMark[], at: number, reason: string): Promise<LaneNotice[]>;
  /**
   * Checks up to `limit` lanes that have waiting messages, after `after`, and returns those that don't exist or
   * belong to no tenant. `checkedUpTo`: where to continue; null at the end.
   */
  findOrphanLanes(after: number, limit: number): Promise<{ lanes: number[]; checkedUpTo: number | null }>;
  /** Parks up to `limit` waiting messages of the lane and returns them. */
  parkLane(lane: number, limit: number, reason: string): Promise<ClaimedMessage[]>;
}

/** Below every lane's number. */
export const BEFORE_ALL_LANES = Number.MIN_SAFE_INTEGER;

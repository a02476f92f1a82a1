// Contract: the queue: which messages are waiting, being sent or finished.
import type { BounceType, PeerFacts } from '../base/outcome.ts';
import type { NewEvent } from './events.ts';
import type { Claim, Owner } from './owners.ts';
import type { ClaimSource } from './source-addresses.ts';
import type { CopyKind, Labels, LaneNotice, MessageContent, RejectedRecipient } from './submissions.ts';
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

/** A message with what deciding about it needs. */
export interface WaitingMessage {
  id: string;
  tenantId: string;
  submissionId: string;
  lane: number;
  recipient: string;
  from: string;
  fromDomain: string;
  subject: string;
  labels: Labels | null;
  /** The last attempt that was made; 0: none. Of a claimed message the one that begins now. */
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

/** A message that is being sent from now on. */
export interface ClaimedMessage extends WaitingMessage {
  owner: Owner;
  /** Of a message that was claimed when it was accepted: handed over, so that nobody reads it again. */
  content?: MessageContent | undefined;
}

/** What its result, or its return, must name. */
export function claimOf({ owner, attempt }: Pick<ClaimedMessage, 'owner' | 'attempt'>): Claim {
  return { slot: owner.slot, epoch: owner.epoch, attempt };
}

/** A claimed message that was not tried. */
export interface UntriedMessage {
  id: string;
  claim: Claim;
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

/** The result of what was claimed. */
export interface ClaimedUpdate extends MessageUpdate {
  claim: Claim;
}

/** After a claim: which lanes have something due at another time now. */
export interface ClaimsEnded {
  lanes: LaneNotice[];
  /** IDs of messages whose claim was over, since somebody else has taken their slot or returned them: nothing changed. */
  over: string[];
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
  /** Every lane of these slots with waiting messages, with the time of its next one. */
  dueLanes(slots: readonly number[]): Promise<LaneNotice[]>;
  /**
   * Marks up to `limit` due messages of a lane as being sent, and stores when each is due again if this attempt
   * vanishes: written before any connection is opened. Tenants that are not active give no messages.
   */
  claim(lane: number, limit: number, terms: ClaimTerms): Promise<ClaimResult>;
  /**
   * Returns claimed messages without an attempt (no connection was free after all, shutdown). `putOff`: they are
   * due, and `at` is the end of the pause that holds them; if it ends early, they are made due.
   */
  release(messages: UntriedMessage[], at: number, putOff?: boolean): Promise<ClaimsEnded>;
  /** State, attempt, event and suppression of each message, in one transaction. */
  record(updates: ClaimedUpdate[]): Promise<ClaimsEnded>;
  /**
   * Results that come after their claim is over, or of an earlier process. One whose message nobody has begun to send
   * again counts in full; otherwise its attempt is kept for people, and nothing else changes. Returns how many counted.
   */
  recordLate(updates: MessageUpdate[]): Promise<number>;
  /** Messages of these slots past their lifetime that are not being sent. */
  expired(slots: readonly number[], now: number, limit: number): Promise<WaitingMessage[]>;

  queueSummary(): Promise<QueueLane[]>;
  listQueue(filter: { tenantId?: string; domain?: string; group?: string; limit: number }): Promise<QueuedMessage[]>;
  /** Not scoped to a tenant; operators only. */
  getMessage(id: string): Promise<MessageDetail | null>;
  /** The tenant's own message. */
  findMessage(tenantId: string, id: string): Promise<MessageDetail | null>;
  /** The tenant's own. */
  findSubmission(tenantId: string, id: string): Promise<SubmissionDetail | null>;
  /** Makes the message due now, even a parked one; a scheduled one stays scheduled. Null when it is finished, unknown or being sent. */
  retryNow(id: string, at: number): Promise<LaneNotice | null>;
  /** Finishes a waiting message; false, and nothing changes, when it is finished, unknown or being sent. */
  endWaiting(update: MessageUpdate): Promise<boolean>;
  /** What `endWaiting` needs; null when the message is finished, unknown or being sent. */
  findWaiting(id: string): Promise<WaitingMessage | null>;
}

export interface ClaimResult {
  messages: ClaimedMessage[];
  /** When the lane has more; null: it has none. */
  nextDueAt: number | null;
  /** Somebody else has taken the slot: there are no messages. */
  isOver: boolean;
}

export interface ClaimTerms {
  owner: Owner;
  now: number;
  /** By attempt, from the first: when the message is due again if the attempt vanishes. Later ones use the last. */
  dueAgainAt: readonly number[];
  /** Mail that is due earlier is not looked for; left out: all is. */
  dueFrom?: number;
  /** Left out: from any address. */
  from?: ClaimSource;
}

// Contract: mail for later. It is `scheduled` until its time comes, and then waits like all other mail; nothing of it is
// kept in memory but the time of the next one.

export interface ScheduleStore {
  /** When the next scheduled message is due; null: there is none. */
  nextScheduled(): Promise<number | null>;
  /** Scheduled messages whose time has come, the first ones first. */
  dueScheduled(now: number, limit: number): Promise<WaitingMessage[]>;
  /**
   * Queues those that are still due, except whose address is on a suppression list by now: they stay scheduled, for the
   * caller to end.
   */
  queueScheduled(due: DueScheduled[], now: number): Promise<{ lanes: LaneNotice[]; suppressed: SuppressedLater[] }>;
  /** Moves what is still scheduled of the tenant's submission; returns how many messages. */
  moveScheduled(tenantId: string, submissionId: string, times: ScheduledTimes): Promise<number>;
  /** What waits of the tenant's submission, scheduled or not. */
  findWaitingOf(tenantId: string, submissionId: string): Promise<WaitingMessage[]>;
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
  slot: number;
  attempt: number;
}

export interface OrphanStore {
  /** In these slots, after `after`, in the order of IDs; null: from the beginning. */
  listSending(slots: readonly number[], after: string | null, limit: number): Promise<SendingMark[]>;
  /**
   * Returns messages whose attempt has vanished to the queue: due at the time that was stored before it began. A
   * message that has moved on since is left alone.
   */
  returnOrphans(orphans: UntriedMessage[], at: number, reason: string): Promise<LaneNotice[]>;
  /**
   * Checks up to `limit` lanes that have waiting messages, after `after`, and returns those that don't exist or
   * belong to no tenant. `checkedUpTo`: where to continue; null at the end.
   */
  findOrphanLanes(after: number, limit: number): Promise<{ lanes: number[]; checkedUpTo: number | null }>;
  /** Parks up to `limit` waiting messages of the lane and returns them. */
  parkLane(lane: number, limit: number, reason: string): Promise<WaitingMessage[]>;
  /** Messages that can't be sent as they are and wait for an operator; none that one has paused, or that a restore holds. */
  countUnsendable(most: number): Promise<number>;
}

/** Below every lane's number. */
export const BEFORE_ALL_LANES = Number.MIN_SAFE_INTEGER;

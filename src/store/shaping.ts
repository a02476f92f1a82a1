// Contract: what holds mail back besides its own due time, and what operators did about it.
// Operations on many messages run in small batches, so that no verb takes long.
import { DAY_MS } from '../base/clock.ts';
import type { WaitingMessage } from './queue.ts';
import type { LaneNotice } from './submissions.ts';

export const TARGET_KINDS = ['tenant', 'group', 'domain', 'message'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

/** The target of an operator's action. `domain` is the recipients'. */
export interface QueueTarget {
  kind: TargetKind;
  key: string;
}

export interface QueuePause extends QueueTarget {
  by: string;
  note: string;
  at: number;
}

export type OperatorAction = 'pause' | 'resume' | 'retry' | 'cancel';

export interface OperatorNote extends QueuePause {
  action: OperatorAction;
  /** Null where messages were not counted. */
  messages: number | null;
}

/** `domain`: one recipient domain of a hoster whose customers define their own replies. */
export type SuspensionScope = 'group' | 'source' | 'sender_domain' | 'domain';

/** Mail to an MX group is suspended because of a receiver's reply. */
export interface Suspension {
  mxGroup: string;
  scope: SuspensionScope;
  /** Of a sender domain; null otherwise. */
  tenantId: string | null;
  /** Source address, sender domain or recipient domain; empty for the group and for the default address. */
  subject: string;
  rule: string;
  reply: string;
  since: number;
  until: number;
}

/** How many connections a group accepts at present. delivery/shaping/adaptive-limit.ts changes it. */
export interface GroupConcurrency {
  limit: number;
  /** The limit is not raised before this time. */
  riseAt: number;
  /** Failures are not counted again before this time, since they come in bursts. */
  ignoresFailuresUntil: number;
  /** Deliveries since the last change. */
  delivered: number;
  /** Failed connections in a row. */
  failures: number;
  /** No connection is opened before this time; 0: there is no cool-down. */
  coolDownUntil: number;
  /** Why it is below the ceiling. */
  reason: string;
  /** After a connection was refused while others worked: how long the limit was held at its value. */
  calmMs?: number;
}

/** A group's state is forgotten when it has not changed, and nothing was sent there, for so long. */
export const GROUP_MEMORY_MS = DAY_MS;

export interface TenantPace {
  tenantId: string;
  /** Minute since 1970, messages in it. */
  slots: [minute: number, messages: number][];
}

/** What stops mail on every node, and on this one. */
export interface SharedHolds {
  pauses: QueuePause[];
  /** Of source addresses only this node's. */
  suspensions: Suspension[];
}

export interface ShapingSnapshot {
  pauses: QueuePause[];
  suspensions: Suspension[];
  groups: { mxGroup: string; concurrency: GroupConcurrency; at: number }[];
  paces: TenantPace[];
}

export interface ShapingChanges {
  suspensions?: Suspension[];
  /** Null: the group's state can be forgotten, unless another node has changed it after `at`. */
  groups?: { mxGroup: string; concurrency: GroupConcurrency | null; at: number }[];
  paces?: TenantPace[];
}

/** Which MX group mail to a recipient domain was routed to. */
export interface DomainNote {
  domain: string;
  mxGroup: string;
  at: number;
}

/** Whose source addresses it is about: a suspension of one is this node's. Null, or missing: there is no other node. */
type OfNode = string | null;

export interface ShapingStore {
  /** Deletes suspensions that have ended by `now` and states of groups that are old by then, and leaves them out. */
  loadShaping(now: number, node?: OfNode): Promise<ShapingSnapshot>;
  saveShaping(changes: ShapingChanges, node?: OfNode): Promise<void>;
  /** What has not ended by `now`. */
  readHolds(now: number, node?: OfNode): Promise<SharedHolds>;
  /** Ends suspensions, of all nodes, and returns them. */
  liftSuspensions(of: { mxGroup: string } | { tenantId: string } | { domain: string }): Promise<Suspension[]>;

  /** False when it is paused already, or is a message that is finished, unknown or being sent. */
  pauseQueue(pause: QueuePause): Promise<boolean>;
  /** The pause that it ended, with the lane where a message is due again; null when there was none. */
  resumeQueue(target: QueueTarget): Promise<{ pause: QueuePause; lane: LaneNotice | null } | null>;
  findPause(target: QueueTarget): Promise<QueuePause | null>;
  /** Active pauses, newest first. */
  listPauses(limit: number): Promise<QueuePause[]>;
  addOperatorNote(note: OperatorNote): Promise<void>;
  /** Newest first; of all targets, or of one. */
  listOperatorNotes(filter: { target?: QueueTarget; limit: number }): Promise<OperatorNote[]>;

  /** Each of another domain. What was stored at `freshSince` or later, with the same group, is left as it is. */
  noteDomains(notes: readonly DomainNote[], freshSince: number): Promise<void>;
  groupOfDomain(domain: string): Promise<string | null>;
  /** Whether mail has been sent to such a group, or some state of it is stored. */
  isKnownGroup(mxGroup: string): Promise<boolean>;
  /** A page of the lanes that lead to the target; null means the first page, and the end. */
  lanesOf(target: LanesTarget, after: LaneCursor | null, limit: number): Promise<LanePage>;
  /**
   * Makes waiting messages of the lane due now: those that are due later, or (`putOff`) only those that were put off to
   * the end of a pause; parked ones are left out. Returns how many, and the lane when any of it is due now.
   */
  makeLaneDue(lane: number, portion: DueBatch): Promise<{ moved: number; notice: LaneNotice | null }>;
  /** Waiting messages of the lane, including parked ones. */
  waitingOfLane(lane: number, limit: number): Promise<WaitingMessage[]>;
  /** Forgets the MX groups of domains that got no mail since `seenBefore`. Returns how many. */
  forgetDomains(seenBefore: number, limit: number): Promise<number>;
}

export interface DueBatch {
  at: number;
  limit: number;
  /** Only messages that were put off. */
  putOff?: boolean;
}

export type LanesTarget = QueueTarget & { kind: Exclude<TargetKind, 'message'> };

/** Where a page ended; opaque to callers. */
export type LaneCursor = string | number;

export interface LanePage {
  lanes: number[];
  next: LaneCursor | null;
}

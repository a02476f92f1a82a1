// Contract: what holds mail back besides its own due time, and what operators did about it.
// Acting on many messages goes in small portions, so that no verb takes long.
import type { ClaimedMessage } from './queue.ts';
import type { LaneNotice } from './submissions.ts';

export const TARGET_KINDS = ['tenant', 'group', 'domain', 'message'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

/** What an operator acts on. `domain` is the recipients'. */
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
  /** Null where nobody counted. */
  messages: number | null;
}

/** `domain`: one recipient domain of a hoster whose customers write replies themselves. */
export type SuspensionScope = 'group' | 'source' | 'sender_domain' | 'domain';

/** A pause that a receiver's reply called for, towards its MX group. */
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

/** How many connections a group bears now. How it moves is said in delivery/shaping/adaptive-limit.ts. */
export interface GroupConcurrency {
  limit: number;
  /** No rise before this time. */
  riseAt: number;
  /** Bad signs are not counted again before this time: they come in flocks. */
  deafUntil: number;
  /** Deliveries since the last change. */
  delivered: number;
  /** Connections that nobody opened, one after the other. */
  failures: number;
  /** Nobody knocks before this time; 0: there is no cool-down. */
  coolDownUntil: number;
  /** Why it is below what is allowed. */
  reason: string;
  /** Once a connection was refused while others worked: how long the limit then stayed where it was. */
  calmMs?: number;
}

export interface TenantPace {
  tenantId: string;
  /** Minute since 1970, messages in it. */
  slots: [minute: number, messages: number][];
}

export interface ShapingSnapshot {
  pauses: QueuePause[];
  suspensions: Suspension[];
  groups: { mxGroup: string; concurrency: GroupConcurrency }[];
  paces: TenantPace[];
}

export interface ShapingChanges {
  suspensions?: Suspension[];
  /** Null: nothing to remember any more. */
  groups?: { mxGroup: string; concurrency: GroupConcurrency | null; at: number }[];
  paces?: TenantPace[];
  /** Where recipient domains' mail goes. */
  domains?: { domain: string; mxGroup: string; at: number }[];
}

export interface ShapingStore {
  /** Suspensions that are over by `now` are left out, and forgotten. */
  loadShaping(now: number): Promise<ShapingSnapshot>;
  saveShaping(changes: ShapingChanges): Promise<void>;
  /** Ends what receivers called for; returns what it ended. */
  liftSuspensions(of: { mxGroup: string } | { tenantId: string } | { domain: string }): Promise<Suspension[]>;

  /** False when it is paused already, or is a message that is finished, unknown or being sent. */
  pauseQueue(pause: QueuePause): Promise<boolean>;
  /** The pause that it ended, with the lane that a message is due in again; null when there was none. */
  resumeQueue(target: QueueTarget): Promise<{ pause: QueuePause; lane: LaneNotice | null } | null>;
  findPause(target: QueueTarget): Promise<QueuePause | null>;
  /** Those in force, the latest first. */
  listPauses(limit: number): Promise<QueuePause[]>;
  addOperatorNote(note: OperatorNote): Promise<void>;
  /** The latest first; of all targets, or of one. */
  listOperatorNotes(filter: { target?: QueueTarget; limit: number }): Promise<OperatorNote[]>;

  groupOfDomain(domain: string): Promise<string | null>;
  /** Whether mail has gone to such a group, or something is remembered of it. */
  isKnownGroup(mxGroup: string): Promise<boolean>;
  /** A page of the lanes that lead to the target; null begins, and ends. */
  lanesOf(target: LanesTarget, after: LaneCursor | null, limit: number): Promise<LanePage>;
  /**
   * Makes waiting messages of the lane due now that are due later, or only those that were due and put
   * off to the end of a pause; parked ones are left out. Returns how many, and the lane when something
   * of it is due now.
   */
  hastenLane(lane: number, portion: HastenPortion): Promise<{ moved: number; notice: LaneNotice | null }>;
  /** Messages of the lane that wait, parked ones included. */
  waitingOfLane(lane: number, limit: number): Promise<ClaimedMessage[]>;
  /** Forgets where domains' mail went that nobody has written to since. Returns how many. */
  forgetDomains(seenBefore: number, limit: number): Promise<number>;
}

export interface HastenPortion {
  at: number;
  limit: number;
  /** Only these. */
  putOff?: boolean;
}

export type LanesTarget = QueueTarget & { kind: Exclude<TargetKind, 'message'> };

/** Where a page ended: only the store knows what it means. */
export type LaneCursor = string | number;

export interface LanePage {
  lanes: number[];
  next: LaneCursor | null;
}

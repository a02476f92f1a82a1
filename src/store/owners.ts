// Contract: who works on what. All work belongs to slots. A node holds slots, each under an epoch, and works only in
// those: it claims, sends, retries and calls webhooks there. A takeover raises the epoch, so whatever the previous owner
// still has in hand no longer matches, and changes nothing.

import { SECOND_MS } from '../base/clock.ts';

/** A node's hold on a slot. */
export interface Owner {
  slot: number;
  epoch: number;
}

/** What follows a claim names it: the store compares all three, and what does not match changes nothing. */
export interface Claim extends Owner {
  /** The attempt that the claim began. */
  attempt: number;
}

/** Of nodes that share a store: each renews its slots well before, and counts as dead when it has not been heard of since. */
export const NODE_LEASE_MS = 10 * SECOND_MS;

/** How far a node's clock may be from the store's: times of retries and leases are compared across nodes. */
export const CLOCK_WARNS_MS = 0.5 * SECOND_MS;
export const CLOCK_REFUSES_MS = 5 * SECOND_MS;

/** How far the store's clock is ahead, if it was read between the two; negative: behind. As far as that leaves no doubt. */
export function clockAheadMs(theirs: number, { before, after }: { before: number; after: number }): number {
  return theirs > after ? theirs - after : Math.min(0, theirs - before);
}

/** The slot of work for which nobody chose one; every store has it. */
export const FIRST_SLOT = 1;

export interface SlotRequest {
  /** Names a node across its restarts. */
  node: string;
  /** How many slots it wants. */
  slots: number;
  /** Slots that it holds and keeps: it wants others. */
  beside?: readonly number[];
  /** How many of them may be made for it; missing: all. */
  newSlots?: number;
  now: number;
  /** Leases that ended by then are over; missing: \`now\`. */
  endedBy?: number;
  /** Null: the hold lasts until the node's process ends, which only a lock on the database can know. */
  leaseUntil: number | null;
  /** Messages whose results are known but not stored: they stay marked as being sent. */
  spare?: readonly string[];
}

export interface TakenSlots {
  owners: Owner[];
  /** What previous owners had begun and waits again. */
  returned: { messages: number; deliveries: number };
}

/** A daemon among those that share a store. */
export interface NodeNote {
  /** Names it across its restarts. */
  node: string;
  version: string;
  startedAt: number;
}

export interface NodeView extends NodeNote {
  /** When it last renewed its slots. */
  seenAt: number;
  /** It was told to hand its slots over. */
  isDraining: boolean;
}

export interface SlotView extends Owner {
  node: string;
  /** Null: until the process ends. */
  leaseUntil: number | null;
}

export interface KeepRequest extends NodeNote {
  /** What it holds and wants to keep. */
  owners: readonly Owner[];
  now: number;
  leaseUntil: number;
}

export interface LeadRequest {
  name: string;
  /** As in SlotRequest. */
  node: string;
  now: number;
  leaseUntil: number | null;
}

export interface OwnerStore {
  /**
   * Takes the node's own slots back, then slots whose lease is over, then new ones. Each gets a new epoch, and what its
   * previous owner had begun waits again: an interrupted first attempt at once, a later one until the time that was
   * stored before it began, since a message that crashes the daemon must not do so in a loop.
   */
  takeSlots(request: SlotRequest): Promise<TakenSlots>;
  /** Renews the leases of slots and notes that the node lives. Returns those that are another's by now. */
  keepSlots(request: KeepRequest): Promise<Owner[]>;
  /** From now on anybody may take them, and whatever is begun under these epochs is refused. */
  letGoOfSlots(owners: readonly Owner[]): Promise<void>;
  /**
   * The same for one, if it is idle: that is looked at where nothing can begin in between. False: something is on its way,
   * and the slot stays its owner's.
   */
  letGoOfIdleSlot(owner: Owner): Promise<boolean>;
  /** In the order of their numbers. */
  listSlots(): Promise<SlotView[]>;
  /** By name. */
  listNodes(): Promise<NodeView[]>;
  /** False: there is no such node. */
  drainNode(node: string, draining: boolean): Promise<boolean>;
  /** False: there is no such node, it was seen after this time, or it holds a slot until its process ends. */
  forgetNode(node: string, seenBy: number): Promise<boolean>;
  /** Whether nothing that was claimed in the slot is without its end. It may be otherwise by the time the answer is there. */
  isSlotIdle(slot: number): Promise<boolean>;
  /** By the clock of the store, which all its nodes share. */
  readClock(): Promise<number>;
  /**
   * Takes a timer that only one node may run: one that nobody leads, whose lease is over, or that is its own already.
   * Each time it has a new epoch, which is returned; null: another node leads it.
   */
  leadTimer(request: LeadRequest): Promise<number | null>;
}

// The daemons that share a store: who lives, what each works on, and how late it is.
import { SECOND_MS } from '../base/clock.ts';
import type { NodeView, SlotView } from '../store/owners.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { LaneNotice } from '../store/submissions.ts';

/** `draining`: it hands its slots over, or has done so. `silent`: it has not renewed them for longer than they last. */
export type NodeStanding = 'alive' | 'draining' | 'silent' | 'stopped';

export interface NodeState {
  node: string;
  version: string;
  standing: NodeStanding;
  startedAt: number;
  /** Null: it has said good-bye. */
  seenAt: number | null;
  slots: number[];
  /** How long the oldest mail in its slots has been due; what shaping holds back counts, too. 0: none is. */
  lateMs: number;
}

export interface NodeStates {
  nodes: NodeState[];
  /** Slots that no node holds at present. */
  free: number[];
}

/** As in daemon/slot-keeper.ts: a node's own clock ends its leases before that. */
const LEASE_MS = 10 * SECOND_MS;

type Kit = StoreVerbs<{ owners: 'listNodes' | 'listSlots' | 'readClock'; queue: 'dueLanes' }>;

export async function statesOfNodes(store: Kit): Promise<NodeStates> {
  const { owners, queue } = store;
  const [now, nodes, slots] = await Promise.all([owners.readClock(), owners.listNodes(), owners.listSlots()]);
  const due = await queue.dueLanes(slots.map(({ slot }) => slot));
  return {
    nodes: nodes.map((node) => stateOf(node, { slots, due, now })),
    free: slots.filter((slot) => isFree(slot, now)).map(({ slot }) => slot),
  };
}

function stateOf(
  { node, version, startedAt, seenAt, isDraining }: NodeView,
  { slots, due, now }: { slots: readonly SlotView[]; due: readonly LaneNotice[]; now: number },
): NodeState {
  const held = slots.filter((slot) => slot.node === node && !isFree(slot, now)).map(({ slot }) => slot);
  const late = due.filter(({ slot }) => held.includes(slot)).map(({ dueAt }) => now - dueAt);
  return {
    node,
    version,
    standing: seenAt === 0 ? 'stopped' : seenAt <= now - LEASE_MS ? 'silent' : isDraining ? 'draining' : 'alive',
    startedAt,
    seenAt: seenAt === 0 ? null : seenAt,
    slots: held,
    lateMs: late.reduce((most, ms) => Math.max(most, ms), 0),
  };
}

function isFree({ leaseUntil }: SlotView, now: number): boolean {
  return leaseUntil !== null && leaseUntil <= now;
}

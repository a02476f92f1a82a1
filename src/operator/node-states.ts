// The daemons that share a store: who lives, what each works on, and how late it is.
import { SECOND_MS } from '../base/clock.ts';
import { NODE_LEASE_MS, type NodeView, type SlotView } from '../store/owners.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { LaneNotice } from '../store/submissions.ts';

/** A slot's lease when its node has let go of it. */
const HANDED_OVER = 0;
/** After the end of a lease: a living node looks every few seconds, and allows for clocks that differ. */
const TAKEN_WITHIN_MS = NODE_LEASE_MS + 2 * SECOND_MS;

/**
 * `draining`: it hands its slots over; `drained`: it has none left. `silent`: it has not renewed them for longer than they
 * last. `stopped`: it has said good-bye.
 */
export type NodeStanding = 'alive' | 'draining' | 'drained' | 'silent' | 'stopped';

export interface NodeState {
  node: string;
  version: string;
  standing: NodeStanding;
  /** It takes no slots before it is resumed, also when it is silent or stopped. */
  isDrained: boolean;
  startedAt: number;
  /** Null: it has stopped. */
  seenAt: number | null;
  slots: number[];
  /** How long the oldest mail in its slots has been due; what shaping holds back counts, too. 0: none is. */
  lateMs: number;
}

export interface NodeStates {
  nodes: NodeState[];
  /** Slots that no node holds at present. */
  free: number[];
  /** Those of them that no node is about to take: none is there that would, or it has had the time. */
  stuck: number[];
}

type Kit = StoreVerbs<{ owners: 'listNodes' | 'listSlots' | 'readClock'; queue: 'dueLanes' }>;

/** What is to be said of free slots; null: nothing. */
export function describeFreeSlots({ free, stuck }: Pick<NodeStates, 'free' | 'stuck'>): string | null {
  if (stuck.length > 0) return `No daemon holds the slots ${stuck.join(', ')}: the next living one takes them.`;
  return free.length > 0
    ? `The slots ${free.join(', ')} are being handed over: a living daemon takes them within some seconds.`
    : null;
}

/** No nodes: one daemon works alone. */
export async function statesOfNodes({ owners, queue }: Kit): Promise<NodeStates> {
  const [now, nodes, slots] = await Promise.all([owners.readClock(), owners.listNodes(), owners.listSlots()]);
  if (nodes.length === 0) return { nodes: [], free: [], stuck: [] };
  const due = await queue.dueLanes(slots.map(({ slot }) => slot));
  const states = nodes.map((node) => stateOf(node, { slots, due, now }));
  const free = slots.filter((slot) => isFree(slot, now));
  // One that is drained, too, while no other one is alive.
  const isTaken = states.some(({ standing }) => !isAway(standing));
  const stuck = free.filter(({ leaseUntil }) => !isTaken || wasLeftLongAgo(leaseUntil, now));
  return { nodes: states, free: free.map(({ slot }) => slot), stuck: stuck.map(({ slot }) => slot) };
}

/** Those that have not said good-bye, and that nobody has heard of. */
export async function silentNodes({ owners }: StoreVerbs<{ owners: 'listNodes' | 'readClock' }>): Promise<NodeView[]> {
  const [now, nodes] = await Promise.all([owners.readClock(), owners.listNodes()]);
  return nodes.filter((node) => lifeOf(node, now) === 'silent');
}

/** Of one that is away it says as well that it would not work when it is back. */
export function describeStanding({ standing, isDrained }: Pick<NodeState, 'standing' | 'isDrained'>): string {
  return isAway(standing) && isDrained ? `${standing}, drained` : standing;
}

/** It has no slots, and hears of nothing that it is told before it is back. */
export function isAway(standing: NodeStanding): boolean {
  return standing === 'silent' || standing === 'stopped';
}

function stateOf(
  view: NodeView,
  { slots, due, now }: { slots: readonly SlotView[]; due: readonly LaneNotice[]; now: number },
): NodeState {
  const { node, version, startedAt, seenAt, isDraining: isDrained } = view;
  const held = slots.filter((slot) => slot.node === node && !isFree(slot, now)).map(({ slot }) => slot);
  const late = due.filter(({ slot }) => held.includes(slot)).map(({ dueAt }) => now - dueAt);
  return {
    node,
    version,
    standing: standingOf(view, held, now),
    isDrained,
    startedAt,
    seenAt: seenAt === 0 ? null : seenAt,
    slots: held,
    lateMs: late.reduce((most, ms) => Math.max(most, ms), 0),
  };
}

function standingOf(view: NodeView, held: readonly number[], now: number): NodeStanding {
  const life = lifeOf(view, now);
  if (life !== 'alive' || !view.isDraining) return life;
  return held.length > 0 ? 'draining' : 'drained';
}

function lifeOf({ seenAt }: NodeView, now: number): 'alive' | 'silent' | 'stopped' {
  if (seenAt === 0) return 'stopped';
  return seenAt <= now - NODE_LEASE_MS ? 'silent' : 'alive';
}

/** When a slot was handed over is not known, only when the lease of one that was not has ended. */
function wasLeftLongAgo(leaseUntil: number | null, now: number): boolean {
  return leaseUntil !== null && leaseUntil !== HANDED_OVER && now - leaseUntil > TAKEN_WITHIN_MS;
}

function isFree({ leaseUntil }: SlotView, now: number): boolean {
  return leaseUntil !== null && leaseUntil <= now;
}

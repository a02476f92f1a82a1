// How many slots a node should hold beside the others that live, and which ones it may take. Pure.
import { SECOND_MS } from '../base/clock.ts';
import { NODE_LEASE_MS, type NodeView, type Owner, type SlotView } from '../store/owners.ts';

/** This much earlier the owner of a lease stops, and this much later another one takes over. */
export const MARGIN_MS = 2 * SECOND_MS;
/** More than one, so that those of a dead node are shared out among the others. */
const SLOTS_PER_NODE = 8;

export interface Share {
  /** How many it should take, and how many of them may be made. */
  wanted: number;
  newSlots: number;
  /** How many it should hand over. */
  tooMany: number;
  /** It is drained, and the only ones that live are. */
  standsIn: boolean;
}

/** All nodes that live should hold as many slots as each other; one that is drained none, as long as another one lives. */
export function shareOf(of: {
  node: string;
  held: ReadonlyMap<number, Owner>;
  /** Of those that it holds, how many it hands over already. */
  leaving: number;
  slots: readonly SlotView[];
  nodes: readonly NodeView[];
  now: number;
}): Share {
  const { node, held, leaving, slots, nodes, now } = of;
  const staying = held.size - leaving;
  const alive = nodes.filter((one) => isAlive(one, node, now));
  const undrained = alive.filter((one) => !one.isDraining);
  const standsIn = undrained.length === 0;
  const living = standsIn ? alive : undrained;
  if (!living.some((one) => one.node === node)) return { wanted: 0, newSlots: 0, tooMany: staying, standsIn };
  const newSlots = Math.max(0, SLOTS_PER_NODE * living.length - slots.length);
  const fair = Math.ceil((slots.length + newSlots) / living.length);
  const isFree = (slot: SlotView) => !held.has(slot.slot) && (slot.node === node || isOver(slot, now));
  const toHave = slots.filter(isFree).length + newSlots;
  const toTake = Math.max(0, Math.min(fair - staying, toHave));
  return { wanted: toTake, newSlots, tooMany: Math.max(0, staying - fair), standsIn };
}

export function isAlive(one: NodeView, self: string, now: number): boolean {
  return one.node === self || one.seenAt > now - NODE_LEASE_MS;
}

function isOver({ leaseUntil }: SlotView, now: number): boolean {
  return leaseUntil !== null && leaseUntil <= now - MARGIN_MS;
}

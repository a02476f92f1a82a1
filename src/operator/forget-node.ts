// Takes a daemon that is gone for good off the list of those that share a store.
import { NODE_LEASE_MS } from '../store/owners.ts';
import type { StoreVerbs } from '../store/store.ts';

export type ForgetOutcome = { kind: 'forgotten' } | { kind: 'alive' } | { kind: 'unknown'; names: string[] };

type Kit = StoreVerbs<{ owners: 'readClock' | 'listNodes' | 'forgetNode' }>;

/** One that is alive would be back at its next renewal, without what an operator had told it. */
export async function forgetNode({ owners }: Kit, node: string): Promise<ForgetOutcome> {
  const now = await owners.readClock();
  if (await owners.forgetNode(node, now - NODE_LEASE_MS)) return { kind: 'forgotten' };
  const names = (await owners.listNodes()).map((one) => one.node);
  return names.includes(node) ? { kind: 'alive' } : { kind: 'unknown', names };
}

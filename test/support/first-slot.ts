// A test that claims from a store needs the slot first, as the daemon does.
import type { Owner } from '../../src/store/owners.ts';
import { Ownership } from '../../src/store/ownership.ts';
import { type ClaimedMessage, claimOf, type UntriedMessage } from '../../src/store/queue.ts';
import type { StoreVerbs } from '../../src/store/store.ts';

type Slots = StoreVerbs<{ owners: 'takeSlots' }>;

/** The slot of whatever chose none, for as long as the test runs. Taken again, it has a new epoch. */
export async function takeFirstSlot(store: Slots, { node = 'test', now = 0 } = {}): Promise<Owner> {
  const { owners } = await store.owners.takeSlots({ node, slots: 1, now, leaseUntil: null });
  return owners[0]!;
}

export async function ownFirstSlot(store: Slots): Promise<Ownership> {
  return new Ownership([await takeFirstSlot(store)]);
}

export function untried({ id, owner, attempt }: ClaimedMessage): UntriedMessage {
  return { id, claim: claimOf({ owner, attempt }) };
}

/** Claims this message, which is due by now. For tests without delivery. */
export async function claimMessage(
  store: Slots & StoreVerbs<{ queue: 'dueLanes' | 'claim' | 'release' }>,
  messageId: string,
): Promise<ClaimedMessage> {
  const owner = await takeFirstSlot(store);
  const now = Date.now();
  for (const { lane } of await store.queue.dueLanes([owner.slot])) {
    const { messages } = await store.queue.claim(lane, 1000, { owner, now, dueAgainAt: [now] });
    const found = messages.find(({ id }) => id === messageId);
    await store.queue.release(messages.filter((message) => message !== found).map(untried), now);
    if (found) return found;
  }
  throw new Error(`${messageId} is not due`);
}

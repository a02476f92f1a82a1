// The lease of a claimed delivery: how long the store keeps it for this node, and until when its call may begin. Both must
// hold, or another node may send the event, too.
import { MINUTE_MS } from '../base/clock.ts';
import type { Ownership } from '../store/ownership.ts';
import { RETRY_TABLE } from './decide-delivery.ts';
import type { WaitingDelivery } from './endpoint-queue.ts';

/** Covers the call and the wait for a slot. The lease of a later attempt is as long as the pause behind it. */
const MIN_LEASE_MS = 5 * MINUTE_MS;
const START_WITHIN_MS = 4 * MINUTE_MS;

/** The ends of leases that begin now, by the step in the retry table. */
export function leaseEnds(now: number): number[] {
  return RETRY_TABLE.stepsMs.map((pauseMs) => now + Math.max(MIN_LEASE_MS, pauseMs));
}

/** Whether the lease outlasts a call that begins now, and the slot is still held under the epoch of the claim. */
export function mayCall(
  { delivery: { owner }, claimedAt }: WaitingDelivery,
  ownership: Ownership,
  now: number,
): boolean {
  return now - claimedAt <= START_WITHIN_MS && ownership.holderOf(owner.slot)?.epoch === owner.epoch;
}

// Why a tenant's mail waits, as its own people may read it: what delivery says of a lane, without the names and
// notes of operators, and what the receiving side said last.
import type { ShapingVerdict } from '../../delivery/shaping/shaping.ts';
import type { WaitingLane } from '../../store/reads.ts';
import { inTenantsWords, saidBriefly } from '../tenants-words.ts';

export interface WaitingReason {
  reasons: string[];
  /** The earliest time of the next attempt; null: not known, or now. */
  until: number | null;
}

export function waitingReason(
  { dueAt, lastReason, messages }: WaitingLane,
  verdict: Pick<ShapingVerdict, 'reasons' | 'until'> | null,
  now: number,
): WaitingReason {
  const said = lastReason === null ? [] : [`Last error: ${saidBriefly(lastReason)}`];
  if (dueAt === null) {
    const what = messages === 1 ? 'The message' : 'Each of the messages';
    return {
      reasons: [`${what} can’t be read and is waiting for the operator of this service.`, ...said],
      until: null,
    };
  }
  // When the next attempt is due stands beside it.
  const held = (verdict?.reasons ?? []).filter(({ code }) => code !== 'not_due').map(inTenantsWords);
  const reasons = [...new Set(held)];
  if (reasons.length === 0 && said.length === 0) {
    reasons.push(dueAt > now ? 'Waiting for the next attempt.' : 'About to be sent.');
  }
  return { reasons: [...reasons, ...said], until: verdict?.until ?? (dueAt > now ? dueAt : null) };
}

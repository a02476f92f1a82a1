// A hard bounce counts as one unless its receiver is doubted: then the message is given up all the same, but as
// a soft bounce, which suppresses no address.
import type { Judgement } from './judge.ts';

/** Is notified of each message's end, and knows which receivers are doubted. */
export interface EndWatch {
  ended(message: { tenantId: string; mxGroup: string | null }, end: 'delivered' | 'hard' | 'other'): void;
  /** A hard bounce is in the database, so a review of the tenant finds it. */
  hardBounceStored(tenantId: string): void;
  /** DNS has no route for a message, for the first time. */
  unrouted(): void;
  /** Why the receiver is doubted, or null; for NO_ROUTE: why mail without a route is held. */
  doubtOf(mxGroup: string | null): string | null;
}

interface Ended {
  message: { tenantId: string };
  judgement: Judgement;
  mxGroup: string | null;
}

/** The result as it counts: a doubted hard bounce becomes soft. */
export function downgradeIfDoubted<F extends Ended>(finding: F, watch: EndWatch | undefined): F {
  const { judgement, mxGroup, message } = finding;
  if (!watch || judgement.kind === 'temporary' || judgement.kind === 'unreadable') return finding;
  const { tenantId } = message;
  if (judgement.kind === 'delivered') {
    watch.ended({ tenantId, mxGroup }, 'delivered');
    return finding;
  }
  watch.ended({ tenantId, mxGroup }, judgement.bounce === 'hard' ? 'hard' : 'other');
  const doubt = judgement.bounce === 'hard' ? watch.doubtOf(mxGroup) : null;
  if (doubt === null) return finding;
  return { ...finding, judgement: { ...judgement, bounce: 'soft', reason: `${judgement.reason} (${doubt})` } };
}

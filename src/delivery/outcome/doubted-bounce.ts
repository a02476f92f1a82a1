// A hard bounce is believed unless its receiver's hard bounces are doubted: then the message is given
// up all the same, as a soft bounce, which suppresses nobody.
import type { Judgement } from './judge.ts';

/** Hears how messages end, and knows whose hard bounces are doubted. */
export interface EndWatch {
  ended(message: { tenantId: string; mxGroup: string | null }, end: 'delivered' | 'hard' | 'other'): void;
  /** A message of the tenant bounced hard, and that is in the database: whoever judges the tenant finds it. */
  hardBounceStored(tenantId: string): void;
  /** DNS shows no way for a message, for the first time. */
  unrouted(): void;
  /** Why, or null; of NO_ROUTE: why mail without a route is held. */
  doubtOf(mxGroup: string | null): string | null;
}

interface Ended {
  message: { tenantId: string };
  judgement: Judgement;
  mxGroup: string | null;
}

/** The finding as it counts. */
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

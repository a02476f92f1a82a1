// What delivery says of mail that waits, as a tenant's own people may read it: without the names and notes
// of operators.
import type { ShapingReason } from '../delivery/shaping/shaping.ts';

const OPERATORS_WORDS: Partial<Record<ShapingReason['code'], string>> = {
  message_paused: 'The operator of this service has paused this message.',
  tenant_paused: 'The operator of this service has paused your mail.',
  domain_paused: 'The operator of this service has paused mail to this domain.',
  group_paused: 'The operator of this service has paused mail to this provider.',
  tenant_not_active: 'Your account isn’t active; queued messages wait until it is, or their time for delivery is over.',
};

export function inTenantsWords({ code, reason }: Pick<ShapingReason, 'code' | 'reason'>): string {
  const words = OPERATORS_WORDS[code] ?? reason;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const JUDGED = / \([\w-]+, rule [^()]*\)$/;

/** What a receiving server said, without the rule that it was judged by: that stands with the message. */
export function saidBriefly(reason: string): string {
  return reason.replace(JUDGED, '');
}

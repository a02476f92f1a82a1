// Whether a tenant can send right now, and if not, why and what mends it: one pure function of facts.
import type { OnboardingFacts } from '../store/reads.ts';
import type { Tenant } from '../store/tenants.ts';
import type { Tone } from './elements.ts';

export interface SendingFacts extends Pick<OnboardingFacts, 'hasVerifiedDomain' | 'hasDomain'> {
  tenant: Pick<Tenant, 'status' | 'statusReason'>;
  /** An operator holds the tenant's mail back. */
  paused: boolean;
}

export interface SendingStatus {
  decision: 'open' | 'held' | 'blocked';
  tone: Tone;
  word: string;
  reason: string;
  /** What to do about it. */
  next: string | null;
}

export function sendingStatus({ tenant, paused, hasVerifiedDomain, hasDomain }: SendingFacts): SendingStatus {
  const said = tenant.statusReason === null ? '' : ` The reason: ${tenant.statusReason.replace(/[.\s]+$/, '')}.`;
  const blocked = { decision: 'blocked', tone: 'bad' } as const;
  switch (tenant.status) {
    case 'suspended': {
      const reason = `Your account is suspended: calls are refused, and what is queued waits.${said}`;
      return { ...blocked, word: 'suspended', reason, next: 'Write to the operator of this service.' };
    }
    case 'in_review': {
      const reason = `Your account is in review: calls are refused until the operator has looked at it.${said}`;
      const next =
        tenant.statusReason === null
          ? 'There is nothing to do but wait, or to answer if the operator asks.'
          : 'Contact the operator, who alone can end the review.';
      return { ...blocked, tone: 'warn', word: 'in review', reason, next };
    }
    case 'pending_verification': {
      const reason = `Your e-mail address is not confirmed yet: calls are refused until it is.${said}`;
      return {
        ...blocked,
        tone: 'warn',
        word: 'not confirmed',
        reason,
        next: 'Open the link in the mail that we sent you.',
      };
    }
    case 'active':
      return activeStatus({ paused, hasVerifiedDomain, hasDomain });
  }
}

function activeStatus({ paused, hasVerifiedDomain, hasDomain }: Omit<SendingFacts, 'tenant'>): SendingStatus {
  if (paused) {
    const reason = 'The operator of this service has paused your mail: calls are taken, and their messages wait.';
    return { decision: 'held', tone: 'warn', word: 'paused', reason, next: 'Write to the operator of this service.' };
  }
  if (hasVerifiedDomain) {
    return { decision: 'open', tone: 'good', word: 'active', reason: 'You can send.', next: null };
  }
  const reason = 'Your account is active, but no domain of yours is verified, so calls are refused.';
  const next = hasDomain ? 'Publish the records of your domain.' : 'Add a domain, and publish its records.';
  return { decision: 'blocked', tone: 'warn', word: 'no verified domain', reason, next };
}

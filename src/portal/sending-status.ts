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
  const said = tenant.statusReason === null ? '' : ` Reason: ${tenant.statusReason.replace(/[.\s]+$/, '')}.`;
  const blocked = { decision: 'blocked', tone: 'bad' } as const;
  switch (tenant.status) {
    case 'suspended': {
      const reason = `Your account is suspended: API calls are refused. Queued messages wait, and fail when their time for delivery is over.${said}`;
      return { ...blocked, word: 'suspended', reason, next: 'Contact the operator of this service.' };
    }
    case 'in_review': {
      const reason = `Your account is in review: API calls are refused until the operator has reviewed it.${said}`;
      const next =
        tenant.statusReason === null
          ? 'You don’t need to do anything unless the operator contacts you.'
          : 'Contact the operator; only the operator can end the review.';
      return { ...blocked, tone: 'warn', word: 'in review', reason, next };
    }
    case 'pending_verification': {
      const reason = `The email address of the account isn’t confirmed yet: API calls are refused until it is.${said}`;
      return {
        ...blocked,
        tone: 'warn',
        word: 'not confirmed',
        reason,
        next: 'The person who signed up must open the link in our mail. Signing in with that address sends a new one.',
      };
    }
    case 'active':
      return activeStatus({ paused, hasVerifiedDomain, hasDomain });
  }
}

function activeStatus({ paused, hasVerifiedDomain, hasDomain }: Omit<SendingFacts, 'tenant'>): SendingStatus {
  if (paused) {
    const reason =
      'The operator of this service has paused your mail: API calls are accepted, and their messages wait.';
    return { decision: 'held', tone: 'warn', word: 'paused', reason, next: 'Contact the operator of this service.' };
  }
  if (hasVerifiedDomain) {
    return { decision: 'open', tone: 'good', word: 'active', reason: 'You can send.', next: null };
  }
  const reason = 'Your account is active, but none of your domains is verified, so API calls are refused.';
  const next = hasDomain ? 'Publish the DNS records of your domain.' : 'Add a domain and publish its DNS records.';
  return { decision: 'blocked', tone: 'warn', word: 'no verified domain', reason, next };
}

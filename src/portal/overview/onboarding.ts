// What a new tenant has done and what comes next: a pure function of facts. The list is shown until every
// step is done.
import type { OnboardingFacts } from '../../store/reads.ts';
import type { TenantStatus } from '../../store/tenants.ts';

export interface OnboardingStep {
  id: 'address' | 'key' | 'domain' | 'approval' | 'send' | 'webhook';
  title: string;
  done: boolean;
  /** What to do, or how it stands; of a step that is done, nothing. */
  hint: string | null;
  link: { path: string; label: string } | null;
}

export interface Onboarding {
  steps: OnboardingStep[];
  /** The first that is not done and that somebody here can do something about. */
  next: OnboardingStep | null;
  done: boolean;
}

export function onboarding(facts: OnboardingFacts, status: TenantStatus): Onboarding {
  const steps = [addressStep(status), keyStep(facts), domainStep(facts), approvalStep(status), sendStep(facts, status)];
  steps.push(webhookStep(facts));
  const next = steps.find(({ done, link }) => !done && link !== null) ?? null;
  return { steps, next, done: steps.every(({ done }) => done) };
}

function step(id: OnboardingStep['id'], title: string, done: boolean, open: Pick<OnboardingStep, 'hint' | 'link'>) {
  return { id, title, done, ...(done ? { hint: null, link: null } : open) };
}

function addressStep(status: TenantStatus): OnboardingStep {
  return step('address', 'Confirm your email address', status !== 'pending_verification', {
    // Every reader is signed in, so another user's address is meant.
    hint: 'The person who signed up must open the link in our mail. Signing in with that address sends a new one.',
    link: null,
  });
}

function keyStep({ hasKey }: OnboardingFacts): OnboardingStep {
  return step('key', 'Create an API key', hasKey, {
    hint: 'Your program sends it with every call. It is shown only once, when you create it.',
    link: { path: '/portal/keys/new', label: 'Create key' },
  });
}

function domainStep({ hasDomain, hasVerifiedDomain }: OnboardingFacts): OnboardingStep {
  return step('domain', 'Verify a sending domain', hasVerifiedDomain, {
    hint: hasDomain
      ? 'Publish the DNS records shown on its page. Postrider verifies the domain as soon as it finds them.'
      : 'Mail is sent from your own domain. Add it, then publish the DNS records shown on its page.',
    link: { path: '/portal/domains', label: hasDomain ? 'View records' : 'Add domain' },
  });
}

function approvalStep(status: TenantStatus): OnboardingStep {
  const approved = status === 'active';
  return step('approval', 'Approval', approved, {
    hint: {
      pending_verification: 'Once you confirm your address, the operator of this service reviews your account.',
      in_review: 'The operator of this service is reviewing your account. You don’t need to do anything.',
      suspended: 'The operator of this service has suspended your account.',
      active: null,
    }[status],
    link: null,
  });
}

function sendStep({ hasSent, hasKey, hasVerifiedDomain }: OnboardingFacts, status: TenantStatus): OnboardingStep {
  const ready = hasKey && hasVerifiedDomain && status === 'active';
  return step('send', 'Send your first message', hasSent, {
    hint: ready
      ? 'One call is enough. See the sample programs below.'
      : 'One call is enough once the steps above are done.',
    link: { path: '#first-send', label: 'See how' },
  });
}

function webhookStep({ hasWebhook }: OnboardingFacts): OnboardingStep {
  return step('webhook', 'Receive the result', hasWebhook, {
    hint: 'A webhook notifies your program of deliveries, bounces and complaints as they happen.',
    link: { path: '/portal/webhooks', label: 'Add webhook' },
  });
}

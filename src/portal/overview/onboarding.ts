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
  return step('address', 'Confirm your e-mail address', status !== 'pending_verification', {
    hint: 'Open the link in the mail that we sent you. It can be sent once more from your account page.',
    link: { path: '/portal/account', label: 'Your account' },
  });
}

function keyStep({ hasKey }: OnboardingFacts): OnboardingStep {
  return step('key', 'Create an API key', hasKey, {
    hint: 'Your program shows it with every call. You see it once, when it is made.',
    link: { path: '/portal/keys/new', label: 'New key' },
  });
}

function domainStep({ hasDomain, hasVerifiedDomain }: OnboardingFacts): OnboardingStep {
  return step('domain', 'Verify a sending domain', hasVerifiedDomain, {
    hint: hasDomain
      ? 'Publish the records that its page shows. It is verified as soon as they are found.'
      : 'Mail is sent from a domain of yours. Add it, then publish the DNS records that its page shows.',
    link: { path: '/portal/domains', label: hasDomain ? 'See the records' : 'Add a domain' },
  });
}

function approvalStep(status: TenantStatus): OnboardingStep {
  const approved = status === 'active';
  return step('approval', 'Be approved', approved, {
    hint: {
      pending_verification: 'When your address is confirmed, the operator of this service looks at your account.',
      in_review: 'The operator of this service looks at your account. There is nothing that you must do.',
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
      ? 'One call is enough. Ready programs stand below.'
      : 'One call is enough, once the steps above are done.',
    link: { path: '#first-send', label: 'See how' },
  });
}

function webhookStep({ hasWebhook }: OnboardingFacts): OnboardingStep {
  return step('webhook', 'Hear what became of it', hasWebhook, {
    hint: 'A webhook tells your program of deliveries, bounces and complaints as they happen.',
    link: { path: '/portal/webhooks', label: 'Add a webhook' },
  });
}

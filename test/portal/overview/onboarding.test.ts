// How far a new tenant has come, and whether it can send: pure functions, over all their facts.
import t from 'tap';
import { type Onboarding, onboarding } from '../../../src/portal/overview/onboarding.ts';
import { sendingStatus } from '../../../src/portal/sending-status.ts';
import type { OnboardingFacts } from '../../../src/store/reads.ts';
import { TENANT_STATUSES } from '../../../src/store/tenants.ts';

const NONE: OnboardingFacts = {
  ...{ hasKey: false, hasSent: false, hasDomain: false, hasVerifiedDomain: false, hasWebhook: false },
};
const ALL: OnboardingFacts = {
  ...{ hasKey: true, hasSent: true, hasDomain: true, hasVerifiedDomain: true, hasWebhook: true },
};

function ticked({ steps }: Onboarding): string[] {
  return steps.filter(({ done }) => done).map(({ id }) => id);
}

t.test('each fact ticks its own step', async (t) => {
  t.same(ticked(onboarding(NONE, 'pending_verification')), []);
  t.same(ticked(onboarding(NONE, 'in_review')), ['address']);
  t.same(ticked(onboarding(NONE, 'active')), ['address', 'approval']);
  const steps = { hasKey: 'key', hasVerifiedDomain: 'domain', hasSent: 'send', hasWebhook: 'webhook' } as const;
  for (const [fact, id] of Object.entries(steps)) {
    t.same(ticked(onboarding({ ...NONE, [fact]: true }, 'pending_verification')), [id]);
  }
  t.same(ticked(onboarding({ ...NONE, hasDomain: true }, 'pending_verification')), [], 'it has to be verified');
  t.equal(onboarding(ALL, 'active').done, true);
  t.equal(onboarding(ALL, 'in_review').done, false);
});

t.test('the next step is the first that somebody here can take', async (t) => {
  t.match(onboarding(NONE, 'pending_verification').next, { id: 'key' }, 'who is signed in has no address to confirm');
  t.match(onboarding(NONE, 'in_review').next, { id: 'key', link: { path: '/portal/keys/new' } });
  t.match(onboarding({ ...NONE, hasKey: true }, 'in_review').next, { id: 'domain', link: { label: 'Add domain' } });
  const added = onboarding({ ...NONE, hasKey: true, hasDomain: true }, 'active');
  t.match(added.next, { id: 'domain', link: { label: 'View records' } });
  const waiting = onboarding({ ...ALL, hasSent: false }, 'in_review');
  t.match(waiting.next, { id: 'send', hint: /once the steps above are done/ }, 'nobody can take the approval');
  t.match(onboarding({ ...ALL, hasSent: false }, 'active').next, { id: 'send', hint: /sample programs/ });
  t.equal(onboarding(ALL, 'active').next, null);
  t.equal(onboarding(ALL, 'suspended').next, null);
});

t.test('every step that is not done says what to do, every other one is silent', async (t) => {
  for (const status of TENANT_STATUSES) {
    for (const facts of [NONE, ALL, { ...NONE, hasDomain: true }]) {
      for (const { done, hint, link, id } of onboarding(facts, status).steps) {
        t.equal(hint === null, done, `${id}, ${status}`);
        t.equal(link === null, done || id === 'approval' || id === 'address');
      }
    }
  }
});

t.test('whether a tenant can send, and why not', async (t) => {
  const facts = { hasDomain: true, hasVerifiedDomain: true, paused: false };
  const of = (status: (typeof TENANT_STATUSES)[number], statusReason: string | null = null, change = {}) =>
    sendingStatus({ tenant: { status, statusReason }, ...facts, ...change });
  t.match(of('active'), { decision: 'open', next: null });
  t.match(of('suspended', 'spam reports'), { decision: 'blocked', reason: /suspended.*Reason: spam reports\.$/ });
  t.match(of('in_review'), { decision: 'blocked', reason: /in review.*has reviewed it\.$/ });
  t.match(of('pending_verification'), { decision: 'blocked', next: /must open the link/ });
  t.match(of('active', null, { paused: true }), { decision: 'held', reason: /messages wait/ });
  const without = { hasVerifiedDomain: false };
  t.match(of('active', null, without), { decision: 'blocked', next: /Publish the DNS records/ });
  t.match(of('active', null, { ...without, hasDomain: false }), { decision: 'blocked', next: /Add a domain/ });
});

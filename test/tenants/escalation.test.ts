import t from 'tap';
import { DAY_MS } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { RecentResults, Tenant } from '../../src/store/tenants.ts';
import { decideTier, escalateTiers } from '../../src/tenants/escalation.ts';

const NOW = 1_800_000_000_000;
const LIMITS = { days: [10, 30] as const, hardBounceRate: 0.05, complaintRate: 0.003, window: 1000 };
const GOOD: RecentResults = { messages: 1000, hardBounces: 49, complaints: 2 };

function tenantOf(ageDays: number, rest: Partial<Tenant> = {}): Tenant {
  return {
    id: '01900000-0000-7000-8000-000000000001',
    name: 'Acme',
    status: 'active',
    statusReason: null,
    tier: '1k',
    tierPinned: false,
    openTracking: false,
    clickTracking: false,
    unsubscribe: false,
    bouncesDomain: null,
    createdAt: NOW - ageDays * DAY_MS,
    ...rest,
  };
}

t.test('the tier follows age, standing and the operator', async (t) => {
  const cases: [what: string, tenant: Tenant, standing: RecentResults, decision: string, tier: string][] = [
    ['too young', tenantOf(9.99), GOOD, 'keep', '1k'],
    ['ten days', tenantOf(10), GOOD, 'raise', '10k'],
    ['ten days, there already', tenantOf(12, { tier: '10k' }), GOOD, 'keep', '10k'],
    ['thirty days', tenantOf(30, { tier: '10k' }), GOOD, 'raise', 'uncapped'],
    ['thirty days, from the first tier', tenantOf(31), GOOD, 'raise', 'uncapped'],
    ['no mail yet', tenantOf(10), { messages: 0, hardBounces: 0, complaints: 0 }, 'raise', '10k'],
    ['5 % hard bounces', tenantOf(10), { ...GOOD, hardBounces: 50 }, 'keep', '1k'],
    ['0.3 % complaints', tenantOf(10), { ...GOOD, complaints: 3 }, 'keep', '1k'],
    ['pinned', tenantOf(90, { tierPinned: true }), GOOD, 'keep', '1k'],
    ['suspended', tenantOf(90, { status: 'suspended' }), GOOD, 'keep', '1k'],
    ['never down', tenantOf(1, { tier: 'uncapped' }), { ...GOOD, hardBounces: 999 }, 'keep', 'uncapped'],
  ];
  for (const [what, tenant, standing, decision, tier] of cases) {
    const verdict = decideTier(tenant, standing, LIMITS, NOW);
    t.match(verdict, { decision, tier, reason: /\w/ }, what);
  }
  const objection = decideTier(tenantOf(10), { ...GOOD, hardBounces: 70 }, LIMITS, NOW);
  t.equal(objection.reason, '70 of its last 1000 messages bounced hard');
});

t.test('a round raises those who have earned it, and nobody whom an operator pinned meanwhile', async (t) => {
  const tenants = [tenantOf(11), { ...tenantOf(40), id: '01900000-0000-7000-8000-000000000002' }, tenantOf(1)];
  const raised: [string, string][] = [];
  const verbs = {
    listTenants: async () => tenants,
    recentResultsOf: async () => GOOD,
    raiseTier: async (id: string, tier: string) => {
      raised.push([id, tier]);
      return id === tenants[0]!.id;
    },
  };
  t.equal(
    await escalateTiers({ store: { tenants: verbs }, clock: { now: () => NOW }, log: silentLogger, limits: LIMITS }),
    1,
  );
  t.strictSame(raised, [
    [tenants[0]!.id, '10k'],
    [tenants[1]!.id, 'uncapped'],
  ]);
});

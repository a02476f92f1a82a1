// Rate tiers rise with a tenant's age, as long as the results of its mail are good. They never fall: a tenant that
// misbehaves is stopped for review, not slowed. A tier that an operator has pinned does not change.

import { type Clock, DAY_MS } from '../base/clock.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { RecentResults, Tenant, Tier } from '../store/tenants.ts';

export interface EscalationLimits {
  /** The ages at which the tiers 10k and uncapped are reached. */
  days: readonly [number, number];
  hardBounceRate: number;
  complaintRate: number;
  /** How many of its last messages count. */
  window: number;
}

export interface TierDecision {
  decision: 'keep' | 'raise';
  tier: Tier;
  reason: string;
}

const ORDER: readonly Tier[] = ['1k', '10k', 'uncapped'];

export function decideTier(
  tenant: Tenant,
  results: RecentResults,
  limits: EscalationLimits,
  now: number,
): TierDecision {
  const keep = (reason: string): TierDecision => ({ decision: 'keep', tier: tenant.tier, reason });
  if (tenant.tierPinned) return keep('an operator has pinned the tier');
  if (tenant.status !== 'active') return keep(`the tenant is ${tenant.status}`);
  const ageDays = (now - tenant.createdAt) / DAY_MS;
  const tier: Tier = ageDays >= limits.days[1] ? 'uncapped' : ageDays >= limits.days[0] ? '10k' : '1k';
  if (ORDER.indexOf(tier) <= ORDER.indexOf(tenant.tier)) return keep('its age gives no higher tier yet');
  const objection = objectionTo(results, limits);
  if (objection) return keep(objection);
  return { decision: 'raise', tier, reason: `${Math.floor(ageDays)} days old and in good standing` };
}

function objectionTo({ messages, hardBounces, complaints }: RecentResults, limits: EscalationLimits): string | null {
  if (messages === 0) return null;
  const of = `of its last ${messages} messages`;
  if (hardBounces / messages >= limits.hardBounceRate) return `${hardBounces} ${of} bounced hard`;
  if (complaints / messages >= limits.complaintRate) return `${complaints} ${of} drew complaints`;
  return null;
}

export interface EscalationKit {
  store: StoreVerbs<{ tenants: 'listTenants' | 'recentResultsOf' | 'raiseTier' }>;
  clock: Clock;
  log: Logger;
  limits: EscalationLimits;
}

/** One pass over all tenants; returns how many tiers were raised. */
export async function escalateTiers({ store, clock, log, limits }: EscalationKit): Promise<number> {
  let raised = 0;
  for (const tenant of await store.tenants.listTenants()) {
    // Most tenants can be decided without reading their messages: pinned, in the highest tier, or too young.
    const noProblems = { messages: 0, hardBounces: 0, complaints: 0 };
    if (decideTier(tenant, noProblems, limits, clock.now()).decision === 'keep') continue;
    const results = await store.tenants.recentResultsOf(tenant.id, limits.window);
    const { decision, tier, reason } = decideTier(tenant, results, limits, clock.now());
    const facts = { tenant_id: tenant.id, tier, reason };
    if (decision === 'keep') log.info(facts, 'the tenant stays in its rate tier');
    else if (await store.tenants.raiseTier(tenant.id, tier)) {
      log.info(facts, 'the tenant rises to a higher rate tier');
      raised++;
    }
  }
  return raised;
}

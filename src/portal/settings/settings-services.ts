// What the settings' pages work with.
import type { HourSpan } from '../../store/figures.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { Tier } from '../../store/tenants.ts';
import type { BrakeState } from '../../suppression/brake.ts';
import type { AccountKit } from '../../tenants/accounts/account-kit.ts';

/** What the configuration allows and expects; null: no limit. */
export interface LimitsShown {
  requestsPerMinute(tier: Tier): number | null;
  messagesPerHour(tier: Tier): number | null;
  keys: number;
  /** Age in days at which a tenant in good standing reaches the second and the third tier. */
  escalationDays: readonly [number, number];
  escalationHardBounceRate: number;
  escalationComplaintRate: number;
  reviewWindow: number;
  contentDays: number;
  recordsDays: number;
}

export interface SettingsServices {
  accounts: AccountKit;
  store: StoreVerbs<{
    keys: 'listApiKeys';
    figures: 'onboardingFacts' | 'chartOf';
    shaping: 'findPause';
    tenants: 'recentResultsOf' | 'updateTenant';
    upkeep: 'contentDaysOf';
    accounts: 'listMembers' | 'listInvitations' | 'cancelInvitation' | 'changeRole' | 'removeMember' | 'getUser';
    audit: 'listAudit';
  }>;
  limits: LimitsShown;
  /** How near the tenant is to a review; null: it is never reviewed here. */
  brake(tenantId: string): Promise<BrakeState | null>;
}

const HOUR_MS = 3_600_000;

/** The last whole hours and the one that runs. */
export function lastHours(now: number, hours: number): HourSpan {
  const untilHour = Math.floor(now / HOUR_MS) + 1;
  return { fromHour: untilHour - hours, untilHour };
}

// What a tenant may do in its rate tier and when that rises, in words: pure functions of tenant and limits.
import { DAY_MS } from '../../base/clock.ts';
import type { RecentResults, Tenant } from '../../store/tenants.ts';
import type { LimitsShown } from './settings-services.ts';

const NUMBER = new Intl.NumberFormat('en');

export function number(value: number): string {
  return NUMBER.format(value);
}

/** `0.35 %`; small shares keep the digits that matter. */
function share(part: number, whole: number): string {
  return whole === 0 ? '0 %' : percent(part / whole);
}

function percent(rate: number): string {
  return `${Number((rate * 100).toFixed(rate < 0.01 ? 2 : 1))} %`;
}

export function callsWords(perMinute: number | null): string {
  return perMinute === null ? 'no limit' : `${number(perMinute)} per minute for each API key`;
}

export function paceWords(perHour: number | null): string {
  return perHour === null ? 'no tier limit' : `${number(perHour)} per hour; the rest waits in the queue`;
}

/** When the tier rises, and what it depends on. */
export function riseWords(tenant: Tenant, limits: LimitsShown, now: number): string {
  if (tenant.tierPinned) return 'The operator has pinned your tier.';
  if (tenant.tier === 'uncapped') return 'This is the highest tier.';
  const days = limits.escalationDays[tenant.tier === '1k' ? 0 : 1];
  const next = tenant.tier === '1k' ? '10k' : 'uncapped';
  const age = Math.floor((now - tenant.createdAt) / DAY_MS);
  const standing = `hard bounces are under ${percent(limits.escalationHardBounceRate)} and complaints under ${percent(limits.escalationComplaintRate)}`;
  if (tenant.status !== 'active') return `It rises automatically once your account is active.`;
  const when = age >= days ? 'as soon as' : `in ${days - age} ${days - age === 1 ? 'day' : 'days'}, if`;
  return `It rises to ${next} automatically ${when} ${standing}.`;
}

/** How the last messages fared. */
export function standingWords({ messages, hardBounces, complaints }: RecentResults): string {
  if (messages === 0) return 'No finished messages yet.';
  return `Of your last ${number(messages)} messages, ${share(hardBounces, messages)} bounced hard and ${share(complaints, messages)} drew complaints.`;
}

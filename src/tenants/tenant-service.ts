// Tenants: created in review, changed by an operator. The status changes only when a person or
// a rule decides; nothing here does so automatically.
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { Store } from '../store/store.ts';
import type { Tenant, TenantChange, TenantStatus, Tier } from '../store/tenants.ts';
import { nameProblem, type Refused, refused } from './refused.ts';

/** What the services of this folder need. */
export interface TenantServices {
  store: Pick<Store, 'accounts' | 'tenants'>;
  clock: Clock;
  ids: IdSource;
}

export interface NewTenant {
  name: string;
  status?: TenantStatus;
}

export async function createTenant(
  services: TenantServices,
  request: NewTenant,
): Promise<{ kind: 'created'; tenant: Tenant } | Refused> {
  const problem = nameProblem(request.name);
  if (problem) return refused('name', problem);
  const tenant = newTenant({
    id: services.ids.next(),
    name: request.name,
    status: request.status ?? 'in_review',
    createdAt: services.clock.now(),
  });
  await services.store.tenants.createTenant(tenant);
  return { kind: 'created', tenant };
}

/** A new tenant is in the lowest tier, with all switches off. */
export function newTenant(of: Pick<Tenant, 'id' | 'name' | 'status' | 'createdAt'>): Tenant {
  return {
    ...of,
    name: of.name.trim(),
    statusReason: null,
    tier: '1k',
    tierPinned: false,
    openTracking: false,
    clickTracking: false,
    unsubscribe: false,
    bouncesDomain: null,
  };
}

/** What an operator may change; `auto` lets age and results change the tier again. */
export interface TenantSettings {
  name?: string;
  status?: TenantStatus;
  /** Shown to the tenant with the status; ignored without one. */
  statusReason?: string;
  tier?: Tier | 'auto';
  openTracking?: boolean;
  clickTracking?: boolean;
  unsubscribe?: boolean;
}

export async function setTenant(
  services: Pick<TenantServices, 'store'>,
  id: string,
  settings: TenantSettings,
): Promise<{ kind: 'changed'; tenant: Tenant } | Refused> {
  const { name, status, statusReason = null, tier, ...switches } = settings;
  const problem = name === undefined ? null : nameProblem(name);
  if (problem) return refused('name', problem);
  const change: TenantChange = {
    ...withoutUndefined({ ...switches, name: name?.trim() }),
    // The reason of an earlier status does not apply to the new one.
    ...(status === undefined ? {} : { status, statusReason }),
    ...tierChange(tier),
  };
  if (Object.keys(change).length === 0) return refused(null, 'nothing to change was given');
  const tenant = await services.store.tenants.updateTenant(id, change);
  return tenant ? { kind: 'changed', tenant } : noSuchTenant(id);
}

export function noSuchTenant(id: string): Refused {
  return refused(null, `there is no tenant ${id}`);
}

function tierChange(tier: TenantSettings['tier']): TenantChange {
  if (tier === undefined) return {};
  return tier === 'auto' ? { tierPinned: false } : { tier, tierPinned: true };
}

/** An absent setting stays as it is: it must not reach the store as undefined. */
function withoutUndefined<T extends object>(settings: T): Partial<T> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Partial<T>;
}

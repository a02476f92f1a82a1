// The tenant that a person means: by its ID, the beginning of the ID, or its name. Tenants choose their own names, so a
// name that looks like the beginning of another tenant's ID is ambiguous, and never taken for either.
import { isUuid } from '../base/ids.ts';
import { nearest } from '../base/text/suggest.ts';
import type { Tenant } from '../store/tenants.ts';
import { type Refused, refused } from './refused.ts';
import { noSuchTenant } from './tenant-service.ts';

export type NamedTenant = Pick<Tenant, 'id' | 'name' | 'status'>;

export type FoundTenant = { kind: 'found'; id: string } | Refused;

/** IDs of tenants that were created in the same hour begin alike; with fewer characters, a typo would find one. */
const MIN_BEGINNING = 4;
const MAX_SHOWN = 5;

/** Only the name and the ID of a tenant count, whatever its status. */
export function findTenant(given: string, tenants: readonly NamedTenant[]): FoundTenant {
  const wanted = given.trim();
  const id = wanted.toLowerCase();
  if (isUuid(id)) return tenants.some((tenant) => tenant.id === id) ? { kind: 'found', id } : noSuchTenant(id);
  const isBeginning = id.length >= MIN_BEGINNING && /^[0-9a-f-]+$/.test(id);
  const found = tenants.filter((tenant) => tenant.name === wanted || (isBeginning && tenant.id.startsWith(id)));
  const [first, ...others] = found;
  if (!first) return unknown(wanted, tenants);
  if (others.length === 0) return { kind: 'found', id: first.id };
  const shown = found.slice(0, MAX_SHOWN).map((tenant) => `${tenant.id} (${tenant.name}, ${tenant.status})`);
  const more = found.length > MAX_SHOWN ? `, and ${found.length - MAX_SHOWN} more` : '';
  return refused(null, `"${wanted}" stands for ${found.length} tenants: ${shown.join(', ')}${more}. Give the ID`);
}

function unknown(wanted: string, tenants: readonly NamedTenant[]): Refused {
  const names = tenants.map(({ name }) => name);
  const near = nearest(wanted, names);
  const hint = near === null ? 'postrider tenant list shows names and IDs' : `did you mean "${near}"?`;
  return refused(null, `there is no tenant "${wanted}": ${hint}`);
}

// A step of `postrider setup`, where the writer is: the operator's login, a tenant, its domain and key. What exists stays
// as it is, so that the step can be repeated. No command of its own.

import { isRefusal } from '../../base/refusals.ts';
import { loadServiceIdentity } from '../../domains/service-identity.ts';
import { done, failed } from '../../operator/answer.ts';
import type { OperatorServices } from '../../operator/operator-services.ts';
import { createUser } from '../../tenants/accounts/users.ts';
import { createApiKey } from '../../tenants/api-keys.ts';
import { findTenant } from '../../tenants/find-tenant.ts';
import type { Refused } from '../../tenants/refused.ts';
import { createTenant } from '../../tenants/tenant-service.ts';
import { storeCommand } from '../command.ts';
import { domainName, flag, label, mailAddress } from '../option.ts';
import { recordAct } from '../record-act.ts';

const KEY_NAME = 'setup';
const KEY_SCOPES = ['emails:send', 'domains:write'] as const;

export interface FirstAccounts {
  /** Null: not asked for. `password` and `key` are null unless created now. */
  login: { email: string; password: string | null } | null;
  tenant: { id: string; name: string; created: boolean } | null;
  domain: { name: string; created: boolean } | null;
  key: string | null;
}

export const firstAccounts = storeCommand({
  name: 'setup accounts',
  begins: true,
  summary: "Creates what is missing of an operator's login, a tenant, its domain and key.",
  options: {
    operator: mailAddress("the operator's login"),
    'first-only': flag('create the login only if there is no operator'),
    tenant: label('NAME', "the tenant's name"),
    domain: domainName("the tenant's sending domain"),
  },
  check: ({ tenant, domain }) => (domain !== undefined && tenant === undefined ? '--domain needs --tenant' : null),
  async run(services, { operator, 'first-only': firstOnly, tenant: name, domain }) {
    await prepareIdentity(services);
    const made: FirstAccounts = { login: null, tenant: null, domain: null, key: null };
    if (operator !== undefined) {
      const login = await loginOf(services, operator, firstOnly ?? false);
      if ('kind' in login) return failed(`the login ${operator}: ${login.message}`);
      made.login = login;
    }
    if (name === undefined) return done(made);
    const tenant = await tenantOf(services, name);
    if ('kind' in tenant) return failed(`the tenant: ${tenant.message}`);
    made.tenant = tenant;
    if (domain !== undefined) {
      const added = await domainOf(services, tenant.id, domain);
      if (typeof added === 'string') return failed(added);
      made.domain = added;
    }
    const key = await keyOf(services, tenant.id);
    if (typeof key !== 'string' && key !== null) return failed(`the key: ${key.message}`);
    made.key = key;
    return done(made);
  },
  render: () => null,
});

/** Its DNS record is needed before the first start of the daemon, too; the daemon has made it already. */
async function prepareIdentity({ store, vault, clock, config: { service } }: OperatorServices): Promise<void> {
  const dkim = { domain: service.dkim_domain, selector: service.dkim_selector };
  await loadServiceIdentity({ store, vault: vault(), clock, dkim });
}

async function loginOf(
  services: OperatorServices,
  email: string,
  firstOnly: boolean,
): Promise<NonNullable<FirstAccounts['login']> | Refused> {
  const found = await services.store.accounts.findUserByEmail(email);
  if (found?.role === 'operator') return { email: found.email, password: null };
  const [other] = firstOnly ? await services.store.accounts.listOperators() : [];
  if (other) return { email: other.email, password: null };
  const result = await createUser(services, { tenantId: null, email });
  if (result.kind === 'refused') return result;
  const { user, password } = result;
  await recordAct(services, null, 'user.created', { email: user.email, role: user.role });
  return { email: user.email, password };
}

async function tenantOf(
  services: OperatorServices,
  name: string,
): Promise<NonNullable<FirstAccounts['tenant']> | Refused> {
  const all = await services.store.tenants.listTenants();
  const found = all.filter((tenant) => tenant.name === name);
  if (found.length > 1) return findTenant(name, all) as Refused;
  if (found[0]) return { id: found[0].id, name, created: false };
  const result = await createTenant(services, { name, status: 'active' });
  if (result.kind === 'refused') return result;
  const { id, status } = result.tenant;
  await recordAct(services, id, 'tenant.created', { name: result.tenant.name, status });
  return { id, name: result.tenant.name, created: true };
}

async function domainOf(
  services: OperatorServices,
  tenantId: string,
  name: string,
): Promise<NonNullable<FirstAccounts['domain']> | string> {
  const known = await services.store.domains.listDomains(tenantId);
  if (known.some((domain) => domain.name === name && domain.state !== 'revoked')) return { name, created: false };
  const domain = await services.domains().register({ tenantId, boundDomain: null }, { domain: name });
  if (isRefusal(domain)) return domain.message;
  await recordAct(services, tenantId, 'domain.created', { domain_id: domain.id, domain: domain.name });
  return { name, created: true };
}

/** Null: the tenant has one, which can't be shown again. */
async function keyOf(services: OperatorServices, tenantId: string): Promise<string | Refused | null> {
  const keys = await services.store.keys.listApiKeys(tenantId);
  if (keys.some(({ revokedAt }) => revokedAt === null)) return null;
  const maxLive = services.config.limits.keys_per_tenant;
  const request = { tenantId, name: KEY_NAME, scopes: KEY_SCOPES, boundDomain: null, maxLive };
  const result = await createApiKey(services, request);
  if (result.kind === 'refused') return result;
  const { id, name, scopes } = result.key;
  await recordAct(services, tenantId, 'key.created', { key_id: id, name, scopes: scopes.join(' ') });
  services.notifyOwners?.keyAdded(tenantId, { id, name, by: 'the operator' });
  return result.token;
}

// What a visitor of the sandbox needs, ready from the first start on and the same after every
// restart: a tenant, a verified domain, an API key, a login of the tenant and an operator's. Made by the same services as any
// other tenant's. The store keeps only hashes, so key and password lie in a file beside it.
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import { isRefusal } from '../base/refusals.ts';
import type { Domains } from '../domains/domains.ts';
import type { Store } from '../store/store.ts';
import { SCOPES, type UserRole } from '../store/tenants.ts';
import { createUser, resetPassword, verifyUser } from '../tenants/accounts/users.ts';
import { createApiKey, verifyApiKey } from '../tenants/api-keys.ts';
import type { Refused } from '../tenants/refused.ts';
import { createTenant, setTenant } from '../tenants/tenant-service.ts';

export interface Access {
  tenantId: string;
  domain: string;
  apiKey: string;
  email: string;
  password: string;
  /** Sees all tenants. */
  operator: { email: string; password: string };
}

export interface AccessServices {
  store: Pick<Store, 'tenants' | 'accounts' | 'keys' | 'audit'>;
  domains: Domains;
  clock: Clock;
  ids: IdSource;
  /** `limits.keys_per_tenant`. */
  maxKeys: number;
}

const SANDBOX_DOMAIN = 'hello.verified.test';
const TENANT_NAME = 'Sandbox';
const KEY_NAME = 'sandbox';
const EMAIL = `sandbox@${SANDBOX_DOMAIN}`;
const OPERATOR_EMAIL = `operator@${SANDBOX_DOMAIN}`;

/** What was written down at an earlier start; each part may be missing or out of date. */
type Remembered = Partial<Pick<Access, 'tenantId' | 'apiKey' | 'password'> & { operatorPassword: string }>;

export async function prepareAccess(file: string, services: AccessServices): Promise<Access> {
  const remembered = await readRemembered(file);
  const tenantId = await readyTenant(remembered, services);
  const owner = { tenantId, email: EMAIL, role: 'owner', password: remembered.password } as const;
  const operator = { email: OPERATOR_EMAIL, role: 'operator', password: remembered.operatorPassword } as const;
  const access: Access = {
    tenantId,
    domain: SANDBOX_DOMAIN,
    apiKey: await readyKey(tenantId, remembered, services),
    email: EMAIL,
    password: await readyPassword(owner, services),
    operator: { email: OPERATOR_EMAIL, password: await readyPassword(operator, services) },
  };
  await readyDomain(tenantId, services);
  await remember(file, access);
  return access;
}

/** Active and uncapped again, whatever was tried out with it. */
async function readyTenant(remembered: Remembered, services: AccessServices): Promise<string> {
  const tenants = await services.store.tenants.listTenants();
  const known =
    tenants.find(({ id }) => id === remembered.tenantId) ?? tenants.find(({ name }) => name === TENANT_NAME);
  const { id } = known ?? granted(await createTenant(services, { name: TENANT_NAME })).tenant;
  granted(await setTenant(services, id, { status: 'active', tier: 'uncapped' }));
  return id;
}

async function readyKey(tenantId: string, remembered: Remembered, services: AccessServices): Promise<string> {
  const { store, clock, maxKeys } = services;
  const { apiKey } = remembered;
  const valid = apiKey === undefined ? null : await verifyApiKey(apiKey, store);
  if (apiKey !== undefined && valid?.tenant.id === tenantId) return apiKey;
  // Keys of earlier starts that nobody knows any more.
  const lost = (await store.keys.listApiKeys(tenantId)).filter(
    (key) => key.name === KEY_NAME && key.revokedAt === null,
  );
  await Promise.all(lost.map(({ id }) => store.keys.revokeApiKey(tenantId, id, clock.now())));
  const request = { tenantId, name: KEY_NAME, scopes: SCOPES, maxLive: maxKeys };
  return granted(await createApiKey(services, request)).token;
}

interface Login {
  /** None for an operator. */
  tenantId?: string;
  email: string;
  role: UserRole;
  /** Of an earlier start. */
  password: string | undefined;
}

async function readyPassword({ password, ...user }: Login, services: AccessServices): Promise<string> {
  const { store } = services;
  const { email } = user;
  if (password !== undefined && (await verifyUser({ email, password }, store))) return password;
  if (await store.accounts.findUserByEmail(email)) return granted(await resetPassword(services, email)).password;
  return granted(await createUser(services, { tenantId: null, ...user })).password;
}

async function readyDomain(tenantId: string, { domains }: AccessServices): Promise<void> {
  const owner = { tenantId, boundDomain: null };
  const all = await domains.list(owner);
  const known = all.find((domain) => domain.name === SANDBOX_DOMAIN && domain.state !== 'revoked');
  if (known?.state === 'verified') return;
  const domain = known ?? (await domains.register(owner, { domain: SANDBOX_DOMAIN }));
  const verified = isRefusal(domain) ? domain : await domains.verify(owner, domain.id);
  if (isRefusal(verified)) throw new Fault(`${SANDBOX_DOMAIN} could not be verified: ${verified.message}`);
}

function granted<T extends object>(result: T | Refused): T {
  if ('kind' in result && result.kind === 'refused') {
    throw new Fault(`the sandbox could not be set up: ${(result as Refused).message}`);
  }
  return result as T;
}

async function readRemembered(file: string): Promise<Remembered> {
  try {
    const { tenant_id, api_key, password, operator_password } = JSON.parse(await readFile(file, 'utf8'));
    return { tenantId: tenant_id, apiKey: api_key, password, operatorPassword: operator_password };
  } catch {
    // Missing or spoilt: everything in it can be made anew.
    return {};
  }
}

async function remember(file: string, { tenantId, apiKey, email, password, operator }: Access): Promise<void> {
  const draft = `${file}.new`;
  const lines = {
    tenant_id: tenantId,
    api_key: apiKey,
    email,
    password,
    operator_email: operator.email,
    operator_password: operator.password,
  };
  await writeFile(draft, `${JSON.stringify(lines, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

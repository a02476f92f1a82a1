// key create | list | revoke
import { toTimestamp } from '../../base/clock.ts';
import { isUuid } from '../../base/ids.ts';
import { done, failed } from '../../operator/answer.ts';
import type { Store } from '../../store/store.ts';
import { type ApiKey, SCOPES } from '../../store/tenants.ts';
import { createApiKey, publicPart, readPublicId } from '../../tenants/api-keys.ts';
import { storeCommand } from '../command.ts';
import { domainName, label, listOf, positional, required, tenantName, text } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { fromRefused } from '../refusal.ts';
import { renderTable } from '../table.ts';

export const keyCreate = storeCommand({
  name: 'key create',
  summary: 'Creates an API key and prints it. It is shown only once.',
  options: {
    tenant: required(tenantName('the tenant')),
    name: required(label('NAME', 'a name to recognize the key by')),
    scopes: required(listOf('SCOPES', SCOPES, 'the scopes of the key')),
    domain: domainName('restrict the key to this sending domain'),
  },
  async run(services, { tenant, name, scopes, domain }) {
    const maxLive = services.config.limits.keys_per_tenant;
    const request = { tenantId: tenant, name, scopes, boundDomain: domain ?? null, maxLive };
    const result = await createApiKey(services, request);
    if (result.kind === 'refused') return fromRefused(result);
    const { id, scopes: held, boundDomain } = result.key;
    await recordAct(services, tenant, 'key.created', { key_id: id, name, scopes: held.join(' '), domain: boundDomain });
    services.notifyOwners?.keyAdded(tenant, { id, name: result.key.name, by: 'the operator' });
    const domains = boundDomain === null ? [] : await services.store.domains.listDomains(tenant);
    const isUnknown = boundDomain !== null && !domains.some(({ name: own }) => own === boundDomain);
    return done({ id, key: result.token, unknown_domain: isUnknown ? boundDomain : null });
  },
  render: ({ id, key }) => `Key ${id} created. It is shown only once:\n${key}`,
  note: ({ unknown_domain: domain }) =>
    domain === null
      ? null
      : `The tenant has no domain ${domain} yet: until it is added and verified, every call with this key is refused.`,
  toJson: ({ id, key }) => ({ id, key }),
});

export const keyList = storeCommand({
  name: 'key list',
  summary: "Lists a tenant's API keys, including revoked ones. Secrets are not stored.",
  options: { tenant: required(tenantName('the tenant')) },
  async run({ store }, { tenant }) {
    if (!(await store.tenants.getTenant(tenant))) return failed(`there is no tenant ${tenant}`);
    const uses = new Map((await store.keys.lastKeyUses(tenant)).map(({ keyId, at }) => [keyId, at]));
    return done({ keys: (await store.keys.listApiKeys(tenant)).map((key) => showKey(key, uses.get(key.id))) });
  },
  render: ({ keys }) =>
    renderTable(
      keys,
      [
        { title: 'ID', value: (key) => key.id },
        { title: 'KEY', value: (key) => `${key.public_part}_…` },
        { title: 'SCOPES', value: (key) => key.scopes.join(',') },
        { title: 'DOMAIN', value: (key) => key.domain },
        { title: 'CREATED', value: (key) => key.created_at },
        { title: 'LAST USED', value: (key) => key.last_used_at },
        { title: 'REVOKED', value: (key) => key.revoked_at },
        { title: 'NAME', value: (key) => key.name },
      ],
      'No keys.',
    ),
});

export const keyRevoke = storeCommand({
  name: 'key revoke',
  summary: 'Revokes an API key immediately and permanently.',
  options: {
    key: required(positional(text('KEY', "the key's ID, or its public part pr_…"))),
    tenant: tenantName('only search the keys of this tenant'),
  },
  check: ({ key }) =>
    isUuid(key) || readPublicId(key) !== null ? null : `KEY: "${key}" is not a key ID or the public part of a key`,
  async run(services, { key: named, tenant }) {
    const { store, clock } = services;
    const key = isUuid(named)
      ? await findById(store, named.toLowerCase(), tenant)
      : await findByPublicPart(store, named);
    if (!key || (tenant !== undefined && key.tenantId !== tenant)) return failed('key not found');
    const revoked = await store.keys.revokeApiKey(key.tenantId, key.id, clock.now());
    if (!revoked) return failed(`the key ${key.id} is already revoked`);
    await recordAct(services, key.tenantId, 'key.revoked', { key_id: key.id, name: key.name });
    return done({ id: key.id, revoked: true });
  },
  render: ({ id }) => `Key ${id} is revoked.`,
});

async function findByPublicPart(store: Pick<Store, 'keys' | 'tenants'>, named: string): Promise<ApiKey | null> {
  const found = await store.keys.findApiKey(readPublicId(named)!);
  return found?.key ?? null;
}

/** An operator who revokes in a hurry need not know whose key it is. */
async function findById(
  store: Pick<Store, 'keys' | 'tenants'>,
  id: string,
  tenant: string | undefined,
): Promise<ApiKey | null> {
  const tenantIds = tenant === undefined ? (await store.tenants.listTenants()).map((each) => each.id) : [tenant];
  for (const tenantId of tenantIds) {
    const key = (await store.keys.listApiKeys(tenantId)).find((each) => each.id === id);
    if (key) return key;
  }
  return null;
}

/** The time of the last use is written once a minute. */
function showKey(key: ApiKey, lastUsedAt: number | undefined) {
  return {
    id: key.id,
    public_part: publicPart(key.publicId),
    name: key.name,
    scopes: key.scopes,
    domain: key.boundDomain,
    created_at: toTimestamp(key.createdAt),
    last_used_at: lastUsedAt === undefined ? null : toTimestamp(lastUsedAt),
    revoked_at: key.revokedAt === null ? null : toTimestamp(key.revokedAt),
  };
}

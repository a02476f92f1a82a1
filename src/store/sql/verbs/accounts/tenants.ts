// Tenants and their API keys.

import { timingSafeEqual } from 'node:crypto';
import type {
  ApiKey,
  ApiKeyStore,
  KeyUse,
  KeyUseStore,
  Scope,
  Tenant,
  TenantChange,
  TenantStore,
  Tier,
} from '../../../tenants.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toFlag, toId } from '../../values.ts';

export function tenantVerbs(db: Transaction): Work<Omit<TenantStore, 'recentResultsOf'>> {
  return {
    *createTenant(tenant) {
      yield* insertTenant(db, tenant);
    },
    getTenant: (id) => readTenant(db, id),
    *listTenants() {
      return ((yield* db.sql('SELECT * FROM tenants ORDER BY id').all()) as Row[]).map(tenantFromRow);
    },
    updateTenant: (id, change) => updateTenant(db, id, change),
    *raiseTier(tenantId, tier) {
      const raise = db.sql('UPDATE tenants SET tier = +? WHERE id = +? AND tier_pinned = 0');
      return (yield* raise.run(tier, toId(tenantId))).changes === 1;
    },
  };
}

export function apiKeyVerbs(db: Transaction): Work<ApiKeyStore> {
  return {
    createApiKey: (key, maxLive) => createApiKey(db, key, maxLive),
    findApiKey: (publicId) => findApiKey(db, publicId),
    findApiKeyBySecret: (publicId, secretHash) =>
      db.cached(`key ${publicId} ${secretHash.toString('latin1')}`, function* () {
        return (yield* hasSecret(db, publicId, secretHash)) ? yield* findApiKey(db, publicId) : null;
      }),
    *listApiKeys(tenantId) {
      return (
        (yield* db.sql('SELECT * FROM api_keys WHERE tenant_id = +? ORDER BY id').all(toId(tenantId))) as Row[]
      ).map(keyFromRow);
    },
    *revokeApiKey(tenantId, id, at) {
      const revoke = db.sql(
        'UPDATE api_keys SET revoked_at = +? WHERE tenant_id = +? AND id = +? AND revoked_at IS NULL',
      );
      return (yield* revoke.run(at, toId(tenantId), toId(id))).changes === 1;
    },
  };
}

export function* insertTenant(db: Transaction, tenant: Tenant): Steps<void> {
  yield* db
    .sql(
      `INSERT INTO tenants (id, name, status, status_reason, tier, tier_pinned, open_tracking, click_tracking,
       unsubscribe, bounces_domain, created_at)
     VALUES (+@id, +@name, +@status, +@statusReason, +@tier, +@tierPinned, +@openTracking, +@clickTracking,
       +@unsubscribe, +@bouncesDomain, +@createdAt)`,
    )
    .run(tenantColumns(tenant));
}

function* updateTenant(db: Transaction, id: string, change: TenantChange): Steps<Tenant | null> {
  const current = yield* readTenant(db, id);
  if (!current) return null;
  const tenant = { ...current, ...change };
  const { createdAt: _, ...columns } = tenantColumns(tenant);
  yield* db
    .sql(
      `UPDATE tenants SET name = +@name, status = +@status, status_reason = +@statusReason, tier = +@tier,
       tier_pinned = +@tierPinned, open_tracking = +@openTracking, click_tracking = +@clickTracking,
       unsubscribe = +@unsubscribe, bounces_domain = +@bouncesDomain
     WHERE id = +@id`,
    )
    .run(columns);
  return tenant;
}

function tenantColumns(tenant: Tenant) {
  return {
    ...tenant,
    id: toId(tenant.id),
    tierPinned: toFlag(tenant.tierPinned),
    openTracking: toFlag(tenant.openTracking),
    clickTracking: toFlag(tenant.clickTracking),
    unsubscribe: toFlag(tenant.unsubscribe),
  };
}

export function* readTenant(db: Transaction, id: string): Steps<Tenant | null> {
  const row = (yield* db.sql('SELECT * FROM tenants WHERE id = +?').get(toId(id))) as Row | undefined;
  return row ? tenantFromRow(row) : null;
}

function tenantFromRow(row: Row): Tenant {
  return {
    id: fromId(row.id),
    name: row.name as string,
    status: row.status as Tenant['status'],
    statusReason: row.status_reason as string | null,
    tier: row.tier as Tier,
    tierPinned: row.tier_pinned === 1,
    openTracking: row.open_tracking === 1,
    clickTracking: row.click_tracking === 1,
    unsubscribe: row.unsubscribe === 1,
    bouncesDomain: row.bounces_domain as string | null,
    createdAt: row.created_at as number,
  };
}

function* createApiKey(db: Transaction, key: ApiKey, maxLive: number): Steps<'created' | 'too_many'> {
  const live = (yield* db
    .sql('SELECT count(*) AS n FROM api_keys WHERE tenant_id = +? AND revoked_at IS NULL')
    .get(toId(key.tenantId))) as { n: number };
  if (live.n >= maxLive) return 'too_many';
  yield* db
    .sql(
      `INSERT INTO api_keys (id, tenant_id, public_id, name, scopes, bound_domain, secret_hash, created_at, revoked_at)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?, +?)`,
    )
    .run(
      toId(key.id),
      toId(key.tenantId),
      key.publicId,
      key.name,
      JSON.stringify(key.scopes),
      key.boundDomain,
      key.secretHash,
      key.createdAt,
      key.revokedAt,
    );
  return 'created';
}

// Compared when the key does not exist: no known secret has this hash.
const NO_HASH = Buffer.alloc(32);

function* hasSecret(db: Transaction, publicId: string, secretHash: Buffer): Steps<boolean> {
  const expected = yield* db.sql('SELECT secret_hash FROM api_keys WHERE public_id = +?', 'column').get(publicId);
  return timingSafeEqual(secretHash, (expected as Buffer | undefined) ?? NO_HASH);
}

function* findApiKey(db: Transaction, publicId: string): Steps<{ key: ApiKey; tenant: Tenant } | null> {
  const row = (yield* db.sql('SELECT * FROM api_keys WHERE public_id = +?').get(publicId)) as Row | undefined;
  if (!row) return null;
  const key = keyFromRow(row);
  const tenant = yield* readTenant(db, key.tenantId);
  return tenant ? { key, tenant } : null;
}

function keyFromRow(row: Row): ApiKey {
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    publicId: row.public_id as string,
    name: row.name as string,
    scopes: JSON.parse(row.scopes as string) as Scope[],
    boundDomain: row.bound_domain as string | null,
    secretHash: row.secret_hash as Buffer,
    createdAt: row.created_at as number,
    revokedAt: row.revoked_at as number | null,
  };
}

// When API keys were last used.

export function keyUseVerbs(db: Transaction): Work<KeyUseStore> {
  return {
    noteKeyUses: (uses) => note(db, uses),
    *lastKeyUses(tenantId) {
      const rows = yield* db
        .sql('SELECT key_id, last_used_at FROM api_key_uses WHERE tenant_id = +?')
        .all(toId(tenantId));
      return (rows as Row[]).map((row) => ({ keyId: fromId(row.key_id), at: row.last_used_at as number }));
    },
  };
}

function* note(db: Transaction, uses: readonly KeyUse[]): Steps<void> {
  const insert = db.sql(
    `INSERT INTO api_key_uses (key_id, tenant_id, last_used_at) SELECT id, tenant_id, +@at FROM api_keys WHERE id = +@key
     ON CONFLICT (key_id) DO UPDATE SET last_used_at = max(api_key_uses.last_used_at, excluded.last_used_at)`,
  );
  for (const { keyId, at } of uses) yield* insert.run({ key: toId(keyId), at });
}

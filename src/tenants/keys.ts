// A tenant's API keys as its users see them: created, listed with their last use, revoked. The format and
// verification of keys are in api-keys.ts.

import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { StoreVerbs } from '../store/store.ts';
import type { ApiKey } from '../store/tenants.ts';
import { type CreatedApiKey, createApiKey, publicPart } from './api-keys.ts';
import type { KeyUses } from './key-uses.ts';
import type { Refused } from './refused.ts';

export interface KeysKit {
  store: StoreVerbs<{ tenants: 'getTenant'; keys: 'createApiKey' | 'listApiKeys' | 'revokeApiKey' }>;
  clock: Clock;
  ids: IdSource;
  uses: KeyUses;
  /** `limits.keys_per_tenant`. */
  maxLive: number;
}

/** All that may be shown of a key: not even the hash of its secret. */
export interface ShownKey extends Omit<ApiKey, 'secretHash'> {
  publicPart: string;
  lastUsedAt: number | null;
}

export interface KeyRequest {
  name: string;
  scopes: readonly string[];
  boundDomain: string | null;
}

export interface Keys {
  readonly maxLive: number;
  create(tenantId: string, request: KeyRequest): Promise<CreatedApiKey | Refused>;
  /** Oldest first, revoked ones included. */
  list(tenantId: string): Promise<ShownKey[]>;
  /** Null when the tenant has no such key, or has revoked it already. */
  revoke(tenantId: string, id: string): Promise<ShownKey | null>;
}

export function createKeys(kit: KeysKit): Keys {
  const { store, clock, uses, maxLive } = kit;

  async function list(tenantId: string): Promise<ShownKey[]> {
    const [keys, stored] = await Promise.all([store.keys.listApiKeys(tenantId), uses.ofTenant(tenantId)]);
    return keys.map(({ secretHash: _, ...key }) => {
      const lastUsedAt = uses.latest(key.id, stored.get(key.id));
      return { ...key, publicPart: publicPart(key.publicId), lastUsedAt };
    });
  }

  return {
    maxLive,
    create: (tenantId, request) => createApiKey(kit, { tenantId, ...request, maxLive }),
    list,
    async revoke(tenantId, id) {
      const key = (await list(tenantId)).find((one) => one.id === id.toLowerCase());
      if (!key || !(await store.keys.revokeApiKey(tenantId, key.id, clock.now()))) return null;
      return { ...key, revokedAt: clock.now() };
    },
  };
}

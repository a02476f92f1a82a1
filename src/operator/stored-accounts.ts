// What a database has already, read without the daemon and without a lock.
import type { Config } from '../config/keys.ts';
import { inspect } from '../store/opening/open-store.ts';
import type { NamedTenant } from '../tenants/find-tenant.ts';
import { dataFolder, overDatabase } from './data-folder.ts';

export interface StoredAccounts {
  tenants: readonly NamedTenant[];
  hasDomains: boolean;
}

/** Empty where there is no database yet. */
export async function storedAccounts(config: Pick<Config, 'data' | 'store'>): Promise<StoredAccounts> {
  const folder = dataFolder(config);
  const found = await overDatabase(folder, () =>
    inspect(folder.store, async (stored) => ({
      tenants: await stored.tenants(),
      hasDomains: (await stored.domains(null, 1)).domains.length > 0,
    })),
  );
  return found ?? { tenants: [], hasDomains: false };
}

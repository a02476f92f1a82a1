// What a database has already, read without the daemon and without a lock. Loads the driver, so import() it where it is used.
import fs from 'node:fs';
import type { Config } from '../config/keys.ts';
import { readStoredDomains, readTenants } from '../store/sqlite/reading/inspection.ts';
import type { NamedTenant } from '../tenants/find-tenant.ts';
import { dataFolder, overDatabase } from './data-folder.ts';

export interface StoredAccounts {
  tenants: readonly NamedTenant[];
  hasDomains: boolean;
}

/** Empty where there is no database yet. */
export async function storedAccounts({ data }: Pick<Config, 'data'>): Promise<StoredAccounts> {
  const { database } = dataFolder(data.dir);
  if (!fs.existsSync(database)) return { tenants: [], hasDomains: false };
  return overDatabase(database, () => ({
    tenants: readTenants(database),
    hasDomains: (readStoredDomains(database, null, 1)?.domains.length ?? 0) > 0,
  }));
}

// Opens stores on PostgreSQL for the conformance suite.
import type { Test } from 'tap';
import { migrate } from '../../src/store/postgres/engine/migrations.ts';
import { parseServerAddress } from '../../src/store/postgres/engine/server-address.ts';
import { openPostgresStore, type PostgresOptions } from '../../src/store/postgres/open.ts';
import { openPostgresPortalReads } from '../../src/store/postgres/portal-reads.ts';
import { openPostgresCourierReads } from '../../src/store/postgres/reads.ts';
import type { Store } from '../../src/store/store.ts';
import type { OpenStore } from '../store/conformance/harness.ts';
import type { PostgresServer } from './postgres-server.ts';

/** A database for each case, copied from one that was migrated: faster than migrating each. */
export async function openerOn(server: PostgresServer, options: Partial<PostgresOptions> = {}): Promise<OpenStore> {
  const template = await server.createDatabase();
  await migrate(parseServerAddress(server.url(template)));
  return async (t: Test) => {
    const name = await server.createDatabase(template);
    t.teardown(() => server.dropDatabase(name));
    const open = async (): Promise<Store> => {
      const store = await openPostgresStore({ ...options, url: server.url(name) });
      t.teardown(() => store.close());
      return store;
    };
    const reads = () => {
      const limits = { queryMs: 60_000, waitMs: 60_000 };
      const reading = openPostgresPortalReads({ url: server.url(name), onTrouble: (reason) => t.fail(reason), limits });
      t.teardown(() => reading.close());
      return reading.reads;
    };
    const openContents = () => openPostgresCourierReads(server.url(name)).contents;
    return { store: await open(), openSecond: open, openContents, reads };
  };
}

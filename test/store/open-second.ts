// A second handle on a database, as another process would have it.
import type { Test } from 'tap';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';

export async function openSecond(t: Test, file: string): Promise<Store> {
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  return store;
}

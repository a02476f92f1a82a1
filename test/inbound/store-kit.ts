// A real store in a folder of the test, with the short ways of the conformance suite.
import path from 'node:path';
import type { Test } from 'tap';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { Bench } from '../store/conformance/harness.ts';
import { newDatabase } from '../support/new-database.ts';
import { testFolder } from '../support/test-folder.ts';

export async function openStore(t: Test): Promise<Bench> {
  const file = path.join(testFolder(t), 'postrider.db');
  await newDatabase(file);
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  return new Bench({ store, openContents: () => openContentReader(file) });
}

// Opens the store with its writer on a thread for the three parts of its conformance test.
import path from 'node:path';
import type { Test } from 'tap';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { openThreadedStore } from '../../src/store/sqlite/threaded-store.ts';
import { testFolder } from '../support/test-folder.ts';
import { openReads } from './open-reads.ts';
import { openSecond } from './open-second.ts';

export async function openThreaded(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const onTrouble = (error: unknown) => t.fail(String(error));
  const store = await openThreadedStore({ file, onCheckpointFault: onTrouble, onLost: onTrouble });
  t.teardown(() => store.close());
  return {
    ...{ store, openSecond: () => openSecond(t, file) },
    ...{ openContents: () => openContentReader(file), reads: () => openReads(t, file) },
  };
}

// Commits that fail close the intake, through the store's own word for it; when they succeed
// again it opens, without anybody's help.
import path from 'node:path';
import t from 'tap';
import { Intake } from '../../src/observe/intake.ts';
import type { StoreFaults } from '../../src/store/sqlite/engine/writing-connection.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { testFolder } from '../support/test-folder.ts';

t.test('a database that cannot be written closes the intake until it can', async (t) => {
  const faults: StoreFaults = {};
  const intake: Intake = new Intake({
    clock: { now: () => 5 },
    log: { info() {}, warn() {}, error() {} },
    limits: { minDiskFreeShare: 0, maxResidentBytes: Number.POSITIVE_INFINITY },
    ...{ reusableShare: async () => 0, makeRoom: async () => null },
    diskFreeShare: async () => 1,
    residentBytes: () => 0,
    proveWritable: () => store.proveWritable(5),
  });
  const file = path.join(testFolder(t), 'postrider.db');
  const store: Store = await openSqliteStore({ file, faults, onFailedCommit: (error) => intake.commitFailed(error) });
  t.teardown(() => store.close());
  await store.proveWritable(1);
  t.match(intake.state, { accepting: true });

  faults.beforeCommit = () => {
    throw new Error('disk I/O error');
  };
  await t.rejects(store.proveWritable(2), { message: 'the database could not be used' });
  t.match(intake.state, { accepting: false, reason: 'the database cannot be written: disk I/O error' });
  t.equal(await store.ping(), true, 'what only reads goes on');
  t.match(await intake.check(), { accepting: false });

  delete faults.beforeCommit;
  await intake.check();
  t.match(await intake.check(), { accepting: true, reason: null });
});

t.test('one verb that the disk does not take says nothing about the others', async (t) => {
  const faults: StoreFaults = {};
  let failed = 0;
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file, faults, onFailedCommit: () => void failed++ });
  t.teardown(() => store.close());
  faults.beforeCommit = (verbs) => {
    if (verbs > 1) throw new Error('database or disk is full');
  };
  await Promise.all([store.proveWritable(1), store.proveWritable(2)]);
  t.equal(failed, 0);
});

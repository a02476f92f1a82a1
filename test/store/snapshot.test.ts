// All that one read looks at is from one moment, in each read of a connection, while another connection commits.
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { Snapshot } from '../../src/store/sqlite/engine/snapshot.ts';
import { testFolder } from '../support/test-folder.ts';

function open(t: Test) {
  const file = `${testFolder(t)}/snapshot.db`;
  const writer = new Database(file);
  writer.pragma('journal_mode = WAL');
  writer.exec('CREATE TABLE counted (n INTEGER); INSERT INTO counted VALUES (0)');
  const reader = new Database(file, { readonly: true });
  t.teardown(() => {
    reader.close();
    writer.close();
  });
  const snapshot = new Snapshot(reader);
  const count = reader.prepare('SELECT n FROM counted').pluck();
  const read = (): unknown => {
    snapshot.enter();
    return count.get();
  };
  const commit = () => void writer.exec('UPDATE counted SET n = n + 1');
  return { reader, snapshot, read, commit };
}

t.test('each read is from one moment, and the next one from a later moment', async (t) => {
  const { reader, snapshot, read, commit } = open(t);
  for (const expected of [0, 1, 2]) {
    const both = snapshot.run(() => {
      const before = read();
      commit();
      return [before, read()];
    });
    t.strictSame(both, [expected, expected]);
    t.equal(reader.inTransaction, false, 'so that checkpoints are not blocked');
  }
});

t.test('a read that asks nothing begins nothing', async (t) => {
  const { reader, snapshot } = open(t);
  t.equal(
    snapshot.run(() => reader.inTransaction),
    false,
  );
});

t.test('a read that fails, and one whose transaction SQLite has ended, leave the next one alone', async (t) => {
  const { reader, snapshot, read, commit } = open(t);
  const failing = () => {
    read();
    throw new Error('it fails');
  };
  t.throws(() => snapshot.run(failing), /it fails/);
  t.equal(reader.inTransaction, false);
  snapshot.run(() => {
    read();
    reader.exec('ROLLBACK');
  });
  const both = snapshot.run(() => {
    const before = read();
    commit();
    return [before, read()];
  });
  t.strictSame(both, [0, 0]);
});

// Checkpoints on a thread of their own: the log stays small, the writer goes on, nothing is lost
// (that is durability.test.ts), and without the thread SQLite does them in the commits again.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { describeError } from '../../src/base/errors.ts';
import { CHECKPOINT_LIMITS, nextCheckpoint } from '../../src/store/sqlite/engine/checkpoint-plan.ts';
import { startCheckpointer } from '../../src/store/sqlite/engine/checkpointer.ts';
import { CHECKPOINT_WAIT_MS, openForWriting } from '../../src/store/sqlite/engine/database-file.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench } from './conformance/harness.ts';

const LIMITS = { copyFromPages: 50, restartFromPages: 400, shrinkFromBytes: 500_000 };
const PAGE_BYTES = 4096;

async function openBusyStore(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const faults: unknown[] = [];
  const onFault = (error: unknown) => void faults.push(error);
  const store = await openSqliteStore({ file, checkpointThread: { onFault, limits: LIMITS } });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const { domain } = await bench.sender('acme.test');
  /** So many messages of 4 KB and more, several to a commit. */
  const accept = async (count: number) => {
    for (let done = 0; done < count; done += 10) {
      const group = Array.from({ length: 10 }, () => bench.accept(domain, ['a@x.test'], { text: 'x'.repeat(4000) }));
      await Promise.all(group);
    }
  };
  const logBytes = () => fs.statSync(`${file}-wal`).size;
  return { file, store, faults, accept, logBytes };
}

/** Until `holds`, with `meanwhile` over and over; the test's own timeout ends a vain wait. */
async function until(holds: () => boolean, meanwhile: () => Promise<unknown>): Promise<void> {
  while (!holds()) await meanwhile();
}

const breath = () => new Promise((resolve) => setTimeout(resolve, 5));

/** SQLite counts it in the head of the log. */
function timesBegunAnew(file: string): number {
  return fs.readFileSync(`${file}-wal`).readUInt32BE(12);
}

t.test('the log is copied and begun anew while the writer goes on', async (t) => {
  const { file, store, faults, accept, logBytes } = await openBusyStore(t);
  const databaseBytes = () => fs.statSync(file).size;
  const atFirst = databaseBytes();
  await until(
    () => databaseBytes() > atFirst + 500 * PAGE_BYTES,
    () => accept(50),
  );
  t.ok(databaseBytes() > atFirst, 'the database has grown before it was closed');
  const begunAtFirst = timesBegunAnew(file);
  await until(
    () => timesBegunAnew(file) >= begunAtFirst + 3,
    () => accept(50),
  );
  t.ok(timesBegunAnew(file) >= begunAtFirst + 3, 'its log is overwritten from the start, again and again');
  await until(() => logBytes() === 0, breath);
  t.equal(logBytes(), 0, 'when nothing is written the file of the log is given back');
  await store.close();
  t.notOk(fs.existsSync(`${file}-wal`), 'closing leaves no log');
  t.strictSame(faults, []);
  const db = new Database(file, { readonly: true });
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  db.close();
});

t.test('a reader that holds the log holds up nobody else', async (t) => {
  const { file, faults, accept, logBytes } = await openBusyStore(t);
  const reader = new Database(file, { readonly: true });
  reader.exec('BEGIN');
  const seen = reader.prepare('SELECT count(*) FROM messages').pluck();
  const atFirst = seen.get() as number;
  await until(
    () => logBytes() > 3 * LIMITS.restartFromPages * PAGE_BYTES,
    () => accept(50),
  );
  t.equal(seen.get(), atFirst, 'it still reads what it read at first');
  reader.close();
  await until(() => logBytes() === 0, breath);
  t.equal(logBytes(), 0, 'when it is gone, the log is emptied');
  t.strictSame(faults, []);
});

t.test('a lock that is held for a moment when the thread begins is no fault', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  openForWriting(file).close();
  // As a connection that closes has it, while it looks whether it is the last one.
  const holder = new Database(file);
  holder.pragma('locking_mode = EXCLUSIVE');
  holder.exec('CREATE TABLE held (x)');
  const told: unknown[] = [];
  const checkpointer = startCheckpointer({
    ...{ file, limits: LIMITS },
    checkpointInCommits: (on) => void told.push(on),
    pauseWriter: () => t.fail('for nothing'),
    onFault: (error) => void told.push(describeError(error)),
  });
  const heldUntil = performance.now() + 10 * CHECKPOINT_WAIT_MS;
  await until(() => performance.now() > heldUntil || told.length > 0, breath);
  holder.close();
  await until(() => told.length > 0, breath);
  t.strictSame(told, [false], 'it waits, then does the checkpoints');
  await checkpointer.close();
});

t.test('a thread that cannot work is told of, and commits do its work', async (t) => {
  const inCommits: boolean[] = [];
  const told: string[] = [];
  const checkpointer = startCheckpointer({
    file: path.join(testFolder(t), 'nothing.db'),
    limits: LIMITS,
    checkpointInCommits: (on) => void inCommits.push(on),
    pauseWriter: () => t.fail('for nothing'),
    onFault: (error) => void told.push(describeError(error)),
  });
  await until(() => told.length > 0, breath); // the thread alone does not keep this process
  t.match(told[0], /unable to open database file; it is started again in 1 s/);
  t.strictSame(inCommits, [true]);
  await checkpointer.close();
});

t.test('while a thread fails, commits do its work; when it works again, it does', async (t) => {
  const fails = `import { parentPort } from 'node:worker_threads';
    let looks = 0;
    parentPort.postMessage({ kind: 'ready' });
    parentPort.on('message', ({ kind }) => {
      if (kind === 'close') parentPort.close();
      else parentPort.postMessage(++looks < 3 ? { kind: 'failed', reason: 'disk I/O error' } : { kind: 'checked', blocked: false });
    });`;
  const told: (boolean | string)[] = [];
  const checkpointer = startCheckpointer({
    ...{ file: '', limits: LIMITS, entry: new URL(`data:text/javascript,${encodeURIComponent(fails)}`) },
    checkpointInCommits: (on) => void told.push(on),
    pauseWriter: () => {},
    onFault: (error) => void told.push(describeError(error)),
  });
  const { length: answers } = EXPECTED;
  await until(
    () => told.length >= answers,
    async () => {
      checkpointer.committed();
      await breath();
    },
  );
  t.same(told.slice(0, answers), EXPECTED);
  await checkpointer.close();
});

const FAILED = 'a checkpoint failed (disk I/O error)';
const EXPECTED = [false, true, FAILED, true, FAILED, false];

t.test('what is done when', async (t) => {
  const { copyFromPages, restartFromPages, shrinkFromBytes } = CHECKPOINT_LIMITS;
  const idle = { pages: 10, copied: 0, fileBytes: 0, quiet: false, heldByReader: false };
  const decided = (change: Partial<typeof idle>) => nextCheckpoint({ ...idle, ...change }).decision;
  t.equal(decided({}), 'none');
  t.equal(decided({ pages: copyFromPages }), 'copy');
  t.equal(decided({ pages: copyFromPages, copied: 1 }), 'none');
  t.equal(decided({ pages: restartFromPages, copied: 0 }), 'copy', 'first beside the writer');
  t.equal(decided({ pages: restartFromPages, copied: restartFromPages - 1 }), 'restart');
  t.equal(decided({ quiet: true, fileBytes: shrinkFromBytes }), 'shrink');
  t.equal(decided({ quiet: true, fileBytes: shrinkFromBytes - 1 }), 'none');
  t.equal(decided({ heldByReader: true, pages: restartFromPages, copied: restartFromPages }), 'none');
  t.equal(decided({ heldByReader: true, quiet: true, fileBytes: shrinkFromBytes }), 'none');
  t.equal(decided({ heldByReader: true, pages: restartFromPages, copied: 0 }), 'copy');
  t.match(nextCheckpoint({ ...idle, pages: copyFromPages }).reason, /1000 pages wait/);
});

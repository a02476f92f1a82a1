// Backup beside a running writer, the way back, and what is refused.

import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { backupDatabase, restoreDatabase } from '../../src/store/sqlite/engine/backup.ts';
import { openForWriting } from '../../src/store/sqlite/engine/database-file.ts';
import { newestSchema } from '../../src/store/sqlite/engine/migrations.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench } from './conformance/harness.ts';

async function openBench(file: string): Promise<Bench> {
  const store = await openSqliteStore({ file });
  return new Bench({ store, openContents: () => openContentReader(file) });
}

/** A database with one accepted message, closed again. */
async function prepare(t: Test) {
  const folder = testFolder(t);
  const file = path.join(folder, 'postrider.db');
  const bench = await openBench(file);
  const { domain } = await bench.sender('acme.test');
  const { id } = await bench.queued(domain, 'a@x.test');
  await bench.store.close();
  return { folder, file, domain, id, copy: path.join(folder, 'copy.db') };
}

t.test('a backup holds what was committed, and can be restored', async (t) => {
  const { folder, file, copy, id, domain } = await prepare(t);
  const bench = await openBench(file);
  const committed = await bench.queued(domain, 'in-the-log@x.test');
  await backupDatabase(file, copy);
  const later = await bench.queued(domain, 'later@x.test');
  await bench.store.close();
  t.equal(fs.statSync(copy).mode & 0o777, 0o600);
  t.strictSame(beside(folder, 'copy.db'), ['copy.db'], 'the copy is one file');

  fs.writeFileSync(`${file}-wal`, 'what a dead process has left');
  fs.writeFileSync(`${file}.incoming`, 'what an interrupted restore has left');
  await restoreDatabase(copy, file);
  t.strictSame(beside(folder, 'copy.db'), ['copy.db'], 'and stays one file');
  t.strictSame(beside(folder, 'postrider.db'), ['postrider.db']);
  t.equal(fs.statSync(file).mode & 0o777, 0o600);
  const restored = await openBench(file);
  t.teardown(() => restored.store.close());
  t.equal((await restored.message(id)).recipient, 'a@x.test');
  t.equal((await restored.message(committed.id)).recipient, 'in-the-log@x.test');
  t.equal(await restored.store.queue.getMessage(later.id), null, 'as it was at the time of the backup');
});

t.test('a backup ends although the daemon writes without pause', async (t) => {
  const { file, copy, domain } = await prepare(t);
  const bench = await openBench(file);
  t.teardown(() => bench.store.close());
  // Large enough that the copy takes many steps, with commits between them.
  await bench.accept(domain, ['large@x.test'], { html: 'x'.repeat(8_000_000) });
  const before = await bench.store.queue.listQueue({ limit: 10 });
  let ended = false;
  const worker = new Worker(new URL('./backup-worker.ts', import.meta.url), { workerData: { file, copy } });
  const backup = once(worker, 'exit').finally(() => {
    ended = true;
  });
  let commits = 0;
  while (!ended && commits < 10_000) {
    await bench.accept(domain, ['a@x.test', 'b@x.test']);
    commits++;
  }
  t.ok(commits > 5, 'the daemon wrote meanwhile');
  t.ok(ended, 'and the copy did not begin anew each time');
  await backup;

  const db = new Database(copy, { readonly: true });
  t.teardown(() => void db.close());
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  const stored = db.prepare('SELECT lower(hex(id)) FROM messages').pluck().all();
  for (const { id } of before) t.ok(stored.includes(id.replaceAll('-', '')), 'what was there when it began');
  t.equal(db.prepare('SELECT open_messages FROM domain_counts').pluck().get(), stored.length, 'and nothing by half');
});

t.test('what was erased is in no free page of the database, nor in the backup', async (t) => {
  const { file, copy, domain } = await prepare(t);
  const bench = await openBench(file);
  const secret = 'the one thing that must be gone';
  for (let count = 0; count < 20; count++) {
    await bench.accept(domain, ['a@x.test'], { html: secret.repeat(2000), subject: 'secret subject' });
  }
  await bench.store.close();
  const db = openForWriting(file);
  db.pragma('foreign_keys = OFF');
  db.exec('DELETE FROM contents; DELETE FROM submissions');
  db.close(); // the log is emptied into the file
  t.notOk(fs.readFileSync(file).includes('must be gone'), 'the file');
  await backupDatabase(file, copy);
  t.notOk(fs.readFileSync(copy).includes('must be gone'), 'the backup');
  t.ok(fs.statSync(copy).size < fs.statSync(file).size, 'which has no free pages');
});

t.test('a backup replaces nothing', async (t) => {
  const { folder, file, copy } = await prepare(t);
  fs.writeFileSync(copy, 'precious');
  await t.rejects(backupDatabase(file, copy), { name: 'Fault', message: `${copy} already exists` });
  t.equal(fs.readFileSync(copy, 'utf8'), 'precious');
  await t.rejects(backupDatabase(file, path.join(folder, 'no', 'such', 'folder.db')), { name: 'Fault' });
  await t.rejects(backupDatabase(path.join(folder, 'nothing.db'), path.join(folder, 'fresh.db')));
  t.notOk(fs.existsSync(path.join(folder, 'fresh.db')), 'a backup that failed leaves nothing');
});

t.test('what is no sound backup is not restored', async (t) => {
  const { folder, file, copy } = await prepare(t);
  await backupDatabase(file, copy);
  const bad = path.join(folder, 'bad.db');
  const cases: Record<string, [make: () => void, says: RegExp]> = {
    'no file': [() => {}, /no such file/],
    'a text': [() => fs.writeFileSync(bad, 'no database '.repeat(1000)), /not a database/],
    'an empty file': [() => fs.writeFileSync(bad, ''), /no Postrider database/],
    'a database of another program': [
      () => change(bad, 'CREATE TABLE theirs (a); PRAGMA user_version = 1'),
      /no Postrider database/,
    ],
    'a newer schema': [
      () => {
        fs.copyFileSync(copy, bad);
        change(bad, `PRAGMA user_version = ${newestSchema() + 1}`);
      },
      new RegExp(`its schema is ${newestSchema() + 1}, and this Postrider knows schemas up to ${newestSchema()}`),
    ],
    'damaged pages': [() => damage(copy, bad), /integrity check|malformed/],
    'half a file': [
      () => fs.writeFileSync(bad, fs.readFileSync(copy).subarray(0, 40_000)),
      /malformed|integrity check/,
    ],
  };
  const before = fs.readFileSync(file);
  for (const [name, [make, says]] of Object.entries(cases)) {
    fs.rmSync(bad, { force: true });
    make();
    await t.rejects(restoreDatabase(bad, file), { name: 'Fault', message: says, permanence: 'permanent' }, name);
    t.ok(fs.readFileSync(file).equals(before), 'the database is untouched');
  }
  t.strictSame(beside(folder, 'postrider.db.incoming'), [], 'and nothing is left half done');
});

t.test('a backup with a log beside it is restored with the log', async (t) => {
  const { folder, file, domain } = await prepare(t);
  const bench = await openBench(file);
  const inLog = await bench.queued(domain, 'in-the-log@x.test');
  for (const suffix of ['', '-wal']) fs.copyFileSync(file + suffix, path.join(folder, `copied.db${suffix}`));
  await bench.store.close();
  fs.rmSync(file);
  await restoreDatabase(path.join(folder, 'copied.db'), file);
  const restored = await openBench(file);
  t.teardown(() => restored.store.close());
  t.equal((await restored.message(inLog.id)).recipient, 'in-the-log@x.test');
});

function change(file: string, sql: string): void {
  const db = new Database(file);
  db.exec(sql);
  db.close();
}

/** Turns the pages behind the schema into noise. */
function damage(source: string, target: string): void {
  const bytes = fs.readFileSync(source);
  bytes.fill(0xa5, 3 * 4096, 6 * 4096);
  fs.writeFileSync(target, bytes);
}

/** The files in the folder whose names begin like this. */
function beside(folder: string, name: string): string[] {
  return fs.readdirSync(folder).filter((file) => file.startsWith(name));
}

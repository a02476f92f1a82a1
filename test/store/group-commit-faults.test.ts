// Group commit when the disk fails: what happens to each verb of the group.
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { testFolder } from '../support/test-folder.ts';
import { stepless } from './at-once.ts';
import { Bench } from './conformance/harness.ts';
import { FailingDisk, names, openFacts, UNUSABLE } from './facts-on-a-disk.ts';

t.test('nobody is answered before the commit, not even with a refusal', async (t) => {
  const { add, disk, onDisk } = openFacts(t);
  disk.failures = 2; // the group, then its first verb alone
  const results = await Promise.allSettled([add('a'), add('a')]);
  t.match(results[0], { status: 'rejected', reason: UNUSABLE });
  t.match(results[1], { status: 'fulfilled' }, 'in the group it failed only because of the first');
  t.strictSame(onDisk(), ['a']);
});

for (const code of ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_IOERR_FSYNC', 'SQLITE_BUSY']) {
  t.test(`a commit that fails with ${code} is made good one by one`, async (t) => {
    const { add, disk, onDisk } = openFacts(t);
    Object.assign(disk, { code, failures: 1 });
    t.strictSame(await Promise.all(names(5).map(add)), names(5));
    t.strictSame(onDisk(), names(5), 'each once');
    t.strictSame(disk.commits, [5, 1, 1, 1, 1, 1]);
  });
}

t.test('what keeps failing is rejected, the rest is answered', async (t) => {
  const { connection, add, disk, onDisk } = openFacts(t);
  disk.failures = 3; // the group, then its first two verbs alone
  const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map(add));
  t.strictSame(
    results.map((result) => result.status),
    ['rejected', 'rejected', 'fulfilled', 'fulfilled'],
  );
  t.match(results[0], { reason: { ...UNUSABLE, permanence: 'temporary' } });
  t.strictSame(onDisk(), ['c', 'd'], 'nobody is half answered');
  t.equal(await add('a'), 'a', 'whoever was rejected may come again');
  t.equal(await connection.read(() => stepless(() => 1)), 1);
});

t.test('a disk that takes nothing rejects all, and is used again when it recovers', async (t) => {
  const { add, count, disk, onDisk } = openFacts(t);
  disk.failures = Number.POSITIVE_INFINITY;
  const results = await Promise.allSettled(names(20).map(add));
  t.ok(results.every((result) => result.status === 'rejected'));
  t.strictSame(onDisk(), []);
  t.equal(await count(), 0, 'reads go on, and see nothing of it');
  disk.failures = 0;
  await Promise.all(names(20).map(add));
  t.strictSame(onDisk(), names(20));
});

t.test('a verb that the disk cannot take does not take its neighbours along', async (t) => {
  const { connection, add, onDisk } = openFacts(t);
  const full = connection.write('write', function* () {
    yield* connection.sql('INSERT INTO facts (name) VALUES (?)').run('half');
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  });
  const results = await Promise.allSettled([add('a'), full, add('b')]);
  t.strictSame(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.strictSame(onDisk(), ['a', 'b']);
});

t.test('a verb that the disk fails once is run again', async (t) => {
  const { connection, add, onDisk } = openFacts(t);
  let runs = 0;
  const shaken = connection.write('write', function* () {
    yield* connection.sql('INSERT INTO facts (name) VALUES (?)').run('shaken');
    if (++runs === 1) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' });
    return runs;
  });
  await Promise.all([add('a'), add('b')]);
  t.equal(await shaken, 2);
  t.strictSame(onDisk(), ['a', 'b', 'shaken']);
});

t.test('a commit that SQLite itself refuses', async (t) => {
  const { db, connection, add, onDisk } = openFacts(t);
  db.exec('CREATE TABLE notes (fact TEXT REFERENCES facts (name) DEFERRABLE INITIALLY DEFERRED)');
  const orphan = connection.write('write', () => connection.sql('INSERT INTO notes (fact) VALUES (?)').run('nothing'));
  const results = await Promise.allSettled([add('a'), orphan, add('b')]);
  t.strictSame(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.match(results[1], { reason: { ...UNUSABLE, detail: /FOREIGN KEY/ } });
  t.strictSame(onDisk(), ['a', 'b']);
  t.equal(db.prepare('SELECT count(*) FROM notes').pluck().get(), 0);
});

t.test('a disk that is really full', async (t) => {
  const { db, connection, add, count, onDisk } = openFacts(t);
  await add('before');
  db.pragma(`max_page_count = ${(db.pragma('page_count', { simple: true }) as number) + 20}`);
  const large = connection.write('write', function* () {
    yield* connection.sql('INSERT INTO facts (name, size) VALUES (?, ?)').run('large'.repeat(100_000), 1);
  });
  const results = await Promise.allSettled([add('a'), large, add('b')]);
  t.strictSame(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.match(results[1], { reason: { ...UNUSABLE, detail: /full/ } });
  t.strictSame(onDisk(), ['a', 'b', 'before']);
  t.equal(await count(), 3);
  db.pragma('max_page_count = 1000000');
  await add('after');
  t.strictSame(onDisk(), ['a', 'after', 'b', 'before']);
});

t.test('a database that somebody else holds rejects, and stops nothing for good', async (t) => {
  const { db, file, add, onDisk } = openFacts(t);
  db.pragma('busy_timeout = 0');
  const stranger = new Database(file);
  t.teardown(() => void stranger.close());
  stranger.exec('BEGIN IMMEDIATE');
  const results = await Promise.allSettled(['a', 'b', 'c'].map(add));
  t.strictSame(
    results.map((result) => result.status),
    ['rejected', 'rejected', 'rejected'],
    'nobody waits for ever',
  );
  stranger.exec('ROLLBACK');
  t.equal(await add('a'), 'a');
  t.strictSame(onDisk(), ['a']);
});

t.test('the verbs of the store stay whole when a commit fails', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const disk = new FailingDisk();
  const store = await openSqliteStore({ file, faults: disk });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const { domain, tenant } = await bench.sender('acme.test');
  const attempt = (key: string) =>
    store.submissions.accept(bench.submission(domain, ['a@x.test'], { idempotencyKey: key }));

  disk.failures = 1;
  const same = await Promise.all(Array.from({ length: 20 }, () => attempt('same')));
  t.equal(same.filter((result) => result.kind === 'accepted').length, 1, 'the second run decides anew');
  t.equal(same.filter((result) => result.kind === 'replayed').length, 19);

  disk.failures = Number.POSITIVE_INFINITY;
  const lost = await Promise.allSettled([attempt('lost'), store.domains.revokeDomain(tenant.id, domain.id)]);
  t.ok(lost.every((result) => result.status === 'rejected'));
  disk.failures = 0;
  t.equal(await store.submissions.findReceipt(tenant.id, 'lost'), null);
  t.equal((await store.domains.getDomain(tenant.id, domain.id))?.state, 'verified');
  t.equal((await attempt('lost')).kind, 'accepted');
  t.equal((await store.queue.listQueue({ limit: 10 })).length, 2);
});

// Migrations: where they lead, what they refuse, and that they can be repeated.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openForWriting } from '../../src/store/sqlite/engine/database-file.ts';
import { knownMigrations, migrate, newestSchema, schemaVersion } from '../../src/store/sqlite/engine/migrations.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { testFolder } from '../support/test-folder.ts';
import { dumpSchema } from './schema-dump.ts';

const GOLDEN = fs.readFileSync(new URL('./golden/schema.sql', import.meta.url), 'utf8');
const ALL = knownMigrations();

function emptyDatabase(t: Test): Database.Database {
  const db = new Database(':memory:');
  t.teardown(() => void db.close());
  return db;
}

t.test('migrations are numbered without gaps', async (t) => {
  t.strictSame(
    ALL.map((migration) => migration.version),
    ALL.map((_, index) => index + 1),
  );
  t.equal(newestSchema(), ALL.length);
});

t.test('all migrations lead to the schema that is on record', async (t) => {
  const db = emptyDatabase(t);
  t.strictSame(
    migrate(db),
    ALL.map((migration) => migration.name),
  );
  t.equal(schemaVersion(db), newestSchema());
  t.equal(dumpSchema(db), GOLDEN, 'when this was meant: node test/store/update-golden.ts');
  t.strictSame(db.pragma('foreign_key_check'), []);
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
});

t.test('migrating twice does nothing', async (t) => {
  const db = emptyDatabase(t);
  migrate(db);
  const changes = db.prepare('SELECT total_changes()').pluck().get();
  t.strictSame(migrate(db), []);
  t.equal(db.prepare('SELECT total_changes()').pluck().get(), changes);
  t.equal(dumpSchema(db), GOLDEN);
});

t.test('a database of every older version is brought up to date', async (t) => {
  for (const last of [0, ...ALL.slice(0, -1).map((migration) => migration.version)]) {
    const db = databaseOfVersion(t, last);
    t.strictSame(
      migrate(db),
      ALL.slice(last).map((migration) => migration.name),
      `from ${last}`,
    );
    t.equal(dumpSchema(db), GOLDEN);
  }
});

/** As the Postrider that knew the migrations up to `version` has left it. */
function databaseOfVersion(t: Test, version: number): Database.Database {
  const db = emptyDatabase(t);
  if (version === 0) return db;
  const applicationId = applicationIdOfOurs(t);
  for (const migration of ALL.slice(0, version)) db.exec(migration.sql);
  db.pragma(`user_version = ${version}`);
  db.pragma(`application_id = ${applicationId}`);
  return db;
}

function applicationIdOfOurs(t: Test): number {
  const db = emptyDatabase(t);
  migrate(db);
  return db.pragma('application_id', { simple: true }) as number;
}

t.test('a migration that fails leaves the version before it', async (t) => {
  const db = emptyDatabase(t);
  db.pragma('max_page_count = 5'); // room for its first tables, not for all
  t.throws(() => migrate(db), /full/);
  t.equal(schemaVersion(db), 0);
  t.equal(dumpSchema(db), '');
  db.pragma('max_page_count = 100000');
  migrate(db);
  t.equal(dumpSchema(db), GOLDEN);
});

t.test('a migration that fails after another takes that one back, too', async (t) => {
  const outcomes = new Set<number>();
  for (let room = 0; room < 60; room++) {
    const db = databaseOfVersion(t, 25);
    db.pragma(`max_page_count = ${(db.pragma('page_count', { simple: true }) as number) + room}`);
    try {
      migrate(db);
    } catch (error) {
      t.match(error, { message: /could not be migrated from schema 25 to \d+: the disk is full. It is unchanged/ });
    }
    outcomes.add(schemaVersion(db));
  }
  t.same([...outcomes], [25, newestSchema()], 'the old version or the new one, whenever the disk gets full');
});

t.test('messages of before there were charts are counted by the migration', async (t) => {
  const db = databaseOfVersion(t, 13);
  const insert = db.prepare(
    `INSERT INTO messages (id, tenant_id, submission_id, lane, recipient, state, attempts, expires_at, ambiguous, parked, created_at)
     VALUES (?, ?, x'00', 1, 'a@x.test', 'queued', 0, 0, 0, 0, ?)`,
  );
  const times = [7_200_000, 10_799_999, 10_800_000];
  for (const [at, time] of times.entries()) insert.run(Buffer.of(at), Buffer.of(1), time);
  insert.run(Buffer.of(9), Buffer.of(2), 0);
  migrate(db);
  const sums = db.prepare('SELECT tenant_id, hour, accepted FROM chart_figures ORDER BY 1, 2').raw().all();
  t.same(sums, [
    [Buffer.of(1), 2, 2],
    [Buffer.of(1), 3, 1],
    [Buffer.of(2), 0, 1],
  ]);
});

t.test(
  'messages that are moved to a new table keep what refers to them, and their places in every index',
  async (t) => {
    const db = databaseOfVersion(t, 31);
    db.pragma('foreign_keys = ON');
    const id = Buffer.alloc(16, 1);
    const message = `INSERT INTO messages (id, tenant_id, submission_id, lane, recipient, state, attempts, due_at, expires_at,
    ambiguous, parked, copy, source_address, put_off, complaint_weight, created_at)
    VALUES (?, ?, ?, 1, 'a@x.test', 'deferred', 2, 5, 9, 1, 0, 'cc', '192.0.2.1', 1, 0.5, 1)`;
    db.prepare(message).run(id, id, id);
    db.prepare('INSERT INTO link_hits VALUES (?, -1, ?, 3, 1, 1, 2, 2)').run(id, id);
    const before = db.prepare('SELECT * FROM messages').get() as object;
    migrate(db);
    const after = { ...before, first_attempt_at: null };
    t.same(db.prepare('SELECT * FROM messages').get(), after, 'whatever the order of columns');
    t.equal(db.prepare('SELECT hits FROM link_hits').pluck().get(), 3);
    t.same(db.pragma('foreign_key_check'), []);
    t.equal(db.pragma('foreign_keys', { simple: true }), 1, 'they count again');
    db.prepare('DELETE FROM messages').run();
    t.equal(db.prepare('SELECT count(*) FROM link_hits').pluck().get(), 0, 'rows go with their message');
  },
);

t.test('messages of before are found by the range of their submission', async (t) => {
  const db = databaseOfVersion(t, 37);
  const submission = db.prepare(
    `INSERT INTO submissions (id, tenant_id, api_key_id, domain_id, content_id, from_address, subject, rejected, created_at)
     VALUES (?, x'01', x'01', x'01', 1, '', '', '[]', 0)`,
  );
  const message = db.prepare(
    `INSERT INTO messages (id, tenant_id, submission_id, lane, recipient, state, attempts, expires_at, ambiguous, parked, created_at)
     VALUES (?, x'01', ?, 1, 'a@x.test', 'queued', 0, 0, 0, 0, 0)`,
  );
  const [many, single, erased] = [Buffer.of(1), Buffer.of(2), Buffer.of(3)];
  for (const id of [many, single, erased]) submission.run(id);
  for (const at of [12, 10, 14]) message.run(Buffer.of(at), many);
  message.run(Buffer.of(11), single);
  migrate(db);
  const ranges = db.prepare('SELECT id, first_message, last_message FROM submissions ORDER BY id').raw().all();
  t.same(ranges, [
    [many, Buffer.of(10), Buffer.of(14)],
    [single, Buffer.of(11), null],
    [erased, null, null],
  ]);
});

t.test("tenants' hard bounces of before get the group of their domain", async (t) => {
  const db = databaseOfVersion(t, 25);
  db.exec("INSERT INTO groups_of_domains (domain, mx_group, seen_at) VALUES ('x.test', 'mx', 0)");
  const insert = db.prepare(
    'INSERT INTO suppressions (tenant_id, address, reason, message_id, created_at, rule) VALUES (?, ?, ?, ?, 0, ?)',
  );
  const message = Buffer.of(9);
  insert.run(Buffer.of(1), 'a@x.test', 'hard_bounce', message, 'smtp 5.1.1');
  insert.run(Buffer.of(1), 'b@x.test', 'hard_bounce', message, null);
  insert.run(Buffer.of(1), 'dns@x.test', 'hard_bounce', message, 'route-5.1.2');
  insert.run(Buffer.of(1), 'hand@x.test', 'hard_bounce', null, null);
  insert.run(Buffer.of(1), 'left@x.test', 'unsubscribe', message, null);
  insert.run(Buffer.of(1), 'other@y.test', 'hard_bounce', message, 'smtp 5.1.1');
  migrate(db);
  const grouped = db.prepare('SELECT address, mx_group FROM suppressions WHERE mx_group IS NOT NULL').raw().all();
  t.same(grouped, [
    ['a@x.test', 'mx'],
    ['b@x.test', 'mx'],
  ]);
});

t.test('the mail that may have crashed the daemon is still suspected after the upgrade', async (t) => {
  const db = databaseOfVersion(t, 37);
  db.exec(`INSERT INTO inbound_trials (worker, mail_seq) VALUES ('daemon', 7), ('walk', 8)`);
  db.exec(`INSERT INTO inbound_reaches (worker, mails) VALUES ('daemon', 2000)`);
  migrate(db);
  t.same(db.prepare('SELECT slot, mail_seq FROM inbound_trials').raw().all(), [[1, 7]]);
  t.same(db.prepare('SELECT slot, mails FROM inbound_reaches').raw().all(), [[1, 2000]]);
});

t.test('a newer database is refused and left as it is', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  await store.close();
  const newer = newestSchema() + 1;
  const db = new Database(file);
  db.pragma(`user_version = ${newer}`);
  db.close();
  const before = fs.readFileSync(file);
  const message = new RegExp(`schema ${newer}.*up to ${newestSchema()}.*newer version`);
  await t.rejects(openSqliteStore({ file }), { name: 'Fault', message, permanence: 'permanent' });
  t.ok(fs.readFileSync(file).equals(before));
});

t.test("somebody else's file is refused and left as it is", async (t) => {
  const strangers: Record<string, (file: string) => void> = {
    'a database of another program': (file) => makeDatabase(file, 'CREATE TABLE theirs (a)'),
    'one with a version of its own': (file) => makeDatabase(file, 'PRAGMA user_version = 1'),
    'one with an application id of its own': (file) =>
      makeDatabase(file, 'PRAGMA application_id = 1; CREATE TABLE theirs (a)'),
    'no database at all': (file) => fs.writeFileSync(file, 'a text of some length\n'.repeat(100)),
  };
  for (const [name, make] of Object.entries(strangers)) {
    const file = path.join(testFolder(t), 'theirs.db');
    make(file);
    fs.chmodSync(file, 0o644);
    const before = fs.readFileSync(file);
    const message = `the database ${file} was not made by Postrider`;
    await t.rejects(openSqliteStore({ file }), { name: 'Fault', message, permanence: 'permanent' }, name);
    t.ok(fs.readFileSync(file).equals(before), 'not a byte is changed');
    t.equal(fs.statSync(file).mode & 0o777, 0o644);
    t.strictSame(fs.readdirSync(path.dirname(file)), ['theirs.db'], 'nothing is left beside it');
  }
});

function makeDatabase(file: string, sql: string): void {
  const db = new Database(file);
  db.exec(sql);
  db.close();
}

t.test('a file that was made and never filled is a new database', async (t) => {
  const file = path.join(testFolder(t, { 'postrider.db': '' }), 'postrider.db');
  const db = openForWriting(file);
  t.teardown(() => void db.close());
  t.equal(migrate(db).length, ALL.length);
});

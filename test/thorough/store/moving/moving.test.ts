// From SQLite to PostgreSQL: every value arrives, a changed one is found, and both databases refuse what must not be done.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { MoveProgress } from '../../../../src/store/moving/copy.ts';
import { moveBack, moveToPostgres } from '../../../../src/store/moving/move.ts';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { openPostgresCourierReads } from '../../../../src/store/postgres/reads.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { openContentReader } from '../../../../src/store/sqlite/reading/courier-reads.ts';
import { compare } from '../../../store/walk/compare.ts';
import { ALL_STEPS } from '../../../store/walk/random-walks.ts';
import { begin } from '../../../store/walk/tenant-steps.ts';
import { Walk } from '../../../store/walk/walk.ts';
import { type PostgresServer, postgresMissing, startPostgres } from '../../../support/postgres-server.ts';
import { testFolder } from '../../../support/test-folder.ts';
import { until } from '../../../support/until.ts';
import { fillEveryTable, rowsInPostgres, rowsInSqlite } from './every-table.ts';

const STEPS = 400;
const NOON = Date.UTC(2026, 10, 26, 12);

async function newDatabase(t: Test, file = path.join(testFolder(t), 'postrider.db')): Promise<string> {
  await (await openSqliteStore({ file })).close();
  return file;
}

async function filledDatabase(t: Test, place?: string): Promise<string> {
  const file = await newDatabase(t, place);
  fillEveryTable(file);
  return file;
}

interface Options {
  progress?(report: MoveProgress): void;
  piece?: { rows: number; bytes: number };
}

const move = (file: string, url: string, { progress = () => {}, piece }: Options = {}) =>
  moveToPostgres({ file, url, now: () => NOON, progress, ...(piece && { piece }) });
const back = (file: string, url: string | null) => moveBack({ file, url, now: () => NOON });

/** As an operator's mistake would. */
const open = async (file: string) => (await openSqliteStore({ file })).close();
const use = async (url: string) => (await openPostgresStore({ url })).close();

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const target = async (t: Test) => {
    const database = await server.createDatabase();
    t.teardown(() => server.dropDatabase(database));
    return { database, url: server.url(database) };
  };

  t.test('every value of every table', async (t) => {
    const file = await filledDatabase(t);
    const { database, url } = await target(t);
    const before = rowsInSqlite(file);
    t.strictSame(
      [...before].filter(([, rows]) => rows.length === 0).map(([table]) => table),
      [],
      'no table is empty',
    );
    const moved = await move(file, url, { piece: { rows: 1, bytes: 1 } });
    t.strictSame(await rowsInPostgres(server, database, before.keys()), before);
    t.strictSame(rowsInSqlite(file), before, "SQLite's rows are as they were");
    const rows = [...before.values()].reduce((sum, { length }) => sum + length, 0);
    t.match(moved, { tables: before.size, rows, before: false });
    await numbersContinue(t, server, database);
  });

  t.test('a walk that begins on SQLite goes on in PostgreSQL', async (t) => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
    const file = await newDatabase(t);
    const { url } = await target(t);
    const store = await openSqliteStore({ file });
    const contents = openContentReader(file);
    const walk = new Walk(seed, { store, contents });
    listen(walk);
    await begin(walk);
    await walk.take(ALL_STEPS, STEPS);
    contents.close();
    await store.close();
    await move(file, url);
    walk.store = await openPostgresStore({ url });
    t.teardown(() => walk.store.close());
    walk.contents = openPostgresCourierReads(url).contents;
    t.teardown(() => walk.contents.close());
    listen(walk);
    const go = async () => {
      await compare(walk);
      await walk.take(ALL_STEPS, STEPS / 2);
      await compare(walk);
    };
    await t.resolves(go(), `seed ${seed}`);
  });

  t.test('a body of 25 MiB, and memory', async (t) => {
    const file = await newDatabase(t);
    const { url } = await target(t);
    const db = new Database(file);
    const insert = db.prepare(`INSERT INTO contents (subject, html, text, headers) VALUES ('large', ?, NULL, '[]')`);
    for (let count = 0; count < 12; count++) insert.run('ä'.repeat(12.5 * 1024 * 1024));
    db.close();
    let largest = 0;
    const note = () => {
      largest = Math.max(largest, process.memoryUsage().rss);
    };
    await move(file, url, { progress: note });
    t.ok(largest < 700 * 1024 * 1024, `${Math.round(largest / 1024 / 1024)} MiB`);
  });

  t.test('a value that was changed in the copy is found', async (t) => {
    const changes = [
      "UPDATE postrider.tenants SET name = '' WHERE status_reason IS NULL",
      'UPDATE postrider.tenants SET name = substr(name, 2) WHERE status_reason IS NULL',
      "UPDATE postrider.tenants SET status_reason = '' WHERE status_reason IS NULL",
      'UPDATE postrider.tenants SET created_at = created_at + 1 WHERE status_reason IS NULL',
      'DELETE FROM postrider.recovery_codes',
      "INSERT INTO postrider.deleted_webhooks VALUES ('x')",
    ];
    const file = await filledDatabase(t);
    const { database, url } = await target(t);
    for (const change of changes) {
      await t.rejects(move(file, url, { progress: stopAtEnd }), /stopped/);
      await server.run(database, change);
      const [, table] = /postrider\.(\w+)/.exec(change)!;
      await t.rejects(
        move(file, url),
        { message: new RegExp(`the copy differs: the table ${table} in .* has `) },
        change,
      );
      await open(file);
    }
    await move(file, url);
    t.strictSame(await rowsInPostgres(server, database, rowsInSqlite(file).keys()), rowsInSqlite(file), 'begun again');
  });

  t.test('what SQLite got after an interruption is in the copy', async (t) => {
    const file = await filledDatabase(t);
    const { database, url } = await target(t);
    await t.rejects(move(file, url, { progress: stopAtEnd }), /stopped/);
    await t.rejects(use(url), /unfinished copy of .*postrider\.db: run postrider migrate --to there again/);
    const store = await openSqliteStore({ file });
    await store.proveWritable(NOON);
    await store.close();
    await move(file, url);
    t.strictSame(await rowsInPostgres(server, database, ['meta', 'tenants']), await pick(file, ['meta', 'tenants']));
  });

  t.test('after the move: SQLite is refused, and the way back is open until PostgreSQL is used', async (t) => {
    const file = await filledDatabase(t);
    const { url } = await target(t);
    await move(file, url);
    await t.rejects(open(file), /was moved to PostgreSQL on 2026-11-26: test_\d+ at .*postrider migrate --back/);
    t.match(await move(file, url), { before: true });
    const other = await target(t);
    await t.rejects(move(file, other.url), /this database was moved to .*go back first: postrider migrate --back/);
    await t.rejects(back(file, other.url), /is not the one that this database was moved to, which is test_\d+ at/);
    t.match(await back(file, url), { complete: true });
    await open(file);
    t.equal(await back(file, url), null, 'nothing to undo');
    await t.rejects(use(url), /is a copy of .* that was given up/);
    await move(file, url);
    await use(url);
    await t.rejects(back(file, url), /there is no way back: PostgreSQL's database has been in use since 20/);
    await t.rejects(move(file, url), /was moved to .* has been in use since/);
    await t.rejects(open(file), /was moved to PostgreSQL/);
    await use(url);
    t.match(await back(file, null), { complete: true }, 'the operator says that PostgreSQL is lost');
    await open(file);
  });

  t.test('a first start and a way back at the same moment: one of them', async (t) => {
    const file = await filledDatabase(t);
    for (let round = 0; round < 5; round++) {
      const { url } = await target(t);
      await move(file, url);
      const [used, gone] = await Promise.allSettled([use(url), back(file, url)]);
      t.not(used.status, gone.status);
      if (gone.status === 'rejected') await back(file, null);
    }
  });

  t.test('targets that are no empty database', async (t) => {
    const file = await filledDatabase(t);
    const used = await target(t);
    const store = await openPostgresStore({ url: used.url });
    await store.close();
    await server.run(used.database, "INSERT INTO postrider.deleted_webhooks VALUES ('x')");
    await t.rejects(move(file, used.url), /already has data of Postrider: name an empty one/);
    const ofAnother = await target(t);
    const another = await filledDatabase(t, path.join(path.dirname(file), 'another.db'));
    await t.rejects(move(another, ofAnother.url, { progress: stopAtEnd }), /stopped/);
    await t.rejects(move(file, ofAnother.url), /has an unfinished copy of .*another\.db, and not of this database/);
    await move(another, ofAnother.url);
    await t.rejects(move(file, ofAnother.url), /has a copy of /);
    const foreign = await target(t);
    await server.run(foreign.database, 'CREATE SCHEMA postrider; CREATE TABLE postrider.cars (id int)');
    await t.rejects(move(file, foreign.url), /was not made by Postrider/);
    await t.rejects(move(file, server.url('nowhere')), /has no database of this name/);
    const forbidden = await target(t);
    await server.run(forbidden.database, 'CREATE ROLE guest LOGIN');
    await t.rejects(
      move(file, server.url(forbidden.database, 'guest')),
      /guest may not create the schema postrider in/,
    );
    await open(file);
    const empty = await target(t);
    await (await openPostgresStore({ url: empty.url })).close();
    t.match(await move(file, empty.url), { before: false }, 'one that only has the tables will do');
  });

  t.test('a row that PostgreSQL refuses is named', async (t) => {
    const file = await newDatabase(t);
    const { url } = await target(t);
    const db = new Database(file);
    const insert = db.prepare('INSERT INTO broken_tls (host, reason, since, expires_at) VALUES (?, ?, 0, 0)');
    insert.run('a.test', 'short');
    // As bytes that can't be compressed, it is too long for an index of PostgreSQL.
    const long = Array.from({ length: 4000 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000))).join(
      '',
    );
    insert.run(long, 'long');
    db.close();
    await t.rejects(move(file, url), {
      message: /refuses a row of the table broken_tls \(host = '.*index row.*can still be started on SQLite/s,
    });
    await open(file);
  });

  t.test('a connection that is lost', async (t) => {
    const file = await filledDatabase(t);
    const { database, url } = await target(t);
    const ends: Promise<unknown>[] = [];
    const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'postrider-migrate-to' AND datname = '${database}'`;
    const progress = ({ table }: MoveProgress) => {
      if (table === 'messages' && ends.length === 0) ends.push(server.run('postgres', end));
    };
    const message = /the copy was interrupted: .* Run the same command again: it continues/;
    await t.rejects(move(file, url, { progress, piece: { rows: 1, bytes: 1 } }), { message });
    await Promise.all(ends);
    const seen: string[] = [];
    await move(file, url, { progress: ({ table }) => void seen.push(table) });
    t.notOk(seen.includes('tenants'), 'what was there was not copied again');
    t.ok(seen.includes('written_pieces'));
  });

  t.test('two copies into one database at once', async (t) => {
    const file = await newDatabase(t);
    const { database, url } = await target(t);
    const lock = server.run(database, `SELECT pg_advisory_lock(${0x4d4f5645}), pg_sleep(3600)`).catch(() => 'ended');
    await until('the lock', async () => {
      const { rows } = await server.run(database, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted");
      return rows.length > 0 || null;
    });
    await t.rejects(move(file, url), /another postrider migrate copies into the database test_\d+ at/);
    await server.run(
      database,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)'",
    );
    t.equal(await lock, 'ended');
  });

  t.test('what a daemon held on SQLite is free in PostgreSQL', async (t) => {
    const file = await newDatabase(t);
    const { url } = await target(t);
    const store = await openSqliteStore({ file });
    const lease = { slots: 1, now: NOON, leaseUntil: null };
    const { owners } = await store.owners.takeSlots({ node: 'old', ...lease });
    t.ok(await store.owners.leadTimer({ name: 'reviews', node: 'old', now: NOON, leaseUntil: null }));
    await store.close();
    await move(file, url);
    const moved = await openPostgresStore({ url });
    t.teardown(() => moved.close());
    const taken = await moved.owners.takeSlots({ node: 'new', ...lease });
    t.same(taken.owners, [{ slot: owners[0]!.slot, epoch: owners[0]!.epoch + 1 }]);
    t.equal(await moved.owners.leadTimer({ name: 'reviews', node: 'new', now: NOON, leaseUntil: null }), 2);
  });

  t.test('an older schema', async (t) => {
    const file = await newDatabase(t);
    const { url } = await target(t);
    const db = new Database(file);
    db.pragma('user_version = 31');
    db.close();
    await t.rejects(
      move(file, url),
      /has schema 31, and this version copies schema \d+ only: run postrider migrate first/,
    );
    fs.rmSync(file);
  });
});

function listen(walk: Walk): void {
  walk.store.notices.listen({
    webhooksDue(webhookIds) {
      for (const id of webhookIds) walk.heard.add(id);
    },
  });
}

/** When everything is copied, and nothing compared. */
function stopAtEnd({ table, rows, of }: MoveProgress): void {
  if (table === 'written_pieces' && rows === of) throw new Error('stopped');
}

async function pick(file: string, tables: string[]) {
  return new Map([...rowsInSqlite(file)].filter(([table]) => tables.includes(table)));
}

/** A new row gets a number that no row has had. */
async function numbersContinue(t: Test, server: PostgresServer, database: string): Promise<void> {
  const { rows } = await server.run(
    database,
    "INSERT INTO postrider.lanes (tenant_id, domain) VALUES ('x', 'x') RETURNING id",
  );
  const { rows: older } = await server.run(database, `SELECT max(id) AS last FROM postrider.lanes WHERE domain <> 'x'`);
  t.equal(BigInt(rows[0].id), BigInt(older[0].last) + 1n);
  const { rows: off } = await server.run(
    database,
    "SELECT 1 FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'D'",
  );
  t.strictSame(off, [], 'triggers are on again');
}

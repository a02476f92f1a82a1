// What both databases refuse around a move: at no moment do both accept mail, and nothing is overwritten that may be needed.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { MoveProgress } from '../../../../src/store/moving/copy.ts';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { postgresMissing, startPostgres } from '../../../support/postgres-server.ts';
import { until } from '../../../support/until.ts';
import { rowsInPostgres, rowsInSqlite } from './every-table.ts';
import { back, filledDatabase, move, NOON, newDatabase, newTarget, open, stopAtEnd, use } from './moves.ts';

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const target = (t: Test) => newTarget(t, server);

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
    await t.rejects(move(file, server.url('nowhere')), { name: 'Fault', detail: /has no database of this name/ });
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

async function pick(file: string, tables: string[]) {
  return new Map([...rowsInSqlite(file)].filter(([table]) => tables.includes(table)));
}

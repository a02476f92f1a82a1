// From SQLite to PostgreSQL: every value arrives, and a changed one is found.
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { openPostgresCourierReads } from '../../../../src/store/postgres/reads.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { openContentReader } from '../../../../src/store/sqlite/reading/courier-reads.ts';
import { compare } from '../../../store/walk/compare.ts';
import { takeSlots } from '../../../store/walk/message-steps.ts';
import { ALL_STEPS } from '../../../store/walk/random-walks.ts';
import { begin } from '../../../store/walk/tenant-steps.ts';
import { Walk } from '../../../store/walk/walk.ts';
import { type PostgresServer, postgresMissing, startPostgres } from '../../../support/postgres-server.ts';
import { rowsInPostgres, rowsInSqlite } from './every-table.ts';
import { filledDatabase, move, NOON, newDatabase, newTarget, open, stopAtEnd } from './moves.ts';

const STEPS = 400;

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const target = (t: Test) => newTarget(t, server);

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
      // Nobody has what was moved, until a daemon starts there.
      await takeSlots(walk);
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
});

function listen(walk: Walk): void {
  walk.store.notices.listen({
    webhooksDue(webhookIds) {
      for (const id of webhookIds) walk.heard.add(id);
    },
  });
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

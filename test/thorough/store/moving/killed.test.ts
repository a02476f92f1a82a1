// A copy that is killed again and again, at whatever moment: it continues, and in the end everything is there once.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { openSqliteStore } from '../../../../src/store/sqlite/open.ts';
import { type PostgresServer, postgresMissing, startPostgres } from '../../../support/postgres-server.ts';
import { testFolder } from '../../../support/test-folder.ts';
import { until } from '../../../support/until.ts';
import { fillEveryTable, rowsInPostgres, rowsInSqlite } from './every-table.ts';

const SCRIPT = path.join(import.meta.dirname, 'move-slowly.ts');
const KILLS = 8;
/** Of one table, so that many pieces of it are to come. */
const ROWS = 6000;

function fill(file: string): void {
  fillEveryTable(file);
  const db = new Database(file);
  const insert = db.prepare('INSERT INTO broken_tls (host, reason, since, expires_at) VALUES (?, ?, ?, 0)');
  db.transaction(() => {
    for (let row = 0; row < ROWS; row++) insert.run(`mx${(row * 7919) % ROWS}.test`, 'a reason', row);
  })();
  db.close();
}

/** How many rows the copy has; null: it has not begun. */
async function copied(server: PostgresServer, database: string): Promise<number | null> {
  const there = await server.run(database, "SELECT to_regclass('postrider.meta') IS NOT NULL AS yes");
  if (!there.rows[0].yes) return null;
  const { rows } = await server.run(database, "SELECT value FROM postrider.meta WHERE name = 'copied_from'");
  if (rows.length === 0) return null;
  const mark = JSON.parse(rows[0].value) as { rows: Record<string, number> };
  return Object.values(mark.rows).reduce((sum, count) => sum + count, 0);
}

function start(file: string, url: string): ChildProcess {
  return spawn(process.execPath, [SCRIPT, file, url], { stdio: ['ignore', 'pipe', 'inherit'] });
}

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const file = path.join(testFolder(t), 'postrider.db');
  await (await openSqliteStore({ file })).close();
  fill(file);
  const before = rowsInSqlite(file);
  const database = await server.createDatabase();
  let last = -1;
  for (let kill = 0; kill < KILLS; kill++) {
    const child = start(file, server.url(database));
    const ended = once(child, 'exit');
    last = await until('the copy to go on', async () => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
      const now = await copied(server, database);
      return now !== null && now > last ? now : null;
    });
    child.kill('SIGKILL');
    t.same(await ended, [null, 'SIGKILL'], `killed with ${last} rows there`);
    t.strictSame(rowsInSqlite(file), before);
  }
  const total = [...before.values()].reduce((sum, { length }) => sum + length, 0);
  t.ok(last < total, `${last} of ${total} rows were there at the last kill`);
  const child = start(file, server.url(database));
  const [code] = await once(child, 'exit');
  t.equal(code, 0);
  t.strictSame(await rowsInPostgres(server, database, before.keys()), before);
});

// A million messages with their events, attempts and contents move from SQLite to PostgreSQL: how long it takes, and that memory
// does not grow with the database. Its figures are printed.
import path from 'node:path';
import { memoryUsage } from 'node:process';
import Database from 'better-sqlite3';
import t from 'tap';
import { fillWithMessages } from '../../bench/message-rows.ts';
import { moveToPostgres } from '../../src/store/moving/move.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { postgresMissing, startPostgres } from '../support/postgres-server.ts';
import { testFolder } from '../support/test-folder.ts';

const MESSAGES = Number(process.env.MESSAGES ?? 1_000_000);
const DAY_MS = 86_400_000;
/** Of a process with the program, a piece and SQLite's page cache. */
const MAX_RSS_MIB = 500;

/** As the daemon leaves them: two events and an attempt of each message, a content for every tenth. */
function addWhatBelongsToThem(file: string): void {
  const db = new Database(file);
  db.pragma('synchronous = OFF');
  db.exec(`INSERT INTO attempts (message_id, number, tenant_id, outcome, started_at, elapsed_ms, stage, mx, response)
      SELECT id, 1, tenant_id, 'delivered', created_at, 120, 'data', 'mx.in.test', '250 2.0.0 Ok: queued' FROM messages;
    INSERT INTO events (id, tenant_id, message_id, type, at, data)
      SELECT randomblob(16), tenant_id, id, 'email.delivered', created_at,
        '{"subject":"Your order","delivery":{"mx":"mx.in.test","tls":{"version":"TLSv1.3"}},"number":' || random() || '}'
      FROM messages, (SELECT 1 UNION SELECT 2);
    INSERT INTO contents (subject, html, headers)
      SELECT 'Your order', '<p>' || hex(randomblob(2000)) || '</p>', '[]' FROM messages WHERE abs(random()) % 10 = 0`);
  db.close();
}

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t, { settings: { max_wal_size: '4GB' } });
  const file = path.join(testFolder(t), 'postrider.db');
  const until = Date.now();
  await fillWithMessages({ file, messages: MESSAGES, tenants: 50, from: until - 30 * DAY_MS, until });
  addWhatBelongsToThem(file);
  const url = server.url(await server.createDatabase());
  const begun = performance.now();
  const processor = process.cpuUsage();
  let [largest, comparing] = [0, 0];
  const { rows } = await moveToPostgres({
    ...{ file, url, now: () => Date.now() },
    progress({ step }) {
      largest = Math.max(largest, memoryUsage.rss());
      if (step === 'compare' && comparing === 0) comparing = performance.now();
    },
  });
  const seconds = (from: number, to: number) => `${Math.round((to - from) / 1000)} s`;
  const { user, system } = process.cpuUsage(processor);
  const ended = performance.now();
  const figures = `${rows} rows of ${MESSAGES} messages: copied in ${seconds(begun, comparing)}, compared in ${seconds(comparing, ended)}; ${Math.round((user + system) / 1e6)} s of processor time; ${Math.round(largest / 2 ** 20)} MiB`;
  t.ok(largest < MAX_RSS_MIB * 2 ** 20, `note: ${figures}`);
  const store = await openPostgresStore({ url });
  t.teardown(() => store.close());
  t.equal((await store.tenants.listTenants()).length, 50);
});

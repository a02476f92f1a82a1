// What was answered survives kill -9: a process that accepts without end is killed at random
// moments, and everything that it said it had taken must be there.
import { spawn } from 'node:child_process';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench } from './conformance/harness.ts';

const KILLS = 5;
const ACCEPT_LOOP = fileURLToPath(new URL('./accept-loop.ts', import.meta.url));

t.test('what was answered is there after kill -9', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const { tenant, domain } = await prepare(file);
  const answered: string[] = [];
  for (let round = 0; round < KILLS; round++) {
    const before = answered.length;
    // Between the first answers and the first checkpoints of the log.
    const killAfter = 1 + Math.floor(Math.random() * 1500);
    await acceptUntilKilled([file, tenant.id, domain.id], answered, killAfter);
    t.ok(answered.length - before >= killAfter, `round ${round}: killed after ${answered.length - before} answers`);
    checkDatabase(t, file, answered);
  }

  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const first = await store.queue.getMessage(answered[0]!);
  t.match(first, { state: 'queued', tenantId: tenant.id });
  t.match(await store.submissions.findReceipt(tenant.id, answered.at(-1)!), { messageIds: [answered.at(-1)!] });
});

async function prepare(file: string) {
  const store = await openSqliteStore({ file });
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const sender = await bench.sender('acme.test');
  await store.close();
  return sender;
}

/** Collects what the process prints, kills it after `killAfter` lines, and ends when it is gone. */
async function acceptUntilKilled(args: string[], answered: string[], killAfter: number): Promise<void> {
  const child = spawn(process.execPath, [ACCEPT_LOOP, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (_code, signal) => (signal === 'SIGKILL' ? resolve() : reject(new Error('ended by itself'))));
  });
  let lines = 0;
  for await (const line of readline.createInterface({ input: child.stdout })) {
    answered.push(line);
    if (++lines === killAfter) child.kill('SIGKILL');
  }
  await gone;
}

function checkDatabase(t: Test, file: string, answered: string[]): void {
  const db = new Database(file, { readonly: true });
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  const rows = db.prepare('SELECT lower(hex(id)) FROM messages').pluck().all() as string[];
  const stored = new Set(rows);
  const lost = answered.filter((id) => !stored.has(id.replaceAll('-', '')));
  t.strictSame(lost, [], 'nothing that was answered is lost');
  const halves = `SELECT (SELECT count(*) FROM submissions) AS submissions, (SELECT count(*) FROM contents) AS contents,
    (SELECT count(*) FROM messages) AS messages, (SELECT open_messages FROM domain_counts) AS open`;
  const counts = Object.values(db.prepare(halves).get() as Record<string, number>);
  t.strictSame(
    counts,
    counts.map(() => rows.length),
    'and nothing is there by half',
  );
  db.close();
}

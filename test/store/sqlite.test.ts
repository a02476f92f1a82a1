// The SQLite driver passes the conformance suite of the store; and what only this driver has.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { noPeer } from '../../src/base/outcome.ts';
import { deliveredEvent } from '../../src/events/delivery-events.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { newDatabase } from '../support/new-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench, T0 } from './conformance/harness.ts';
import { TOUCHES } from './conformance/mail-links.ts';
import { storeConformance } from './conformance/store-conformance.ts';
import { openReads } from './open-reads.ts';
import { openSecond } from './open-second.ts';

async function openStore(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  await newDatabase(file);
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  return {
    ...{ file, store, openSecond: () => openSecond(t, file) },
    ...{ openContents: () => openContentReader(file), reads: () => openReads(t, file) },
  };
}

storeConformance(t, 'sqlite', openStore);

t.test('whatever a tenant can have makes it more than a sign-up, which is erased', async (t) => {
  const { file } = await openStore(t);
  const db = new Database(file, { readonly: true });
  t.teardown(() => db.close());
  const tables = db.prepare(`SELECT m.name FROM sqlite_schema m, pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table' AND f."table" = 'tenants' AND m.name <> 'sign_ups'`);
  const columns = db.prepare("SELECT name FROM pragma_table_info('tenants')");
  // Of the last two: a sign-up has a name that was chosen freely, and a tier rises without an operator.
  const facts = columns
    .pluck()
    .all()
    .filter((name) => !['id', 'created_at', 'name', 'tier'].includes(String(name)));
  const owned = [...tables.pluck().all(), 'suppressions'];
  t.strictSame(Object.keys(TOUCHES).toSorted(), [...facts, ...owned].toSorted());
});

t.test('the database and its log are for the owner only', async (t) => {
  const folder = path.join(testFolder(t), 'data', 'deep');
  const store = await openSqliteStore({ file: path.join(folder, 'postrider.db') });
  t.teardown(() => store.close());
  t.equal(mode(folder), 0o700);
  const files = fs.readdirSync(folder).sort();
  t.strictSame(files, ['postrider.db', 'postrider.db-shm', 'postrider.db-wal']);
  for (const file of files) t.equal(mode(path.join(folder, file)), 0o600, file);
});

t.test('commits are durable: write-ahead log, synced in full', async (t) => {
  const { openForWriting } = await import('../../src/store/sqlite/engine/database-file.ts');
  const db = openForWriting(path.join(testFolder(t), 'a.db'));
  t.teardown(() => db.close());
  t.equal(db.pragma('journal_mode', { simple: true }), 'wal');
  t.equal(db.pragma('synchronous', { simple: true }), 2, 'FULL');
  t.equal(db.pragma('foreign_keys', { simple: true }), 1);
});

t.test('a database that was moved away cannot be reached', async (t) => {
  const { file, store } = await openStore(t);
  fs.renameSync(file, `${file}.old`);
  t.equal(await store.ping(), false, 'gone');
  fs.copyFileSync(`${file}.old`, file);
  t.equal(await store.ping(), false, 'another file in its place');
  fs.renameSync(`${file}.old`, file);
  t.equal(await store.ping(), true);
});

t.test('a revoked domain that never sent leaves no private key on disk', async (t) => {
  const opened = await openStore(t);
  const bench = new Bench(opened);
  const tenant = await bench.tenant();
  const domain = await bench.pendingDomain(tenant.id, 'acme.test');
  const sealed = () => {
    const db = new Database(opened.file, { readonly: true });
    const value = db.prepare('SELECT sealed FROM signing_keys WHERE id = ?').pluck().get(domain.signingKeyId);
    db.close();
    return value;
  };
  t.ok(sealed());
  await bench.store.domains.revokeDomain(tenant.id, domain.id);
  t.equal(sealed(), null);
});

t.test('a message whose other rows are lost can be claimed and parked', async (t) => {
  const opened = await openStore(t);
  const bench = new Bench(opened);
  const { domain } = await bench.sender('acme.test');
  const { id, lane } = await bench.queued(domain, 'a@x.test');
  const beside = await bench.queued(domain, 'b@x.test');
  const db = new Database(opened.file);
  db.prepare('DELETE FROM submissions WHERE id = (SELECT submission_id FROM messages WHERE recipient = ?)').run(
    'a@x.test',
  );
  db.close();
  const claimed = await bench.claim(lane, T0);
  t.strictSame(
    claimed.map((message) => message.id),
    [id, beside.id],
  );
  const reader = opened.openContents();
  t.match(await reader.read(id), { kind: 'unreadable', reason: /missing/ });
  t.equal((await reader.read(beside.id)).kind, 'content');
  reader.close();
  await bench.store.queue.record([bench.update(claimed[0]!, { to: 'parked', reason: 'unreadable' })]);
  t.equal((await bench.store.queue.listQueue({ limit: 1 }))[0]?.parked, true);
  t.match(
    await bench.store.queue.getMessage(id),
    { parked: true, lastReason: 'unreadable', subject: '' },
    'and be looked at',
  );
  await bench.store.queue.endWaiting(bench.update(claimed[0]!, { to: 'failed', reason: 'cancelled' }));
  t.equal((await bench.store.queue.listQueue({ limit: 9 })).length, 1);
});

t.test('a first attempt that its event tells has no row, and is lost only with the event', async (t) => {
  const opened = await openStore(t);
  const bench = new Bench(opened);
  const { domain } = await bench.sender('acme.test');
  const message = await bench.sending(domain, 'a@x.test');
  const facts = { peer: noPeer('dot', 'taken'), attempt: 1 };
  const update = bench.attempted(
    message,
    { to: 'delivered' },
    deliveredEvent(bench.event('email.delivered'), message, facts),
  );
  update.attempt!.peer = facts.peer;
  await bench.store.queue.record([update]);
  const db = new Database(opened.file);
  t.teardown(() => void db.close());
  t.equal(db.prepare('SELECT count(*) FROM attempts').pluck().get(), 0);
  t.strictSame((await bench.message(message.id)).attemptList, [update.attempt]);
  db.exec("UPDATE events SET data = '{'");
  t.match(await bench.message(message.id), { state: 'delivered', attempts: 1, attemptList: [] });
});

function mode(file: string): number {
  return fs.statSync(file).mode & 0o777;
}

// The daemon's store, whose writer is a thread: nobody who reads waits for the disk, and what goes
// wrong in the thread arrives. That it is a store like any other: test/nightly/threaded-conformance.test.ts.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { openThreadedStore } from '../../src/store/sqlite/threaded-store.ts';
import type { WriterOptions } from '../../src/store/sqlite/writer.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench, T0 } from './conformance/harness.ts';

async function openStore(t: Test, options: Partial<WriterOptions> = {}) {
  const file = path.join(testFolder(t), 'postrider.db');
  const onTrouble = (error: unknown) => t.fail(String(error));
  const store = await openThreadedStore({ file, onCheckpointFault: onTrouble, onLost: onTrouble, ...options });
  t.teardown(() => store.close());
  return { file, store, openContents: () => openContentReader(file) };
}

t.test('what somebody has done he reads, and what was recalled before is forgotten', async (t) => {
  const opened = await openStore(t);
  const { store } = opened;
  const bench = new Bench(opened);
  const { tenant, domain } = await bench.sender('acme.test');
  const key = bench.apiKey(tenant.id);
  await store.keys.createApiKey(key, 50);
  const found = () => store.keys.findApiKeyBySecret(key.publicId, key.secretHash);
  for (let round = 0; round < 200; round++) {
    const status = round % 2 === 0 ? 'suspended' : 'active';
    const [, during] = await Promise.all([store.tenants.updateTenant(tenant.id, { status }), found()]);
    t.ok(during, 'asked while the change is under way');
    t.equal((await found())?.tenant.status, status, `round ${round}`);
  }
  const accepted = await bench.accept(domain, ['a@x.test']);
  t.match(await store.queue.getMessage(accepted.receipt.messageIds[0]!), { state: 'queued' });
});

t.test('who reads does not wait for who writes', async (t) => {
  const { file, store } = await openStore(t);
  await store.proveWritable(T0);
  const other = new Database(file);
  other.exec('BEGIN IMMEDIATE');
  let written = false;
  const writing = store.proveWritable(T0).then(() => {
    written = true;
  });
  for (let looks = 0; looks < 20; looks++) {
    await store.tenants.listTenants();
    await pause(5);
  }
  t.notOk(written, 'somebody else has the lock');
  other.exec('ROLLBACK');
  other.close();
  await writing;
  t.ok(written);
});

t.test('groups are told, and a verb that fails says why', async (t) => {
  let verbs = 0;
  const { promise: told, resolve } = Promise.withResolvers<void>();
  const onGroup = (group: { verbs: number }) => {
    verbs += group.verbs;
    if (verbs >= 20) resolve();
  };
  const { file, store } = await openStore(t, { onGroup });
  await Promise.all(Array.from({ length: 20 }, (_, at) => store.proveWritable(at)));
  await told;
  t.equal(verbs, 20);
  const other = new Database(file);
  other.exec('ALTER TABLE meta RENAME TO elsewhere');
  await t.rejects(store.proveWritable(1), { name: 'Fault', message: 'the database could not be used', detail: /meta/ });
  other.exec('ALTER TABLE elsewhere RENAME TO meta');
  other.close();
  await store.proveWritable(2);
});

t.test('who waited for a group is answered before the next one is committed', async (t) => {
  let answered = 0;
  const answeredBefore: number[] = [];
  const { store } = await openStore(t, { onGroup: () => answeredBefore.push(answered) });
  // More than fit in one group, and all called before the first is begun.
  const calls = Array.from({ length: 2500 }, (_, at) => store.proveWritable(at).then(() => answered++));
  await Promise.all(calls);
  t.ok(answeredBefore.length >= 3, `${answeredBefore.length} groups`);
  const late = answeredBefore.filter((before, group) => group > 0 && before === answeredBefore[group - 1]);
  t.strictSame(late, [], 'each is told after those of the one before have gone on');
});

t.test('a database that cannot be opened is refused as by a command', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const foreign = new Database(file);
  foreign.exec('CREATE TABLE somebody_elses (id)');
  foreign.close();
  const raise = (error: unknown) => t.fail(String(error));
  const [asCommand, asDaemon] = await Promise.all([
    openSqliteStore({ file }).then(undefined, (error: Error) => error),
    openThreadedStore({ file, onCheckpointFault: raise, onLost: raise }).then(undefined, (error: Error) => error),
  ]);
  t.match(asCommand, { name: 'Fault', permanence: 'permanent' });
  const { name, message, permanence, detail } = asCommand as Error & { permanence: string; detail: string };
  t.match(asDaemon, { name, message, permanence, detail });
});

t.test('closing waits for what was called, and takes nothing new', async (t) => {
  const { file, store } = await openStore(t);
  const calls = Array.from({ length: 30 }, (_, at) => store.proveWritable(at));
  const closing = store.close();
  await t.rejects(store.proveWritable(99), { message: 'the store is closed' });
  await Promise.all([...calls, closing, store.close()]);
  await t.rejects(store.tenants.listTenants(), { message: 'the store is closed' });
  t.notOk(fs.existsSync(`${file}-wal`), 'the last connection leaves no log');
  const db = new Database(file, { readonly: true });
  const proof = db.prepare(`SELECT value FROM meta WHERE name = 'last_proof_of_writing'`).pluck().get();
  db.close();
  t.equal(proof, '29');
});

t.test('a thread that dies is told of, and nobody waits for it', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  await (await openSqliteStore({ file })).close();
  const { promise: lost, resolve: onLost } = Promise.withResolvers<unknown>();
  const entry = new URL('./dying-writer.ts', import.meta.url);
  const store = await openThreadedStore({ file, entry, onLost, onCheckpointFault: () => t.fail('there is none') });
  const unusable = { name: 'Fault', message: 'the database could not be used', cause: { message: 'out of luck' } };
  await t.rejects(store.proveWritable(1), unusable);
  t.match(await lost, unusable);
  await t.rejects(store.proveWritable(2), unusable);
  await t.rejects(store.tenants.listTenants(), { message: 'the store is closed' });
  await store.close();
});

t.test('a group that cannot be committed is told with its reason', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const failed = Promise.withResolvers<unknown>();
  const onTrouble = (error: unknown) => t.fail(String(error));
  const options = { file, onCheckpointFault: onTrouble, onLost: onTrouble, onFailedCommit: failed.resolve };
  const store = await openThreadedStore(options);
  t.teardown(() => store.close());
  const other = new Database(file);
  other.exec('BEGIN IMMEDIATE');
  const unusable = { name: 'Fault', message: 'the database could not be used', detail: /locked/ };
  await t.rejects(store.proveWritable(1), unusable, 'after five seconds');
  t.match(await failed.promise, { message: /locked/ });
  other.close();
  await store.proveWritable(2);
});

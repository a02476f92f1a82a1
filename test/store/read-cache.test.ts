// What the connection remembers between verbs, adds up within a group, and how it waits: each seen
// through verbs, as those of the store use it.
import path from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { perform } from '../../src/store/sqlite/engine/statements.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { testFolder } from '../support/test-folder.ts';
import { stepless } from './at-once.ts';
import { Bench, T0 } from './conformance/harness.ts';
import { FailingDisk, names, openFacts, UNUSABLE } from './facts-on-a-disk.ts';

function openRecalling(t: Test) {
  const facts = openFacts(t);
  const { connection } = facts;
  let looks = 0;
  function* look() {
    looks++;
    return ((yield* connection.sql('SELECT count(*) FROM facts', 'column').get()) as number) || null;
  }
  const recall = () => connection.cached('facts', look);
  return { ...facts, recall, recalled: () => perform(recall()), looks: () => looks };
}

t.test('what was found is remembered until a verb may have changed it', async (t) => {
  const { connection, add, recalled, looks } = openRecalling(t);
  t.equal(recalled(), null);
  t.equal(recalled(), null);
  t.equal(looks(), 2, 'what is not there is looked for again');
  await add('a');
  t.equal(recalled(), 1);
  await connection.write('mail', () => connection.sql('INSERT INTO facts (name) VALUES (?)').run('mail'));
  t.equal(recalled(), 1, 'such a verb has said that it changes nothing of the kind');
  t.equal(looks(), 3);
  await add('b');
  t.equal(recalled(), 3);
});

t.test('what is not committed is seen by the group alone', async (t) => {
  const { connection, add, disk, recall, recalled } = openRecalling(t);
  await add('a');
  t.equal(recalled(), 1);
  disk.failures = Number.POSITIVE_INFINITY;
  const inside = connection.write('write', function* () {
    yield* connection.sql('INSERT INTO facts (name) VALUES (?)').run('b');
    t.equal(yield* recall(), 2, 'in the transaction');
  });
  await t.rejects(inside, UNUSABLE);
  t.equal(recalled(), 1, 'after it was rolled back');
  const mail = connection.write('mail', function* () {
    yield* connection.sql('INSERT INTO facts (name) VALUES (?)').run('c');
    yield* connection.cached('c', () => stepless(() => 'found'));
  });
  await t.rejects(mail, UNUSABLE);
  t.equal(
    perform(connection.cached('c', () => stepless(() => null))),
    null,
    'nothing of a verb that was rolled back is remembered',
  );
});

t.test('what another connection has committed is seen by the next group; its checkpoints forget nothing', async (t) => {
  const { file, connection, add, recall, looks } = openRecalling(t);
  const other = new Database(file);
  t.teardown(() => void other.close());
  await add('a');
  const byMail = () => connection.write('mail', recall);
  t.equal(await byMail(), 1);
  for (let group = 0; group < 3; group++) {
    await connection.write('mail', () => connection.sql('UPDATE facts SET size = +?').run(group));
    other.pragma('wal_checkpoint(PASSIVE)');
    t.equal(await byMail(), 1);
  }
  t.equal(looks(), 1, 'nor do commits of its own');
  other.exec(`INSERT INTO facts (name) VALUES ('b')`);
  t.equal(await byMail(), 2);
});

t.test('sums are written once per group, and before a verb that may read them', async (t) => {
  const { db, connection, disk } = openFacts(t);
  db.exec(`INSERT INTO facts VALUES ('sum', 0)`);
  let writes = 0;
  const addOne = () =>
    connection.write('mail', () =>
      stepless(() => {
        connection.addUp('sum', 1, function* (sum) {
          writes++;
          yield* connection.sql(`UPDATE facts SET size = size + ? WHERE name = 'sum'`).run(sum);
        });
      }),
    );
  const look = () => connection.sql(`SELECT size FROM facts WHERE name = 'sum'`, 'column').get();
  const read = () => perform(look());
  await Promise.all(names(10).map(addOne));
  t.equal(read(), 10);
  t.equal(writes, 1);
  const [, seen] = await Promise.all([addOne(), connection.write('write', look), addOne()]);
  t.equal(seen, 11, 'up to date for the verb between');
  t.equal(read(), 12);
  const broken = connection.write('write', () =>
    stepless(() => {
      throw new Error('no');
    }),
  );
  const results = await Promise.allSettled([addOne(), broken, addOne()]);
  t.strictSame(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.equal(read(), 14, 'once, although the group ran twice');
  disk.failures = 1;
  await Promise.all([addOne(), addOne()]);
  t.equal(read(), 16, 'once, although each was tried again on its own');
});

t.test('a pause holds commits back, and nobody is forgotten', async (t) => {
  const { connection, add, count } = openFacts(t);
  const pause = Promise.withResolvers<void>();
  connection.pause(pause.promise);
  let done = false;
  const waiting = add('a').then(() => {
    done = true;
  });
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  t.equal(done, false);
  t.equal(await count(), 0, 'reads go on');
  const closing = connection.close();
  pause.resolve();
  await waiting;
  await closing;
  t.equal(done, true);
});

t.test('verbs of one group see what the others have changed', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const disk = new FailingDisk();
  const store = await openSqliteStore({ file, faults: disk });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const { tenant, domain } = await bench.sender('acme.test');
  const accept = () => store.submissions.accept(bench.submission(domain, ['a@x.test']));
  t.equal((await accept()).kind, 'accepted');
  const kinds = await Promise.all([accept(), store.tenants.updateTenant(tenant.id, { status: 'suspended' }), accept()]);
  t.match(kinds, [{ kind: 'accepted' }, { status: 'suspended' }, { kind: 'tenant_not_active' }]);
  await store.tenants.updateTenant(tenant.id, { status: 'active' });
  t.match(await Promise.all([accept(), store.domains.revokeDomain(tenant.id, domain.id), accept()]), [
    { kind: 'accepted' },
    { state: 'revoked' },
    { kind: 'domain_not_verified' },
  ]);
  const db = new Database(file, { readonly: true });
  t.teardown(() => void db.close());
  const open = db.prepare('SELECT open_messages FROM domain_counts').pluck();
  const sealed = db.prepare('SELECT sealed FROM signing_keys').pluck();
  t.equal(open.get(), 3);
  t.ok(sealed.get(), 'the key is kept for what was accepted, in the same group as well');
  const { lane } = (await store.queue.dueLanes([1]))[0]!;
  const messages = await bench.claim(lane, T0);
  await store.queue.record(messages.map((message) => bench.update(message, { to: 'delivered' })));
  t.equal(open.get(), 0);
  t.equal(sealed.get(), null, 'and goes with the last of it');
});

t.test('a key that is revoked is dead at once', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const { tenant, domain } = await bench.sender('acme.test');
  const key = bench.apiKey(tenant.id);
  await store.keys.createApiKey(key, 50);
  const found = () => store.keys.findApiKeyBySecret(key.publicId, key.secretHash);
  t.equal((await found())?.key.revokedAt, null);
  t.equal((await store.domains.findVerifiedDomain(tenant.id, 'acme.test'))?.id, domain.id);
  await Promise.all([store.keys.revokeApiKey(tenant.id, key.id, 5), store.domains.revokeDomain(tenant.id, domain.id)]);
  t.equal((await found())?.key.revokedAt, 5);
  t.equal(await store.domains.findVerifiedDomain(tenant.id, 'acme.test'), null);
});

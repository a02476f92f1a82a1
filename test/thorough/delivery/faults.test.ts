// What breaks inside: rows that cannot be read, a database that fails, threads that die. Nobody
// else's mail may suffer, and nothing is sent twice that need not be.
import type { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import t from 'tap';
import { Fault } from '../../../src/base/errors.ts';
import type { StoreFaults } from '../../../src/store/sqlite/engine/writing-connection.ts';
import type { Store } from '../../../src/store/store.ts';
import { isDelivered, isFinished, setOneMx, setUp } from '../../delivery/set-up.ts';
import { damage, spoilRecipient } from '../../support/damage.ts';
import type { DeliveryHarness } from '../../support/delivery-harness.ts';
import { takeFirstSlot } from '../../support/first-slot.ts';
import { within } from '../../support/patience.ts';

function readRow(harness: DeliveryHarness, sql: string, ...values: unknown[]): Record<string, unknown> {
  const db = new Database(harness.databaseFile, { readonly: true });
  const row = db.prepare(sql).get(...values) as Record<string, unknown>;
  db.close();
  return row;
}

async function retryNow(harness: DeliveryHarness, id: string): Promise<void> {
  const lane = await harness.store.queue.retryNow(id, Date.now());
  harness.delivery.notice([lane!]);
}

const idBytes = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex');
const CONTENT_OF = '(SELECT s.content_id FROM messages m JOIN submissions s ON s.id = m.submission_id WHERE m.id = ?)';

t.test('a message whose content is gone is parked; the others of its batch are delivered', async (t) => {
  const { sink, harness } = await setUp(t);
  setOneMx(harness);
  const [before] = await harness.send(['a@rcpt.test'], { held: true });
  const [broken] = await harness.send(['broken@rcpt.test'], { held: true, subject: 'to be repaired' });
  const [after] = await harness.send(['b@rcpt.test'], { held: true });
  const lost = readRow(harness, `SELECT * FROM contents WHERE id = ${CONTENT_OF}`, idBytes(broken!));
  damage(harness, `DELETE FROM contents WHERE id = ${CONTENT_OF}`, idBytes(broken!));
  await harness.delivery.reconcile();

  await harness.untilAll([before!, after!], isDelivered);
  const parked = await harness.until(broken!, (message) => message.parked);
  t.match(parked, { state: 'deferred', dueAt: null, lastReason: /content of the message is missing/ });
  t.equal(sink.mails.length, 2);

  await t.test('and delivered after a repair', async (t) => {
    const { id, subject, html, text, headers } = lost;
    const insert = 'INSERT INTO contents (id, subject, html, text, headers) VALUES (?, ?, ?, ?, ?)';
    damage(harness, insert, id, subject, html, text, headers);
    await retryNow(harness, broken!);
    t.match(await harness.until(broken!, isFinished), { state: 'delivered', parked: false });
    t.match(sink.mails[2]!.raw.toString(), /Subject: to be repaired/);
  });
});

t.test('a signing key that does not open parks its mail', async (t) => {
  const { sink, harness } = await setUp(t);
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test'], { held: true });
  const { sealed } = readRow(harness, 'SELECT sealed FROM signing_keys') as { sealed: Buffer };
  damage(harness, 'UPDATE signing_keys SET sealed = ?', Buffer.alloc(sealed.length, 7));
  await harness.delivery.reconcile();
  const parked = await harness.until(id!, (message) => message.parked);
  t.match(parked.lastReason, /cannot be composed/);
  t.equal(sink.connections.total, 0);
  damage(harness, 'UPDATE signing_keys SET sealed = ?', sealed);
  await retryNow(harness, id!);
  t.equal((await harness.until(id!, isFinished)).state, 'delivered');
});

t.test('an address that SMTP cannot carry takes no other message with it', async (t) => {
  const { sink, harness } = await setUp(t, { limits: { sessionsPerGroup: 1 } });
  setOneMx(harness);
  const ids = await harness.send(['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test'], { held: true });
  spoilRecipient(harness, ids[1]!);
  await harness.delivery.reconcile();
  const [a, , c] = await harness.untilAll(ids, (message) => message.parked || message.attemptList.length > 0);
  t.match([a, c], [{ state: 'delivered' }, { state: 'delivered' }]);
  t.match(await harness.until(ids[1]!, (message) => message.parked), { lastReason: /an address .* is invalid/ });
  t.equal(sink.connections.total, 1);
});

t.test('a database that fails while results are recorded: kept, stored later, sent once', async (t) => {
  const faults: StoreFaults = {};
  const { sink, harness } = await setUp(t, {
    faults,
    sink: {
      onMail() {
        // From the moment of delivery on, nothing can be written.
        faults.beforeCommit = () => {
          throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
        };
        return null;
      },
    },
  });
  setOneMx(harness);
  const ids = await harness.send(['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test']);
  await sink.received(3);
  t.match(await harness.store.queue.getMessage(ids[0]!), { state: 'sending' });
  delete faults.beforeCommit;
  await harness.untilAll(ids, isDelivered);
  await harness.delivery.reconcile();
  await harness.stopDelivery();
  t.equal(sink.mails.length, 3, 'nothing was sent twice');
});

t.test('a result that cannot be stored holds up nobody else', async (t) => {
  let broken: string | null = null;
  const wrapStore = (store: Store): Store => ({
    ...store,
    queue: {
      ...store.queue,
      record: (updates) =>
        updates.some(({ messageId }) => messageId === broken)
          ? Promise.reject(new Fault('this row cannot be written'))
          : store.queue.record(updates),
    },
  });
  const { harness } = await setUp(t, { wrapStore, limits: { sessionsPerGroup: 1, messagesPerSession: 2 } });
  setOneMx(harness);
  [broken] = (await harness.send(['broken@rcpt.test'], { held: true })) as [string];
  const others = await harness.send(['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test'], { held: true });
  await harness.delivery.reconcile();
  await harness.untilAll(others, isDelivered);
  t.match(await harness.store.queue.getMessage(broken), { state: 'sending' });
  const repaired = broken;
  broken = null;
  await harness.until(repaired, isDelivered);
});

t.test('shutdown does not wait for a database that fails', async (t) => {
  const faults: StoreFaults = {};
  const { sink, harness } = await setUp(t, {
    faults,
    sink: {
      onMail() {
        faults.beforeCommit = () => {
          throw new Error('no');
        };
        return null;
      },
    },
  });
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test']);
  await sink.received(1);
  await within(10_000, 'the engine stops', harness.stopDelivery(200));
  // Behind a last attempt to store it that may still be under way.
  await t.rejects(takeFirstSlot(harness.store, { node: 'harness' }));
  delete faults.beforeCommit;
  // The next start finds it, and says that it may have arrived.
  t.equal((await harness.store.queue.getMessage(id!))?.state, 'sending');
  const request = { node: 'harness', slots: 1, now: Date.now(), leaseUntil: null };
  t.match(await harness.store.owners.takeSlots(request), { returned: { messages: 1 } });
  t.match(await harness.store.queue.getMessage(id!), { state: 'deferred', ambiguous: true });
});

/** Every thread that is started from now on. */
function watchThreads(t: Parameters<typeof setUp>[0]): Worker[] {
  const threads: Worker[] = [];
  const onWorker = (thread: Worker) => threads.push(thread);
  process.on('worker', onWorker);
  t.teardown(() => process.off('worker', onWorker));
  return threads;
}

t.test('a courier thread that dies: its messages come back, and the pool heals', async (t) => {
  const threads = watchThreads(t);
  const hanging = Promise.withResolvers<void>();
  const { sink, harness } = await setUp(t, {
    retryStepsMs: [50],
    sink: {
      async onMail() {
        if (threads.length > 1) return null;
        hanging.resolve();
        return await new Promise<null>(() => {});
      },
    },
  });
  setOneMx(harness);
  const ids = await harness.send(['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test']);
  await hanging.promise;
  t.equal(threads.length, 1);
  await Promise.all(threads.slice().map((thread) => thread.terminate()));
  const messages = await harness.untilAll(ids, isFinished);
  t.same(
    messages.map(({ state }) => state),
    ['delivered', 'delivered', 'delivered'],
  );
  t.match(messages[0]!.attemptList[0], { outcome: 'temporary', peer: { response: /courier thread died/ } });
  t.match(messages.slice(1), [{ attempts: 1 }, { attempts: 1 }], 'the others were not on the wire');
  t.equal(sink.mails.length, 3);
  t.equal(threads.length, 2, 'a new thread');
});

t.test('an idle thread that dies does not take the daemon with it', async (t) => {
  const threads = watchThreads(t);
  // The connection may still linger: then the message counts as tried.
  const { harness } = await setUp(t, { retryStepsMs: [50] });
  setOneMx(harness);
  const [first] = await harness.send(['a@rcpt.test']);
  await harness.until(first!, isDelivered);
  for (const thread of threads.slice()) thread.emit('error', new Error('out of memory'));
  const [second] = await harness.send(['b@rcpt.test']);
  await harness.until(second!, isDelivered);
});

t.test('what is claimed for a session whose thread dies meanwhile goes back to the queue', async (t) => {
  const threads = watchThreads(t);
  const gate = { claims: 0, asked: Promise.withResolvers<void>(), open: Promise.withResolvers<void>() };
  const wrapStore = (store: Store): Store => ({
    ...store,
    queue: {
      ...store.queue,
      async claim(...parameters) {
        const claimed = await store.queue.claim(...parameters);
        if (++gate.claims !== 2) return claimed;
        gate.asked.resolve();
        await gate.open.promise;
        return claimed;
      },
    },
  });
  const first = Promise.withResolvers<null>();
  const { sink, harness } = await setUp(t, {
    wrapStore,
    limits: { sessionsPerGroup: 1 },
    sink: { onMail: ({ to }) => (to.startsWith('a') ? first.promise : null) },
  });
  setOneMx(harness);
  const [a] = await harness.send(['a@rcpt.test']);
  await harness.until(a!, ({ state }) => state === 'sending');
  const [b] = await harness.send(['b@rcpt.test']);
  first.resolve(null);
  await gate.asked.promise;
  const [victims, more] = [threads.slice(), threads.length];
  await Promise.all(victims.map((thread) => thread.terminate()));
  gate.open.resolve();
  t.match(await harness.until(b!, isFinished), { state: 'delivered', attempts: 1 });
  t.equal(sink.mails.length, 2);
  t.equal(threads.length, 2 * more, 'new threads');
});

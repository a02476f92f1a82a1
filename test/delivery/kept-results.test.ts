// Results that the database does not take: they are told of, they end up in the journal, and nothing whose end is
// known is sent again, whatever happens in between.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { Fault } from '../../src/base/errors.ts';
import { ResultJournal } from '../../src/delivery/outcome/result-journal.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { StoreFaults } from '../../src/store/sqlite/engine/writing-connection.ts';
import type { Store } from '../../src/store/store.ts';
import type { DeliveryHarness } from '../support/delivery-harness.ts';
import { eventTypes, isDelivered, setOneMx, setUp } from './set-up.ts';

const TO = ['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test'];

/** From the moment of delivery on, nothing can be written. */
function failingFromDelivery() {
  const faults: StoreFaults = {};
  const onMail = () => {
    faults.beforeCommit = () => {
      throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
    };
    return null;
  };
  return { faults, sink: { onMail } };
}

/** The receiving server has answered, and the engine has heard it: before that a stop would cut the session off. */
async function untilRefused({ delivery }: DeliveryHarness, messages: number): Promise<void> {
  while (delivery.unstoredResults()?.messages !== messages) await new Promise(setImmediate);
}

t.test(
  'a daemon that ends before its database takes results: the next one stores them and sends nothing',
  async (t) => {
    const { faults, sink: sinkOptions } = failingFromDelivery();
    const { sink, harness } = await setUp(t, { faults, sink: sinkOptions });
    setOneMx(harness);
    const ids = await harness.send(TO);
    await sink.received(TO.length);
    await untilRefused(harness, TO.length);
    await harness.stopDelivery(0);
    t.match(await harness.store.queue.getMessage(ids[0]!), { state: 'sending' });
    delete faults.beforeCommit;
    await harness.restartDelivery();
    for (const id of ids) {
      t.match(await harness.store.queue.getMessage(id), {
        state: 'delivered',
        attempts: 1,
        attemptList: [{ outcome: 'delivered' }],
      });
      t.strictSame(await eventTypes(harness, id), ['email.delivered']);
    }
    await harness.stopDelivery();
    t.equal(sink.mails.length, TO.length, 'nothing was sent twice');
    const journal = new ResultJournal(path.join(harness.folder, 'results.journal'), silentLogger);
    t.strictSame(journal.earlier, [], 'what is stored is in the journal no more');
    journal.close();
  },
);

t.test('results that are not stored are told of while that lasts', async (t) => {
  const { faults, sink: sinkOptions } = failingFromDelivery();
  const { sink, harness } = await setUp(t, { faults, sink: sinkOptions });
  setOneMx(harness);
  t.equal(harness.delivery.unstoredResults(), null);
  const ids = await harness.send(TO);
  await sink.received(TO.length);
  await untilRefused(harness, TO.length);
  t.match(harness.delivery.unstoredResults(), { messages: TO.length, reason: /disk I\/O error/ });
  delete faults.beforeCommit;
  await harness.untilAll(ids, isDelivered);
  t.equal(harness.delivery.unstoredResults(), null);
});

t.test('a database that hangs at the moment of delivery: in the journal, and sent once', async (t) => {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  let hangs = true;
  let asked = 0;
  const answer = Promise.withResolvers<void>();
  const wrapStore = (store: Store): Store => ({
    ...store,
    queue: {
      ...store.queue,
      record(updates) {
        asked += updates.length;
        return hangs ? answer.promise.then(() => store.queue.record(updates)) : store.queue.record(updates);
      },
    },
  });
  const { sink, harness } = await setUp(t, { clock, wrapStore, sink: { onMail: () => null } });
  setOneMx(harness);
  const ids = await harness.send(TO);
  await sink.received(TO.length);
  while (asked < TO.length) await new Promise(setImmediate);
  t.equal(harness.delivery.unstoredResults(), null);
  clock.offset = 5000;
  while (harness.delivery.unstoredResults()?.messages !== TO.length) await new Promise(setImmediate);
  t.match(harness.delivery.unstoredResults(), { reason: 'the database does not answer', isAlarm: false });
  clock.offset = 66_000;
  t.match(harness.delivery.unstoredResults(), { isAlarm: true });
  const file = path.join(harness.folder, 'results.journal');
  const killed = path.join(harness.folder, 'at-this-moment');
  fs.copyFileSync(file, killed);
  // What a kill at this moment leaves behind: the database without the results, and this journal.
  await harness.stopDelivery(0);
  fs.copyFileSync(killed, file);
  hangs = false;
  await harness.restartDelivery();
  for (const id of ids) t.match(await harness.store.queue.getMessage(id), { state: 'delivered', attempts: 1 });
  answer.resolve();
  await harness.stopDelivery();
  t.equal(harness.delivery.unstoredResults(), null);
  t.equal(sink.mails.length, TO.length, 'nothing was sent twice');
});

t.test('a result that no start can store keeps its message from being sent, and holds up nobody else', async (t) => {
  let broken: string | null = null;
  const refused = new Fault('this row cannot be written');
  const wrapStore = (store: Store): Store => {
    const unless = <T>(updates: readonly { messageId: string }[], work: () => Promise<T>) =>
      updates.some(({ messageId }) => messageId === broken) ? Promise.reject(refused) : work();
    return {
      ...store,
      queue: {
        ...store.queue,
        record: (updates) => unless(updates, () => store.queue.record(updates)),
        recordLate: (updates) => unless(updates, () => store.queue.recordLate(updates)),
      },
    };
  };
  const { sink, harness } = await setUp(t, { wrapStore, sink: { onMail: () => null }, expiryPeriodMs: 50 });
  setOneMx(harness);
  const [kept] = await harness.send(['kept@rcpt.test'], { held: true });
  const [other] = await harness.send(['other@rcpt.test'], { held: true });
  broken = kept!;
  await harness.delivery.reconcile();
  await sink.received(2);
  await harness.until(other!, isDelivered);
  await untilRefused(harness, 1);
  await harness.stopDelivery(0);
  await harness.restartDelivery();
  t.match(harness.delivery.unstoredResults(), { messages: 1 });
  t.match(await harness.store.queue.getMessage(kept!), { state: 'sending', attempts: 1 });
  const [later] = await harness.send(['later@rcpt.test']);
  await harness.until(later!, isDelivered);
  broken = null;
  while (!isDelivered((await harness.store.queue.getMessage(kept!))!)) await new Promise(setImmediate);
  t.equal(harness.delivery.unstoredResults(), null);
  t.equal(sink.mails.length, 3, 'nothing was sent twice');
});

// What grows with the queue: one entry per lane that has something waiting, never one per message.
import t from 'tap';
import { DueHeap } from '../../src/delivery/due-heap.ts';
import { isDeferred, isDelivered, setOneMx, setUp } from './set-up.ts';

const LATER = { code: 451, text: 'later' };

t.test('hundreds of messages that wait for one destination are one entry', async (t) => {
  const pushes = t.capture(DueHeap.prototype, 'push', DueHeap.prototype.push);
  const { harness } = await setUp(t, { retryStepsMs: [3_600_000], sink: { onRcpt: () => LATER } });
  setOneMx(harness);
  const ids: string[] = [];
  for (let round = 0; round < 5; round++) {
    const to = Array.from({ length: 50 }, (_, index) => `user${round}-${index}@rcpt.test`);
    ids.push(...(await harness.send(to, { held: true })));
  }
  await harness.delivery.reconcile();
  await harness.untilAll(ids, isDeferred);
  pushes.args(); // those so far: one for each time at which a batch is due
  await harness.restartDelivery();
  t.equal(pushes.args().length, 1, 'an engine that finds hundreds of waiting messages holds one entry');
});

t.test('fresh mail past a message that waits for long leaves nothing behind', async (t) => {
  const { harness } = await setUp(t, {
    retryStepsMs: [3_600_000],
    sink: { onRcpt: (to) => (to.startsWith('late') ? LATER : null) },
  });
  setOneMx(harness);
  const [late] = await harness.send(['late@rcpt.test']);
  await harness.until(late!, isDeferred);
  const pushes = t.capture(DueHeap.prototype, 'push', DueHeap.prototype.push);
  for (let index = 0; index < 30; index++) {
    const [id] = await harness.send([`user${index}@rcpt.test`]);
    await harness.until(id!, isDelivered);
  }
  const made = pushes().length;
  t.ok(made <= 2, `${made} entries for 30 messages`);
});

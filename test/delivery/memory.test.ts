// What grows with the queue: one entry per lane that has something waiting, never one per message.
import t from 'tap';
import { DueHeap } from '../../src/delivery/queue/due-heap.ts';
import { until } from '../support/until.ts';
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

t.test('mail for later is no entry at all, and a start reads none of it', async (t) => {
  const seen = { due: 0, next: 0 };
  const { harness } = await setUp(t, {
    wrapStore: (store) => ({
      ...store,
      queue: {
        ...store.queue,
        dueScheduled: async (now, limit) => {
          const due = await store.queue.dueScheduled(now, limit);
          seen.due += due.length;
          return due;
        },
        nextScheduled: () => {
          seen.next++;
          return store.queue.nextScheduled();
        },
      },
    }),
  });
  const sendAt = Date.now() + 3_600_000;
  for (let domain = 0; domain < 20; domain++) {
    const to = Array.from({ length: 50 }, (_, index) => `user${index}@d${domain}.test`);
    await harness.send(to, { sendAt });
  }
  const pushes = t.capture(DueHeap.prototype, 'push', DueHeap.prototype.push);
  seen.next = 0;
  await harness.restartDelivery();
  await until('it has looked', () => seen.next > 0);
  t.equal(pushes().length, 0, 'a thousand messages in twenty lanes');
  t.equal(seen.due, 0);
  t.equal(await harness.store.queue.nextScheduled(), sendAt);
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

t.test('a lane that shaping keeps back has one entry, however often the whole queue is looked at', async (t) => {
  const { harness } = await setUp(t);
  setOneMx(harness);
  const end = Date.now() + 3_600_000;
  const of = { mxGroup: 'mx.rcpt.test', scope: 'domain', tenantId: null, subject: 'rcpt.test' } as const;
  harness.delivery.shaping.memory.suspend({ ...of, rule: 'a rule', reply: '421 later', since: 0, until: end });
  const pushes = t.capture(DueHeap.prototype, 'push', DueHeap.prototype.push);
  const verdicts = t.capture(harness.delivery.shaping, 'verdict', harness.delivery.shaping.verdict);
  await harness.send(['a@rcpt.test']);
  let asked = 0;
  for (let look = 0; look < 10; look++) {
    await harness.delivery.reconcile();
    const before = asked;
    await until('it is asked about', () => {
      asked += verdicts().length;
      return asked > before;
    });
  }
  t.ok(asked >= 10, 'it was looked at each time');
  t.equal(pushes.args().filter(([, at]) => at === end).length, 1);
});

t.test('hundreds of lanes that become due at once are not all looked at in one turn', async (t) => {
  const { harness } = await setUp(t);
  const { shaping } = harness.delivery;
  const looks = t.capture(shaping, 'learnTenant', shaping.learnTenant);
  const lanes = Array.from({ length: 300 }, (_, index) => {
    return { lane: 1000 + index, slot: 1, tenantId: harness.tenantId, domain: `d${index}.nowhere.test`, dueAt: 0 };
  });
  harness.delivery.notice(lanes);
  let looked = looks.args().length;
  t.ok(looked <= 50, `${looked} at once`);
  await until('all were looked at', () => {
    looked += looks.args().length;
    return looked >= lanes.length;
  });
});

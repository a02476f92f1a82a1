// Events that a node has claimed and not begun to send, when it loses their slot: it sends none of them.
import t from 'tap';
import { LeaseEnd } from '../../src/base/lease-end.ts';
import { Ownership } from '../../src/store/ownership.ts';
import type { FoundDeliveries } from '../../src/store/webhooks.ts';
import { ownFirstSlot, takeFirstSlot } from '../support/first-slot.ts';
import { until } from '../support/until.ts';
import { backUp } from './backed-up.ts';
import { openStage } from './stage.ts';

t.test('past its deadline a node begins no call, and goes on where nobody has taken the slot', async (t) => {
  const stage = await openStage(t);
  const owner = await takeFirstSlot(stage.store);
  let now = 0;
  const ownership = new Ownership([owner], new LeaseEnd(() => now));
  ownership.holdUntil(1000);
  const { dispatcher, sending, waiting, answer, timesOf } = await backUp(t, stage, { ownership });
  now = 1000;
  answer();
  await dispatcher.idle();
  t.same([...new Set(timesOf(waiting))], [0]);

  // As the slot keeper does, at the deadline and when a lease is renewed after it.
  ownership.lose([owner.slot]);
  ownership.holdUntil(2000);
  ownership.gain([owner]);
  await until('all are sent', () => timesOf(waiting).every((times) => times > 0));
  await dispatcher.idle();
  t.same([...new Set(timesOf([...sending, ...waiting]))], [1], 'each once');
});

t.test('what waits is let go as soon as its slot is lost, while calls go on', async (t) => {
  const stage = await openStage(t);
  const ownership = await ownFirstSlot(stage.store);
  const { tenant, hook, waiting } = await backUp(t, stage, { ownership });
  const search = { webhookId: hook.id, state: 'due', after: null, limit: 100 } as const;
  ownership.lose(ownership.slots);
  const free = await until('they are free', async () => {
    const found = await stage.store.webhooks.listWebhookDeliveries(tenant.id, search);
    const due = (found as FoundDeliveries).deliveries.filter(({ dueAt }) => dueAt !== null);
    return due.length > 0 && due;
  });
  t.same(free.map(({ eventId }) => eventId).toSorted(), waiting.toSorted());
});

t.test('what another node has taken over is sent by that one alone', async (t) => {
  const stage = await openStage(t);
  const ownership = await ownFirstSlot(stage.store);
  const { dispatcher, endpoint, sending, waiting, answer, timesOf } = await backUp(t, stage, { ownership });
  const taken = await ownFirstSlot(stage.store);
  ownership.lose(taken.slots);
  answer();
  await dispatcher.idle();
  t.same([...new Set(timesOf(waiting))], [0]);
  const all = endpoint.received.length + sending.length + waiting.length;
  const other = await stage.dispatcher({ ownership: taken });
  await endpoint.until(all);
  await other.idle();
  t.same([...new Set(timesOf(waiting))], [1]);
  t.same([...new Set(timesOf(sending))], [2], 'calls that were open are repeated');
});

t.test('what was claimed under an earlier epoch of its slot is not sent beside what is claimed again', async (t) => {
  const stage = await openStage(t);
  const ownership = await ownFirstSlot(stage.store);
  const { dispatcher, endpoint, sending, waiting, answer, timesOf } = await backUp(t, stage, { ownership });
  ownership.gain([await takeFirstSlot(stage.store)]);
  answer();
  await endpoint.until(endpoint.received.length + sending.length + waiting.length);
  await dispatcher.idle();
  t.same([...new Set(timesOf(waiting))], [1]);
  t.same([...new Set(timesOf(sending))], [2]);
});

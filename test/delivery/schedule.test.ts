// Mail for later: when its time comes it is sent, unless its address has been suppressed meanwhile.
import t, { type Test } from 'tap';
import { DAY_MS, HOUR_MS } from '../../src/base/clock.ts';
import { Fault } from '../../src/base/errors.ts';
import { IdSource } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { Store } from '../../src/store/store.ts';
import { createScheduling } from '../../src/submission/schedule.ts';
import { eventTypes, isDelivered, isFinished, type SetUpOptions, setOneMx, setUp } from './set-up.ts';

async function setStage(t: Test, options: SetUpOptions = {}) {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const { sink, harness } = await setUp(t, { clock, ...options });
  setOneMx(harness);
  const { store, tenantId } = harness;
  const onScheduled = (sendAt: number) => harness.delivery.noticeScheduled(sendAt);
  const { endBegun } = harness.delivery;
  const kit = { store, clock, ids: new IdSource(), log: silentLogger, lifetimeMs: DAY_MS, onScheduled, endBegun };
  const scheduling = createScheduling(kit);
  const by = { tenantId, boundDomain: null };
  const submissionOf = async (id: string) => (await store.queue.getMessage(id))!.submissionId;
  /** The clock leaps, and the schedule is told as if something were due then. */
  const leap = (ms: number) => {
    clock.offset += ms;
    onScheduled(clock.now());
  };
  return { clock, sink, harness, scheduling, kit, by, submissionOf, leap };
}

t.test('it is sent when its time comes, not before', async (t) => {
  const { clock, harness, sink } = await setStage(t);
  const sendAt = clock.now() + 300;
  const [later] = await harness.send(['ann@rcpt.test'], { sendAt });
  const [atOnce] = await harness.send(['bob@rcpt.test']);
  await harness.until(atOnce!, isDelivered);
  const message = await harness.until(later!, isDelivered);
  t.ok(message.attemptList[0]!.startedAt >= sendAt, 'not before its time');
  t.equal(sink.mails.length, 2);
});

t.test('what is due after a month without the daemon is sent at its start', async (t) => {
  const { clock, harness, leap } = await setStage(t);
  const ids = await harness.send(['ann@rcpt.test', 'bob@rcpt.test'], { sendAt: clock.now() + 30 * DAY_MS });
  leap(30 * DAY_MS - HOUR_MS);
  await harness.restartDelivery();
  for (const id of ids) t.equal((await harness.store.queue.getMessage(id))!.state, 'scheduled');
  clock.offset += HOUR_MS;
  await harness.restartDelivery();
  for (const id of ids) await harness.until(id, isDelivered);
});

t.test('more than a portion of the same moment', async (t) => {
  const { clock, harness, leap } = await setStage(t);
  const sendAt = clock.now() + HOUR_MS;
  const calls = Array.from({ length: 30 }, (_, call) =>
    harness.send(
      Array.from({ length: 20 }, (_, index) => `r${call}-${index}@rcpt.test`),
      { sendAt },
    ),
  );
  const ids = (await Promise.all(calls)).flat();
  leap(HOUR_MS);
  await harness.untilAll(ids, isDelivered);
  t.equal(ids.length, 600);
});

t.test('who is suppressed by then ends as failed, with that reason', async (t) => {
  const { clock, harness, sink, leap } = await setStage(t);
  const [gone, here] = await harness.send(['Gone@rcpt.test', 'here@rcpt.test'], { sendAt: clock.now() + HOUR_MS });
  const entry = { address: 'gone@rcpt.test', reason: 'complaint', messageId: null, createdAt: clock.now() } as const;
  await harness.store.suppressions.addSuppression(harness.tenantId, entry);
  leap(HOUR_MS);
  await harness.until(here!, isDelivered);
  const message = await harness.until(gone!, isFinished);
  t.match(message, { state: 'failed', attempts: 0, lastReason: /suppression list \(complaint\) when its time came/ });
  t.same(await eventTypes(harness, gone!), ['email.failed']);
  t.same(
    sink.mails.map(({ to }) => to),
    ['here@rcpt.test'],
  );
});

t.test('mail of a tenant that is suspended by then waits like all its mail', async (t) => {
  const { clock, harness, leap } = await setStage(t);
  const [id] = await harness.send(['ann@rcpt.test'], { sendAt: clock.now() + HOUR_MS });
  await harness.store.tenants.updateTenant(harness.tenantId, { status: 'suspended' });
  leap(HOUR_MS);
  await harness.until(id!, ({ state }) => state === 'queued');
  await harness.store.tenants.updateTenant(harness.tenantId, { status: 'active' });
  await harness.delivery.reconcile();
  await harness.until(id!, isDelivered);
});

t.test('an earlier time wakes it earlier, a later one is kept', async (t) => {
  const { clock, harness, scheduling, by, submissionOf } = await setStage(t);
  const [id] = await harness.send(['ann@rcpt.test'], { sendAt: clock.now() + DAY_MS });
  const submission = await submissionOf(id!);
  const after = (ms: number) => new Date(clock.now() + ms).toISOString();
  const later = after(2 * DAY_MS);
  t.match(await scheduling.move(by, submission, later), { sendAt: Date.parse(later) });
  const soon = after(200);
  t.hasProp(await scheduling.move(by, submission, soon), 'sendAt');
  const message = await harness.until(id!, isDelivered);
  t.ok(message.attemptList[0]!.startedAt >= Date.parse(soon));
  t.match(await scheduling.move(by, submission, later), { refused: 'not_scheduled', message: /are delivered/ });
});

t.test('its sender cancels what waits, and hears what was too late', async (t) => {
  const { promise: opened, resolve: open } = Promise.withResolvers<null>();
  const { harness, scheduling, by, submissionOf } = await setStage(t, {
    sink: { onMail: () => opened },
  });
  const [onTheWire] = await harness.send(['ann@rcpt.test']);
  await harness.until(onTheWire!, ({ state }) => state === 'sending');
  const submission = await submissionOf(onTheWire!);
  t.same(await scheduling.cancel(by, submission), { canceled: [], tooLate: [onTheWire] });
  open(null);
  await harness.until(onTheWire!, isDelivered);
  t.same(await scheduling.cancel(by, submission), { canceled: [], tooLate: [onTheWire] });
  t.match(await scheduling.cancel({ ...by, tenantId: new IdSource().next() }, submission), {
    refused: 'submission_not_found',
  });
  t.match(await scheduling.cancel({ ...by, boundDomain: 'other.test' }, submission), { refused: 'domain_not_allowed' });
});

t.test('two calls that cancel at once say the same, and a move beside them does not contradict itself', async (t) => {
  const { clock, harness, scheduling, kit, by, submissionOf } = await setStage(t);
  const { queue } = harness.store;
  /** A call that another one's cancellation overtakes just before this verb of the store. */
  const overtakenBefore = (verb: 'findWaitingOf' | 'endWaiting' | 'moveScheduled', submission: string) => {
    let isOvertaken = false;
    const overtake = async () => {
      if (isOvertaken) return;
      isOvertaken = true;
      await scheduling.cancel(by, submission);
    };
    const slow = {
      ...queue,
      [verb]: async (...args: never[]) => {
        await overtake();
        return (queue[verb] as (...args: never[]) => unknown)(...args);
      },
    };
    return createScheduling({ ...kit, store: { ...harness.store, queue: slow } });
  };
  const sendLater = async () => {
    const ids = await harness.send(['ann@rcpt.test', 'bob@rcpt.test'], { sendAt: clock.now() + HOUR_MS });
    return { ids, submission: await submissionOf(ids[0]!) };
  };
  for (const verb of ['findWaitingOf', 'endWaiting'] as const) {
    const { ids, submission } = await sendLater();
    t.same(await overtakenBefore(verb, submission).cancel(by, submission), { canceled: ids, tooLate: [] }, verb);
  }
  const { submission } = await sendLater();
  const later = new Date(clock.now() + DAY_MS).toISOString();
  t.match(await overtakenBefore('moveScheduled', submission).move(by, submission, later), {
    refused: 'not_scheduled',
    message: /its messages are canceled\.$/,
  });
});

t.test('a store that fails for a moment delays it, and no more', async (t) => {
  let failures = 2;
  const failing = (store: Store): Store => ({
    ...store,
    queue: {
      ...store.queue,
      dueScheduled: async (...args) => {
        if (failures-- > 0) throw new Fault('the disk is full', { permanence: 'temporary' });
        return store.queue.dueScheduled(...args);
      },
    },
  });
  const { clock, harness } = await setStage(t, { wrapStore: failing });
  const [id] = await harness.send(['ann@rcpt.test'], { sendAt: clock.now() + 50 });
  await harness.until(id!, isDelivered);
  t.ok(failures < 0);
});

// What waits is tried again in its time, its tenant hears of it once, and it ends when its
// lifetime is over; a suspended tenant's mail waits for better days.
import t from 'tap';
import { HOUR_MS } from '../../src/base/clock.ts';
import { Fault } from '../../src/base/errors.ts';
import type { MessageDetail } from '../../src/store/queue.ts';
import type { Store } from '../../src/store/store.ts';
import { spoilRecipient } from '../support/damage.ts';
import type { SinkReply } from '../support/mail-sink.ts';
import { eventTypes, isDeferred, isDelivered, isFinished, setOneMx, setUp } from './set-up.ts';

const BUSY: SinkReply = { code: 451, text: '4.3.0 try later' };

/** Real time, and a leap whenever the test wants one. */
function movableClock() {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  return clock;
}

t.test('attempts follow the ladder until one succeeds; the tenant hears of the first delay only', async (t) => {
  let refusals = 3;
  const steps = [100, 200, 400];
  const { harness } = await setUp(t, {
    retryStepsMs: steps,
    sink: { onRcpt: () => (refusals-- > 0 ? BUSY : null) },
  });
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, isDelivered);
  t.equal(message.attempts, 4);
  t.same(
    message.attemptList.map(({ attempt, outcome }) => [attempt, outcome]),
    [
      [1, 'temporary'],
      [2, 'temporary'],
      [3, 'temporary'],
      [4, 'delivered'],
    ],
  );
  for (const [index, step] of steps.entries()) {
    const [before, after] = message.attemptList.slice(index);
    const pause = after!.startedAt - before!.startedAt;
    t.ok(pause >= step * 0.8, `${pause} ms after a step of ${step}`);
  }
  t.same(await eventTypes(harness, id!), ['email.deferred', 'email.delivered']);
  const [deferred, delivered] = await harness.store.events.eventsOfMessage(harness.tenantId, id!);
  t.match(deferred!.data, {
    delivery: { attempt: 1, smtp_code: 451, enhanced_code: '4.3.0', next_attempt_at: String },
  });
  t.match(delivered!.data, { delivery: { attempt: 4, smtp_code: 250 } });
});

t.test('due times lie within the jitter, and differ', async (t) => {
  const { harness } = await setUp(t, { retryStepsMs: [100_000], sink: { onRcpt: () => BUSY } });
  setOneMx(harness);
  const ids = await harness.send(Array.from({ length: 10 }, (_, index) => `user${index}@rcpt.test`));
  const messages = await harness.untilAll(ids, isDeferred);
  const endOf = ({ attemptList: [attempt] }: MessageDetail) => attempt!.startedAt + attempt!.peer.elapsedMs;
  const pauses = messages.map((message) => message.dueAt! - endOf(message));
  t.ok(
    pauses.every((pause) => pause >= 80_000 && pause < 122_000),
    pauses.join(' '),
  );
  t.ok(new Set(pauses).size > 5);
});

t.test('the lifetime is over: failed, with the last reason', async (t) => {
  const clock = movableClock();
  const retryStepsMs = [100 * HOUR_MS];
  const { harness } = await setUp(t, { clock, retryStepsMs, expiryPeriodMs: 50, sink: { onRcpt: () => BUSY } });
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test']);
  await harness.until(id!, isDeferred);
  clock.offset = 72 * HOUR_MS;
  const message = await harness.until(id!, isFinished);
  t.match(message, { state: 'failed', attempts: 1, lastReason: /given up after 72 h; the last reason.*try later/ });
  t.same(await eventTypes(harness, id!), ['email.deferred', 'email.failed']);
  const [, failed] = await harness.store.events.eventsOfMessage(harness.tenantId, id!);
  t.match(failed!.data, { bounce: { type: 'soft', diagnostic: /try later/, attempt: 1, suppressed: false } });
});

t.test('a parked message and one that was never tried end too', async (t) => {
  const clock = movableClock();
  const { harness } = await setUp(t, { clock, expiryPeriodMs: 30 });
  setOneMx(harness);
  const [never] = await harness.send(['ann@never.test'], { lifetimeMs: 1, held: true });
  const [parked] = await harness.send(['p@rcpt.test'], { held: true });
  spoilRecipient(harness, parked!);
  await harness.delivery.reconcile();
  t.match(await harness.until(never!, isFinished), { state: 'failed', lastReason: /it was never tried/ });
  await harness.until(parked!, (message) => message.parked);
  clock.offset = 72 * HOUR_MS;
  t.match(await harness.until(parked!, isFinished), {
    state: 'failed',
    parked: false,
    lastReason: /an address .* is invalid/,
  });
});

t.test('mail of a tenant that may not send says so when its lifetime is over', async (t) => {
  const clock = movableClock();
  const { harness } = await setUp(t, { clock, expiryPeriodMs: 30 });
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test'], { held: true });
  await harness.store.tenants.updateTenant(harness.tenantId, { status: 'in_review', statusReason: 'too many bounces' });
  clock.offset = 72 * HOUR_MS;
  const lastReason = /^given up after 72 h; .* its sender's account is not active \(in_review\)$/;
  t.match(await harness.until(id!, isFinished), { state: 'failed', lastReason });
});

t.test('an expired message that cannot be ended stops no other', async (t) => {
  let broken = '';
  const wrapStore = (store: Store): Store => ({
    ...store,
    queue: {
      ...store.queue,
      endWaiting: (update) =>
        update.messageId === broken
          ? Promise.reject(new Fault('this row cannot be written'))
          : store.queue.endWaiting(update),
    },
  });
  const { harness } = await setUp(t, { expiryPeriodMs: 30, wrapStore });
  const [first, second] = await harness.send(['a@rcpt.test', 'b@rcpt.test'], { lifetimeMs: 100, held: true });
  broken = first!;
  t.equal((await harness.until(second!, isFinished)).state, 'failed');
  t.equal((await harness.store.queue.getMessage(first!))?.state, 'queued');
  broken = '';
  t.equal((await harness.until(first!, isFinished)).state, 'failed');
});

t.test("a suspended tenant's mail waits, and goes when it is active again", async (t) => {
  const { sink, harness } = await setUp(t);
  setOneMx(harness);
  const ids = await harness.send(['a@rcpt.test', 'b@rcpt.test'], { held: true });
  await harness.store.tenants.updateTenant(harness.tenantId, { status: 'suspended' });
  // The daemon still believes that there is something to do.
  harness.delivery.notice((await harness.store.queue.queueSummary()).map((lane) => ({ ...lane })));
  await harness.delivery.reconcile();
  const marker = await harness.store.queue.queueSummary();
  t.match(marker, [{ waiting: 2 }]);
  t.equal(sink.connections.total, 0);
  await harness.store.tenants.updateTenant(harness.tenantId, { status: 'active' });
  await harness.delivery.reconcile();
  for (const message of await harness.untilAll(ids, isFinished)) t.match(message, { state: 'delivered', attempts: 1 });
});

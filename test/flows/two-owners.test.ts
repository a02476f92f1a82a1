// Two engines on one database, as two nodes would be: a start beside a running owner touches only its own, and what an
// owner learns after its slot was taken over is not lost. Real SMTP, two handles on one SQLite file.
import t, { type Test } from 'tap';
import { setOneMx, setUp } from '../delivery/set-up.ts';
import type { ReceivedMail } from '../support/mail-sink.ts';

const LEASE_MS = 3_600_000;
const delivered = ({ state }: { state: string }) => state === 'delivered';

/** A receiver that keeps its reply to the final dot of some mails until the test lets it go. */
async function open(t: Test, holds: (mail: ReceivedMail) => boolean) {
  const held = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<void>();
  const onMail = async (mail: ReceivedMail) => {
    if (!holds(mail)) return null;
    heard.resolve();
    await held.promise;
    return null;
  };
  const { harness, sink } = await setUp(t, { sink: { onMail }, leaseMs: LEASE_MS, timeoutFactor: 1 });
  setOneMx(harness);
  return { harness, sink, heard: heard.promise, letGo: () => held.resolve() };
}

t.test('a start beside a running owner leaves its mail alone, and sends its own', async (t) => {
  const { harness, sink, heard, letGo } = await open(t, ({ to }) => to.startsWith('held'));
  const [onTheWire] = await harness.send(['held@rcpt.test']);
  await heard;
  const [waiting] = await harness.send(['waits@rcpt.test'], { held: true });
  const other = await harness.startBeside({ node: 'other' });
  t.same(other.owner, { slot: 2, epoch: 1 });
  const [own] = await harness.send(['own@rcpt.test'], { slot: 2, held: true });
  await other.delivery.reconcile();
  await harness.until(own!, delivered);
  t.match(await harness.store.queue.getMessage(onTheWire!), { state: 'sending', attempts: 1 });
  t.match(await harness.store.queue.getMessage(waiting!), { state: 'queued', attempts: 0 }, 'which is not its own');
  letGo();
  await harness.delivery.reconcile();
  await harness.untilAll([onTheWire!, waiting!], delivered);
  const arrived = sink.mails.map(({ to }) => to).toSorted();
  t.same(arrived, ['held@rcpt.test', 'own@rcpt.test', 'waits@rcpt.test'], 'each once');
});

t.test('a late result of an old owner counts while nobody has begun again', async (t) => {
  const { harness, sink, heard, letGo } = await open(t, () => true);
  const [id] = await harness.send(['held@rcpt.test']);
  await heard;
  const takesAt = Date.now() + LEASE_MS;
  const request = { node: 'other', slots: 1, now: takesAt, leaseUntil: null };
  const { owners, returned } = await harness.store.owners.takeSlots(request);
  t.same([owners, returned.messages], [[{ slot: 1, epoch: 2 }], 1]);
  t.match(await harness.store.queue.getMessage(id!), { state: 'deferred', ambiguous: true });
  letGo();
  const message = await harness.until(id!, delivered);
  t.match(message, { attempts: 1, attemptList: [{ attempt: 1, outcome: 'delivered' }] });
  t.equal(sink.mails.length, 1);
  const [next] = await harness.send(['next@rcpt.test']);
  t.match(await harness.store.queue.getMessage(next!), { state: 'queued' });
  await harness.delivery.reconcile();
  t.match(await harness.store.queue.getMessage(next!), { state: 'queued', attempts: 0 }, 'it sends nothing any more');
});

t.test('a late result after another owner has begun again is kept, and changes nothing', async (t) => {
  let mails = 0;
  const { harness, heard, letGo } = await open(t, () => ++mails === 1);
  const [id] = await harness.send(['held@rcpt.test']);
  await heard;
  const other = await harness.startBeside({ node: 'other', takesAt: Date.now() + LEASE_MS });
  // Due at the time of the takeover, which has not come here.
  const lane = await harness.store.queue.retryNow(id!, Date.now());
  other.delivery.notice([lane!]);
  const again = await harness.until(id!, delivered);
  t.match(again, { attempts: 2, attemptList: [{ attempt: 2, outcome: 'delivered' }] });
  letGo();
  const both = await harness.until(id!, ({ attemptList }) => attemptList.length === 2);
  t.match(both, {
    state: 'delivered',
    attempts: 2,
    attemptList: [{ attempt: 1, outcome: 'delivered' }, { attempt: 2 }],
  });
  const events = await harness.store.events.eventsOfMessage(harness.tenantId, id!);
  t.same(
    events.map(({ type }) => type),
    ['email.delivered'],
    'told once',
  );
});

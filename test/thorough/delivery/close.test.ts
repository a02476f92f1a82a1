// The end of the engine: what is on the wire is finished, what was not tried goes back, nothing
// is lost or doubled, and nothing stays open.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Store } from '../../../src/store/store.ts';
import { eventTypes, isDelivered, setOneMx, setUp } from '../../delivery/set-up.ts';
import { patience, within } from '../../support/patience.ts';

const RECIPIENTS = ['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test', 'd@rcpt.test'];

function gate() {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: open, resolve: release } = Promise.withResolvers<null>();
  const onMail = () => {
    arrive();
    return open;
  };
  return { arrived, release: () => release(null), onMail };
}

t.test('the message on the wire is finished, the others go back untried', async (t) => {
  const { arrived, release, onMail } = gate();
  const { sink, harness } = await setUp(t, { sink: { onMail } });
  setOneMx(harness);
  const ids = await harness.send(RECIPIENTS, { held: true });
  await harness.delivery.reconcile();
  await arrived;
  const stopped = harness.stopDelivery(10_000);
  const [late] = await harness.send(['late@rcpt.test']);
  release();
  await stopped;
  const messages = await harness.untilAll(ids, () => true);
  // One may be announced behind the first; and the first may be answered just before the session hears of the end, which
  // announces another one.
  const finished = sink.mails.length;
  t.ok(finished >= 1 && finished <= 3, `${finished} arrived`);
  for (const [at, message] of messages.entries()) {
    const asItIs =
      at < finished ? { state: 'delivered', attempts: 1 } : { state: 'queued', attempts: 0, attemptList: [] };
    t.match(message, asItIs);
  }
  t.match(await harness.store.queue.getMessage(late!), { state: 'queued', attempts: 0 });

  await t.test('and are delivered by the next engine, once each', async (t) => {
    await harness.restartDelivery();
    await harness.untilAll([...ids, late!], isDelivered);
    t.same(sink.mails.map(({ to }) => to).sort(), [...RECIPIENTS, 'late@rcpt.test']);
    t.same(await eventTypes(harness, ids[3]!), ['email.delivered']);
  });
});

t.test('what hangs longer than the grace period is cut off and said to be ambiguous', async (t) => {
  const { arrived, onMail } = gate();
  const { harness } = await setUp(t, { sink: { onMail } });
  setOneMx(harness);
  const ids = await harness.send(RECIPIENTS, { held: true });
  await harness.delivery.reconcile();
  await arrived;
  await within(10_000, 'the engine stops', harness.stopDelivery(200));
  const [first, ...others] = await harness.untilAll(ids, () => true);
  t.match(first, { state: 'deferred', ambiguous: true, attempts: 1 });
  for (const message of others) t.match(message, { state: 'queued', attempts: 0, attemptList: [] });
});

t.test('stopping while everything starts loses nothing', async (t) => {
  const { sink, harness } = await setUp(t);
  setOneMx(harness);
  const ids = await harness.send(RECIPIENTS);
  for (let round = 0; round < 5; round++) {
    // Each time a little later: while routing, claiming, connecting, sending.
    for (let turns = 0; turns < 4 ** round; turns++) await new Promise((resolve) => setImmediate(resolve));
    await harness.stopDelivery();
    for (const message of await harness.untilAll(ids, () => true)) {
      t.ok(['queued', 'delivered'].includes(message.state), `round ${round}: ${message.state}`);
    }
    await harness.restartDelivery();
  }
  await harness.untilAll(ids, isDelivered);
  t.same(sink.mails.map(({ to }) => to).sort(), RECIPIENTS);
});

for (const ending of [[], ['hang'], ['broken']]) {
  t.test(`nothing stays open: ${ending[0] ?? 'a good day'}`, async (t) => {
    const script = fileURLToPath(new URL('../../delivery/one-life.ts', import.meta.url));
    const child = spawn(process.execPath, [script, ...ending], { stdio: ['ignore', 'pipe', 'pipe'] });
    t.teardown(() => child.kill('SIGKILL'));
    const code = new Promise((resolve) => child.on('exit', resolve));
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    t.equal(await code, 0);
    t.equal(output, 'closed\n');
    t.equal(errors, '');
  });
}

t.test('what is being claimed when the end comes goes back too', async (t) => {
  const { arrived, release, onMail } = gate();
  const claim = { count: 0, asked: Promise.withResolvers<void>(), open: Promise.withResolvers<void>() };
  const wrapStore = (store: Store): Store => ({
    ...store,
    queue: {
      ...store.queue,
      async claim(...parameters) {
        const claimed = await store.queue.claim(...parameters);
        if (++claim.count !== 2) return claimed;
        claim.asked.resolve();
        await claim.open.promise;
        return claimed;
      },
    },
  });
  const { harness } = await setUp(t, { wrapStore, limits: { sessionsPerGroup: 1 }, sink: { onMail } });
  setOneMx(harness);
  const [first] = await harness.send(['a@rcpt.test']);
  await arrived;
  const [second] = await harness.send(['b@rcpt.test']);
  release();
  await claim.asked.promise;
  const stopped = harness.stopDelivery();
  // An engine that does not wait for the claim would be gone long before.
  const longEnough = new Promise((resolve) => setTimeout(resolve, patience(400), 'waiting'));
  t.equal(await Promise.race([stopped.then(() => 'gone'), longEnough]), 'waiting');
  claim.open.resolve();
  await stopped;
  t.match(await harness.store.queue.getMessage(first!), { state: 'delivered' });
  t.match(await harness.store.queue.getMessage(second!), { state: 'queued', attempts: 0 });
});

// With a hundred thousand messages of one tenant waiting for an MX group, another tenant's next
// message to it starts within two seconds: over a real store, with a real receiving server.
import t from 'tap';
import { isDelivered, setOneMx, setUp } from './set-up.ts';

const WAITING = 100_000;
const PER_SUBMISSION = 50;
/** Each is a lane of its own in the line of the one group. */
const DOMAINS = 200;
const PROMISED_MS = 2000;
const LATECOMERS = 5;

const pause = (ms: number) => new Promise<null>((resolve) => setTimeout(resolve, ms, null));

t.setTimeout(100_000);
t.test('a hundred thousand of one tenant, and the next one of another', async (t) => {
  const { sink, harness } = await setUp(t, {
    threads: 2,
    limits: { sessionsPerGroup: 4 },
    // A receiver that is not in a hurry: four connections, ten milliseconds each.
    sink: { onMail: () => pause(10) },
  });
  for (let index = 0; index < DOMAINS; index++) setOneMx(harness, `d${index}.test`);
  setOneMx(harness);
  const small = await harness.addSender('small.test');
  const accepting: Promise<string[]>[] = [];
  for (let from = 0; from < WAITING; from += PER_SUBMISSION) {
    const to = Array.from({ length: PER_SUBMISSION }, (_, index) => `user${from}@d${(from + index) % DOMAINS}.test`);
    accepting.push(harness.send(to, { held: true }));
    // Large groups of one commit each, without all of them in memory at once.
    if (accepting.length % 100 === 0) await accepting.at(-1);
  }
  await Promise.all(accepting);
  await harness.delivery.reconcile();
  await sink.received(200);

  const waits: number[] = [];
  for (let round = 0; round < LATECOMERS; round++) {
    const asked = Date.now();
    const [id] = await harness.send([`small${round}@rcpt.test`], { sender: small });
    const { attemptList } = await harness.until(id!, isDelivered);
    waits.push(attemptList[0]!.startedAt - asked);
  }
  t.ok(Math.max(...waits) < PROMISED_MS, `started after ${waits.join(', ')} ms`);
  const waiting = (await harness.store.queueSummary()).reduce((sum, lane) => sum + lane.waiting, 0);
  t.ok(waiting > WAITING * 0.9, `${waiting} of the other tenant still wait`);
  await harness.stopDelivery();
});

t.test('a slow server with one connection: nobody waits behind a whole batch', async (t) => {
  const { sink, harness } = await setUp(t, {
    limits: { sessionsPerGroup: 1 },
    sink: { onMail: () => pause(150) },
  });
  setOneMx(harness);
  const small = await harness.addSender('small.test');
  const large = Array.from({ length: 60 }, (_, index) => `user${index}@rcpt.test`);
  await harness.send(large);
  await sink.received(12);
  const asked = Date.now();
  const [id] = await harness.send(['small@rcpt.test'], { sender: small });
  const { attemptList } = await harness.until(id!, isDelivered);
  const waited = attemptList[0]!.startedAt - asked;
  t.ok(waited < PROMISED_MS, `started after ${waited} ms`);
  await harness.stopDelivery();
});

// With a hundred thousand messages of one tenant waiting for an MX group, another tenant's next
// message to it starts within two seconds: over a real store, with a real receiving server. The seconds are counted in
// mails that the server takes meanwhile, so that a busy machine does not decide.
import t from 'tap';
import { isDelivered, setOneMx, setUp } from './set-up.ts';

const WAITING = 100_000;
const PER_SUBMISSION = 50;
/** Each is a lane of its own in the line of the one group. */
const DOMAINS = 200;
const LATECOMERS = 5;

const pause = (ms: number) => new Promise<null>((resolve) => setTimeout(resolve, ms, null));

t.test('a hundred thousand of one tenant, and the next one of another', async (t) => {
  const { sink, harness } = await setUp(t, {
    threads: 2,
    limits: { sessionsPerGroup: 4 },
    // A receiver that is not in a hurry: four connections, ten milliseconds each, so 800 mails in two seconds.
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

  const overtaken: number[] = [];
  for (let round = 0; round < LATECOMERS; round++) {
    const [id] = await harness.send([`small${round}@rcpt.test`], { sender: small });
    const before = sink.mails.length;
    await harness.until(id!, isDelivered);
    overtaken.push(sink.mails.findIndex(({ to }) => to === `small${round}@rcpt.test`) - before);
  }
  t.ok(Math.max(...overtaken) < 800, `so many of the other one went first: ${overtaken.join(', ')}`);
  const waiting = (await harness.store.queue.queueSummary()).reduce((sum, lane) => sum + lane.waiting, 0);
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
  const [id] = await harness.send(['small@rcpt.test'], { sender: small });
  const before = sink.mails.length;
  await harness.until(id!, isDelivered);
  const overtaken = sink.mails.findIndex(({ to }) => to === 'small@rcpt.test') - before;
  t.ok(overtaken <= 2000 / 150, `${overtaken} of the other one went first`);
  await harness.stopDelivery();
});

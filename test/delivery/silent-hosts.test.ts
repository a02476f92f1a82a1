// Addresses that do not answer beside those that do: a dead backup MX, and servers that refuse connections
// without a word. What answers decides, and connections that work go on.
import net from 'node:net';
import t, { type Test } from 'tap';
import { isDeferred, isDelivered, type MxList, setMx, setUpFor, startSink } from './set-up.ts';

const HOUR = 3_600_000;
const users = (count: number) => Array.from({ length: count }, (_, at) => `user${at}@rcpt.test`);
const ONE_HOST: MxList = { 'mx.rcpt.test': { ip: '127.0.0.1', preference: 10 } };
const DEAD_BACKUP: MxList = { ...ONE_HOST, 'mx2.rcpt.test': { ip: '127.0.0.9', preference: 20 } };

interface Door {
  mx: MxList;
  /** What a connection beyond the first hears; null: nothing. */
  refusal: string | null;
  /** The first is greeted only when another was refused. */
  greetsLate?: true;
}

/** A server that lets in one connection, and does not answer that one's first mail until another was refused. */
async function oneDoor(t: Test, { mx, refusal, greetsLate }: Door) {
  const refused = Promise.withResolvers<void>();
  const letIn = Promise.withResolvers<void>();
  const sink = await startSink(t, {
    async onMail() {
      letIn.resolve();
      await refused.promise;
      return null;
    },
  });
  const counts = { open: 0, refused: 0 };
  const door = net.createServer(async (client) => {
    client.on('error', () => {});
    if (counts.open > 0) {
      counts.refused++;
      if (refusal === null) client.destroy();
      else client.end(`${refusal}\r\n`);
      refused.resolve();
      return;
    }
    counts.open++;
    if (greetsLate) await refused.promise;
    const behind = net.connect(sink.port, '127.0.0.1');
    behind.on('error', () => client.destroy());
    client.pipe(behind).pipe(client);
    client.on('close', () => {
      counts.open--;
      behind.destroy();
    });
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  t.teardown(() => door.close());
  const harness = await setUpFor(t, (door.address() as net.AddressInfo).port, {
    limits: { sessionsPerGroup: 8, messagesPerSession: 10_000 },
    retryStepsMs: [HOUR],
    coolDownStepsMs: [HOUR],
  });
  setMx(harness, 'rcpt.test', mx);
  return { sink, harness, counts, letIn: greetsLate ? null : letIn.promise };
}

const TOO_MANY = '421 4.7.0 Too many connections from your address';
for (const [what, door] of Object.entries<Door>({
  'too many connections, and a backup MX that is gone': { mx: DEAD_BACKUP, refusal: TOO_MANY },
  'too many connections, which are closed without a word': { mx: ONE_HOST, refusal: null },
  'the same, and a backup MX that is gone': { mx: DEAD_BACKUP, refusal: null },
  'the same, before any was greeted': { mx: DEAD_BACKUP, refusal: null, greetsLate: true },
})) {
  t.test(`${what}: what was let in carries all the mail`, async (t) => {
    const { sink, harness, counts, letIn } = await oneDoor(t, door);
    const first = await harness.send(['first@rcpt.test']);
    await letIn;
    const ids = [...first, ...(await harness.send(users(60)))];
    const messages = await harness.untilAll(ids, isDelivered);
    t.ok(counts.refused > 0, `${counts.refused} refused`);
    t.ok(
      messages.every(({ attempts }) => attempts === 1),
      'no message was blamed for the connection that was refused',
    );
    t.equal(sink.mails.length, ids.length, 'nothing twice');
    const [group] = harness.delivery.shaping.memory.groupNames();
    t.match(harness.delivery.shaping.memory.group(group!).concurrency, { limit: 1, coolDownUntil: 0 });
  });
}

t.test('a host that blocks us, then one that is silent: the block is the verdict', async (t) => {
  const door = net.createServer((client) => {
    client.on('error', () => {});
    client.end('554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org\r\n');
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  t.teardown(() => door.close());
  const harness = await setUpFor(t, (door.address() as net.AddressInfo).port);
  setMx(harness, 'rcpt.test', DEAD_BACKUP);
  const [id] = await harness.send(['ann@rcpt.test']);
  const message = await harness.until(id!, isDeferred);
  t.match(message.attemptList, [{ peer: { mx: 'mx.rcpt.test', stage: 'greeting', smtpCode: 554 } }]);
  t.match(message.lastReason, /blocked using zen.*mx2\.rcpt\.test.*ECONNREFUSED.*rule dns-block-list/);
  const [group] = harness.delivery.shaping.memory.groupNames();
  t.ok(harness.delivery.shaping.sourceSuspension(group!, null), 'our address makes a pause there');
});

// Who shares what: connections between messages, groups between domains, turns between tenants.
import t from 'tap';
import { DueHeap } from '../../src/delivery/queue/due-heap.ts';
import { Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { isDeferred, isDelivered, isFinished, setMx, setOneMx, setUp } from './set-up.ts';

const users = (count: number, domain = 'rcpt.test') =>
  Array.from({ length: count }, (_, index) => `user${index}@${domain}`);
const pause = (ms: number) => new Promise<null>((resolve) => setTimeout(resolve, ms, null));

t.test('thirty messages to one domain share few connections', async (t) => {
  const { sink, harness } = await setUp(t);
  setOneMx(harness);
  await harness.untilAll(await harness.send(users(30)), isDelivered);
  t.equal(sink.mails.length, 30);
  t.ok(sink.connections.total <= 3, `${sink.connections.total} connections`);
});

t.test('a connection that lingers takes what comes next', async (t) => {
  const { sink, harness } = await setUp(t, { limits: { lingerMs: 60_000 } });
  setOneMx(harness);
  for (const to of users(5)) await harness.untilAll(await harness.send([to]), isDelivered);
  // A second one, when a message is due before the courier has said that the first is free again.
  t.ok(sink.connections.total <= 2, `${sink.connections.total} connections`);
});

t.test('no more messages over one connection than configured', async (t) => {
  const { sink, harness } = await setUp(t, { limits: { messagesPerSession: 7, sessionsPerGroup: 2 } });
  setOneMx(harness);
  await harness.untilAll(await harness.send(users(40)), isDelivered);
  const perSession = Map.groupBy(sink.mails, ({ session }) => session);
  const counts = [...perSession.values()].map(({ length }) => length);
  t.ok(Math.max(...counts) <= 7, counts.join(' '));
  t.equal(sink.mails.length, 40);
});

t.test('a group has its limit of connections, also when two domains share its servers', async (t) => {
  const { sink, harness } = await setUp(t, {
    limits: { sessionsPerGroup: 10, messagesPerSession: 2 },
    sink: { onMail: () => pause(5) },
  });
  setOneMx(harness, 'one.test');
  setOneMx(harness, 'two.test');
  const ids = [...(await harness.send(users(45, 'one.test'))), ...(await harness.send(users(45, 'two.test')))];
  await harness.untilAll(ids, isDelivered);
  t.equal(sink.connections.most, 10);
  t.equal(sink.mails.length, 90);
});

t.test('all groups together have a limit too, and each of them gets its share', async (t) => {
  const { sink, harness } = await setUp(t, { limits: { sessions: 3, messagesPerSession: 2, lingerMs: 5 } });
  const domains = Array.from({ length: 12 }, (_, index) => `d${index}.test`);
  for (const domain of domains) setMx(harness, domain, { [`mx.${domain}`]: { ip: '127.0.0.1' } });
  const ids = await harness.send(domains.flatMap((domain) => users(3, domain)));
  await harness.untilAll(ids, isDelivered);
  t.ok(sink.connections.most <= 3, `${sink.connections.most} at one time`);
  t.equal(sink.mails.length, 36);
});

t.test('one message of a small tenant does not wait behind five hundred of a big one', async (t) => {
  const { sink, harness } = await setUp(t, {
    limits: { sessionsPerGroup: 2 },
    sink: { onMail: () => pause(1) },
  });
  setOneMx(harness);
  const small = await harness.addSender('small.test');
  const big: string[] = [];
  for (let round = 0; round < 5; round++) {
    big.push(
      ...(await harness.send(
        users(100).map((user) => `r${round}${user}`),
        { held: true },
      )),
    );
  }
  await harness.delivery.reconcile();
  await sink.received(50);
  const [id] = await harness.send(['small@rcpt.test'], { sender: small });
  await harness.until(id!, isDelivered);
  const before = sink.mails.findIndex(({ to }) => to === 'small@rcpt.test');
  t.ok(before < 250, `${before} went before it`);
  await harness.untilAll(big, isFinished);
  t.equal(sink.mails.length, 501);
});

t.test('a server that lets nobody in is knocked at once for a whole batch', async (t) => {
  const closed = Object.assign(new Error('no'), { responseCode: 554 });
  const { sink, harness } = await setUp(t, {
    sink: { server: { onConnect: (_session, done) => done(closed) } },
    limits: { sessionsPerGroup: 1 },
  });
  setOneMx(harness);
  const ids = await harness.send(users(10), { held: true });
  await harness.delivery.reconcile();
  for (const message of await harness.untilAll(ids, isDeferred)) {
    t.match(message, { attempts: 1, attemptList: [{ peer: { stage: 'greeting', smtpCode: 554 } }] });
  }
  t.equal(sink.connections.total, 1);
});

t.test('a connection that fails is one failure of the provider, however many messages it was for', async (t) => {
  const ofNone = { ownDomains: [], sameMailboxes: false, ignoredInNames: '', aliasSeparator: null };
  const limits = { connections: 1, messagesPerConnection: 100, messagesPerMinute: null, perService: false };
  const big = { id: 'big', mx: ['big.test'], customerDomains: true, reason: 'one server per customer', ...limits };
  const { harness } = await setUp(t, { providers: new Providers([{ ...big, ...ofNone }]), retryStepsMs: [600_000] });
  setMx(harness, 'dead.test', { 'mx1.big.test': { ip: '127.0.0.9' } });
  setMx(harness, 'good.test', { 'mx2.big.test': { ip: '127.0.0.1' } });
  const { memory } = harness.delivery.shaping;
  for (const failures of [1, 2]) {
    const ids = await harness.send(['ann@dead.test', 'bob@dead.test', 'eve@dead.test', 'joe@dead.test'], {
      held: true,
    });
    await harness.delivery.reconcile();
    for (const message of await harness.untilAll(ids, isDeferred)) t.match(message, { attempts: 1 });
    t.match(memory.group('big').concurrency, { failures, coolDownUntil: 0 });
  }
  const [good] = await harness.send(['ann@good.test']);
  await harness.until(good!, isDelivered);
  t.match(memory.group('big').concurrency, { failures: 0, coolDownUntil: 0 });
});

t.test('looking at the whole queue again and again costs no memory', async (t) => {
  const { harness } = await setUp(t, { sink: { onRcpt: () => ({ code: 451, text: 'later' }) } });
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test']);
  await harness.until(id!, isDeferred);
  const pushes = t.capture(DueHeap.prototype, 'push', DueHeap.prototype.push);
  for (let round = 0; round < 50; round++) await harness.delivery.reconcile();
  t.ok(pushes().length <= 1, 'one entry per lane');
});

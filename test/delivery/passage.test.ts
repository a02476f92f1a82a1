// Mail that is sent without waiting in the queue: claimed in the commit that accepts it, where a session is ready and
// nothing keeps it waiting. With a real store, a real DNS server and a real SMTP peer.
import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import type { Passage } from '../../src/delivery/queue/passage.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { createScheduling } from '../../src/submission/schedule.ts';
import { type DeliveryHarness, type DeliveryHarnessOptions, FROM_DOMAIN } from '../support/delivery-harness.ts';
import type { SinkOptions } from '../support/mail-sink.ts';
import { eventTypes, setOneMx, setUp } from './set-up.ts';

const DOMAIN = 'rcpt.test';
const delivered = ({ state }: { state: string }) => state === 'delivered';

interface Setting extends Partial<DeliveryHarnessOptions> {
  sink?: SinkOptions;
}

/** After a first mail: route, tenant and TLS policy are known, and a connection is open. */
async function warm(t: Test, setting: Setting = {}) {
  const limits = { lingerMs: 60_000, ...setting.limits };
  const { harness, sink } = await setUp(t, { ...setting, limits });
  setOneMx(harness);
  const [first] = await harness.send([`first@${DOMAIN}`]);
  await harness.until(first!, delivered);
  return { harness, sink };
}

async function stateOf(harness: DeliveryHarness, id: string): Promise<string | undefined> {
  return (await harness.store.queue.getMessage(id))?.state;
}

t.test('a mail for which a session is ready costs two commits, and its content is not read', async (t) => {
  const commits: number[] = [];
  const faults = { beforeCommit: (verbs: number) => void commits.push(verbs) };
  const { harness, sink } = await warm(t, { faults });
  await new Promise(setImmediate);
  commits.length = 0;
  const [id] = await harness.send([`a@${DOMAIN}`], { atOnce: true, subject: 'Without a claim', text: 'Hello.\n' });
  const message = await harness.until(id!, delivered);
  t.match(message, { attempts: 1, attemptList: [{ attempt: 1, outcome: 'delivered' }] });
  t.equal(commits.length, 2, 'accepted and claimed; recorded');
  const [, mail] = await sink.received(2);
  t.match(mail!.raw.toString(), /^Subject: Without a claim\r$/m);
  t.equal(sink.connections.total, 1, 'over the connection that was open');
});

t.test('what is handed over is what a courier would read', async (t) => {
  const { harness } = await warm(t);
  const { passages } = harness.delivery;
  const find = passages.find.bind(passages);
  const begun: Parameters<Passage['begin']>[0][] = [];
  t.intercept(passages, 'find', {
    value: (mail: Parameters<typeof find>[0]) => {
      const passage = find(mail);
      if (!passage) return null;
      const begin: Passage['begin'] = (message) => {
        begun.push({ ...message });
        passage.begin(message);
      };
      return { ...passage, begin };
    },
  });
  const headers: [string, string][] = [['X-Campaign', 'spring']];
  const content = { html: '<p>Grüße</p>', text: 'Grüße', headers, fromName: 'Shop', toName: 'Ann' };
  const [id] = await harness.send([`Ann@${DOMAIN}`], { atOnce: true, ...content });
  const reader = openContentReader(harness.databaseFile);
  t.teardown(() => reader.close());
  t.match(begun, { length: 1 });
  t.strictSame(await reader.read(id!), { kind: 'content', content: begun[0]!.content });
  await harness.until(id!, delivered);
});

t.test('what keeps mail waiting keeps this mail waiting, too', async (t) => {
  const { harness } = await warm(t);
  const { shaping } = harness.delivery;
  const target = { kind: 'domain', key: DOMAIN } as const;
  shaping.memory.setPause(target, { ...target, by: 'jo', note: 'x', at: Date.now() });
  const [paused] = await harness.send([`a@${DOMAIN}`], { atOnce: true });
  t.equal(await stateOf(harness, paused!), 'queued');
});

t.test('mail in line goes first', async (t) => {
  const held = Promise.withResolvers<void>();
  const sink: SinkOptions = {
    async onMail({ to }) {
      if (!to.startsWith('first')) await held.promise;
      return null;
    },
  };
  const { harness } = await warm(t, { sink, limits: { sessionsPerGroup: 1 } });
  const [onTheWire] = await harness.send([`a@${DOMAIN}`], { atOnce: true });
  t.equal(await stateOf(harness, onTheWire!), 'sending');
  const [inLine] = await harness.send([`b@${DOMAIN}`]);
  const [last] = await harness.send([`c@${DOMAIN}`], { atOnce: true });
  t.strictSame([await stateOf(harness, inLine!), await stateOf(harness, last!)], ['queued', 'queued']);
  held.resolve();
  await harness.untilAll([onTheWire!, inLine!, last!], delivered);
});

t.test('under load mail waits for a batch', async (t) => {
  const held = Promise.withResolvers<void>();
  const full = Promise.withResolvers<void>();
  let heard = 0;
  const sink: SinkOptions = {
    async onMail({ to }) {
      if (to.startsWith('first')) return null;
      if (++heard === 10) full.resolve();
      await held.promise;
      return null;
    },
  };
  const { harness } = await warm(t, { sink, limits: { sessionsPerGroup: 20 } });
  const find = () => {
    const passage = harness.delivery.passages.find({
      tenantId: harness.tenantId,
      domain: DOMAIN,
      fromDomain: FROM_DOMAIN,
    });
    passage?.drop();
    return passage !== null;
  };
  const ids: string[] = [];
  for (let n = 0; n < 10; n++) {
    t.equal(find(), true, `with ${n} on their way`);
    ids.push(...(await harness.send([`m${n}@${DOMAIN}`], { atOnce: true })));
  }
  await full.promise;
  t.equal(find(), false);
  const { submissions } = harness.store;
  const facts = t.capture(submissions, 'findSendingFacts', submissions.findSendingFacts);
  ids.push(...(await harness.send([`next@${DOMAIN}`], { atOnce: true })));
  t.strictSame(facts(), [], 'nothing is looked up that only a passage needs');
  held.resolve();
  await harness.untilAll(ids, delivered);
});

t.test('a call that is refused leaves its session to others', async (t) => {
  const { harness, sink } = await warm(t);
  const address = `suppressed@${DOMAIN}`;
  const entry = { address, reason: 'manual' as const, messageId: null, createdAt: Date.now() };
  await harness.store.suppressions.addSuppression(harness.tenantId, entry);
  await t.rejects(harness.send([address], { atOnce: true }), /all_suppressed/);
  const [next] = await harness.send([`next@${DOMAIN}`], { atOnce: true });
  await harness.until(next!, delivered);
  t.equal(sink.connections.total, 1);
});

t.test('a domain whose route is not known waits for its look-up', async (t) => {
  const { harness } = await warm(t);
  harness.dns.set('new.test', 'MX', [{ preference: 10, exchange: 'mx.rcpt.test' }]);
  const [id] = await harness.send(['a@new.test'], { atOnce: true });
  t.equal(await stateOf(harness, id!), 'queued');
  await harness.until(id!, delivered);
});

for (const looked of ['after it was claimed', 'just before']) {
  t.test(`a claimed mail can be canceled until its first command; looked up ${looked}`, (t) =>
    cancelClaimed(t, looked),
  );
}

async function cancelClaimed(t: Test, looked: string): Promise<void> {
  const greeted = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  const server = {
    onConnect: (_session: unknown, done: (error?: Error | null) => void) => {
      called.resolve();
      void greeted.promise.then(() => done());
    },
  };
  const { harness, sink } = await setUp(t, { sink: { server }, limits: { lingerMs: 60_000, sessionsPerGroup: 1 } });
  setOneMx(harness);
  const [waits] = await harness.send([`a@${DOMAIN}`]);
  await called.promise;
  const { submissionId, state } = (await harness.store.queue.getMessage(waits!))!;
  t.equal(state, 'sending');
  const { endBegun } = harness.delivery;
  const acts = { onScheduled() {}, endBegun, lifetimeMs: 1e9, log: silentLogger };
  const { queue } = harness.store;
  const findSubmission: typeof queue.findSubmission = async (...asked) => {
    const found = await queue.findSubmission(...asked);
    if (!found || looked !== 'just before') return found;
    const before = found.messages.map((message) =>
      message.state === 'sending' ? { ...message, state: 'queued' as const } : message,
    );
    return { ...found, messages: before };
  };
  const store = { ...harness.store, queue: { ...queue, findSubmission } };
  const scheduling = createScheduling({ store, clock: systemClock, ids: new IdSource(), ...acts });
  const by = { tenantId: harness.tenantId, boundDomain: null };
  // Two at once: each is answered. The second may look before the first has canceled, or find that it has.
  const [canceled, tooLate] = [
    { canceled: [waits], tooLate: [] },
    { canceled: [], tooLate: [waits] },
  ];
  const cancel = () => scheduling.cancel(by, submissionId);
  const [first, second] = await Promise.all([cancel(), cancel()]);
  t.same(first, canceled);
  t.same(second, (second as typeof canceled).canceled.length > 0 ? canceled : tooLate);
  t.same(await cancel(), canceled);
  t.match(await harness.store.queue.getMessage(waits!), { state: 'canceled', attemptList: [] });
  t.same(await eventTypes(harness, waits!), ['email.canceled']);
  const [next] = await harness.send([`b@${DOMAIN}`]);
  greeted.resolve();
  await harness.until(next!, delivered);
  t.same(
    sink.mails.map(({ to }) => to),
    [`b@${DOMAIN}`],
  );
  const { submissionId: sent } = (await harness.store.queue.getMessage(next!))!;
  t.same(await scheduling.cancel(by, sent), { canceled: [], tooLate: [next] });
}

// Sessions in which nothing moves are ended: only what was on the wire is ambiguous, the rest
// goes back untried, and nothing waits for ever.
import { setEnvironmentData, type Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { judgeSilence, type SilenceFacts, silenceLimitMs } from '../../../src/delivery/session/courier-pool.ts';
import { isDelivered, setOneMx, setUp, setUpFor } from '../../delivery/set-up.ts';
import { patience } from '../../support/patience.ts';
import { startPeer } from '../../support/smtp-peer.ts';

// A thread needs some of it to start; the real limit is twenty minutes.
const LIMIT_MS = patience(2500);
const RECIPIENTS = ['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test'];
const STUCK = new URL('../../delivery/stuck-courier.ts', import.meta.url);

t.test('the limit is twice the longest timeout, and never so short that a start would reach it', async (t) => {
  t.equal(silenceLimitMs(1), 20 * 60_000);
  t.equal(silenceLimitMs(0.5), 10 * 60_000);
  t.equal(silenceLimitMs(0.001), 30_000);
});

t.test('what is done about silence', async (t) => {
  const facts: SilenceFacts = { silentMs: 0, threadSilentMs: 0, isBusy: true, aborted: false };
  const judge = (change: Partial<SilenceFacts>) => judgeSilence({ ...facts, ...change }, 800);
  t.same(judge({ silentMs: 799 }), { decision: 'wait' });
  t.match(judge({ silentMs: 800 }), { decision: 'abort', reason: 'nothing moved in this session for 0.8 s' });
  t.same(judge({ silentMs: 8000, isBusy: false }), { decision: 'wait' }, 'a session may wait for mail');
  t.same(judge({ silentMs: 199, aborted: true }), { decision: 'wait' }, 'it is given time to obey');
  t.match(judge({ silentMs: 200, aborted: true }), { decision: 'abandon', reason: /did not end when it was told/ });
  t.match(judge({ silentMs: 200, aborted: true, threadSilentMs: 300 }), { decision: 'end_thread', reason: /0.3 s/ });
});

/** Every thread that is started from now on. */
function watchThreads(t: Test): Worker[] {
  const threads: Worker[] = [];
  const onWorker = (thread: Worker) => threads.push(thread);
  process.on('worker', onWorker);
  t.teardown(() => process.off('worker', onWorker));
  return threads;
}

t.test('a server that falls silent after the dot: that message is ambiguous, the others were not tried', async (t) => {
  const threads = watchThreads(t);
  let mails = 0;
  const { sink, harness } = await setUp(t, {
    timeoutFactor: 1,
    retryStepsMs: [50],
    limits: { sessionsPerGroup: 1 },
    pool: { silenceLimitMs: LIMIT_MS },
    sink: { onMail: () => (mails++ === 1 ? new Promise(() => {}) : null) },
  });
  setOneMx(harness);
  // A thread that starts on a busy machine may well be silent for that long.
  await harness.untilAll(await harness.send(['first@rcpt.test']), isDelivered);
  const ids = await harness.send(RECIPIENTS, { held: true });
  await harness.delivery.reconcile();
  const deferred = await harness.until(ids[0]!, ({ state }) => state === 'deferred');
  t.match(deferred, { ambiguous: true, attempts: 1, lastReason: /nothing moved in this session for \d/ });
  t.match(deferred.attemptList, [{ outcome: 'temporary', peer: { stage: 'dot', mx: 'mx.rcpt.test' } }]);
  const messages = await harness.untilAll(ids, isDelivered);
  t.same(
    messages.map(({ attempts }) => attempts),
    [2, 1, 1],
  );
  t.equal(sink.mails.length, 4);
  t.equal(threads.length, 1, 'the thread goes on');
});

t.test('a server that speaks slowly is waited for, as long as it speaks', async (t) => {
  const peer = await startPeer([
    async (c) => {
      for (let line = 0; line < 4; line++) {
        c.say('220-patience');
        await new Promise((resolve) => setTimeout(resolve, LIMIT_MS / 3));
      }
      await c.welcome();
      await c.takeMessage();
      c.say('250 ok');
      await c.closed();
    },
  ]);
  t.teardown(() => peer.close());
  const harness = await setUpFor(t, peer.port, { timeoutFactor: 1, pool: { silenceLimitMs: LIMIT_MS } });
  setOneMx(harness);
  const [id] = await harness.send(['a@rcpt.test']);
  t.match(await harness.until(id!, ({ state }) => state !== 'queued' && state !== 'sending'), {
    state: 'delivered',
    attempts: 1,
  });
});

const WISHES = {
  asleep: { threadsInAll: 2, attempts: [1, 1, 1] },
  deaf: { threadsInAll: 2, attempts: [2, 1, 1] },
  mute: { threadsInAll: 1, attempts: [2, 1, 1] },
};

for (const [wish, { threadsInAll, attempts }] of Object.entries(WISHES)) {
  t.test(`a courier that is ${wish} is given up, and its messages are delivered by another`, async (t) => {
    const threads = watchThreads(t);
    setEnvironmentData('stuck-courier', wish);
    const { sink, harness } = await setUp(t, {
      retryStepsMs: [50],
      limits: { sessionsPerGroup: 1 },
      pool: { silenceLimitMs: LIMIT_MS, entry: STUCK },
    });
    setEnvironmentData('stuck-courier', undefined);
    setOneMx(harness);
    const ids = await harness.send(RECIPIENTS, { held: true });
    await harness.delivery.reconcile();
    const messages = await harness.untilAll(ids, isDelivered);
    t.same(
      messages.map((message) => message.attempts),
      attempts,
      'only what may have been on the wire counts as tried',
    );
    const told = attempts[0] === 2 ? [{ outcome: 'temporary', peer: { response: /stuck|died/ } }] : [];
    t.match(messages[0]!.attemptList.slice(0, -1), told);
    t.equal(sink.mails.length, 3);
    t.equal(threads.length, threadsInAll);
  });
}

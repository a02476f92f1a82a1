// Receivers that say "too much" or "not now" with 421 and 450, in the running engine: connections that
// work go on, the limit comes down to them, pauses begin short and grow when they repeat.
import t, { type Test } from 'tap';
import type { DeliveryHarness } from '../support/delivery-harness.ts';
import type { MailSink, SinkReply } from '../support/mail-sink.ts';
import { isDeferred, isDelivered, type SetUpOptions, setOneMx, setUp } from './set-up.ts';

const MINUTE = 60_000;
const GROUP = 'mx.rcpt.test';
const users = (count: number, name = 'user') => Array.from({ length: count }, (_, at) => `${name}${at}@rcpt.test`);
const refusal = (code: number, text: string) => Object.assign(new Error(text), { responseCode: code });

function movableClock() {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  return clock;
}

const concurrencyOf = (harness: DeliveryHarness) => harness.delivery.shaping.memory.group(GROUP).concurrency;

function reasonsOf(harness: DeliveryHarness, sourceAddress: string | null = null) {
  const asked = { tenantId: '', domain: '', group: { name: GROUP, open: 0 }, sourceAddress, connections: null };
  return harness.delivery.shaping.verdict(asked).reasons;
}

/** Lets in so many connections at one time. */
async function narrow(t: Test, most: number, options: SetUpOptions = {}) {
  const refused = { count: 0 };
  const open = new Set<string>();
  const { sink, harness } = await setUp(t, {
    ...options,
    sink: {
      ...options.sink,
      server: {
        onConnect({ id }, done) {
          if (open.size < most) {
            open.add(id);
            return done();
          }
          refused.count++;
          done(refusal(421, '4.7.0 mx.rcpt.test Error: too many connections from 127.0.0.1'));
        },
        onClose: ({ id }) => void open.delete(id),
      },
    },
  });
  setOneMx(harness);
  return { sink, harness, refused };
}

t.test('too many connections: those that were let in carry all the mail, at once', async (t) => {
  for (const most of [1, 3]) {
    const limits = { sessionsPerGroup: 8, messagesPerSession: 10_000 };
    const { sink, harness, refused } = await narrow(t, most, { limits, retryStepsMs: [60 * MINUTE] });
    const messages = await harness.untilAll(await harness.send(users(200)), isDelivered);
    t.ok(refused.count > 0, `${refused.count} refused`);
    t.ok(refused.count < 8, 'none of them came twice');
    t.ok(
      messages.every(({ attempts }) => attempts === 1),
      'no message was blamed for the connection that was refused',
    );
    t.same(reasonsOf(harness), []);
    t.ok(concurrencyOf(harness).limit <= most, `${concurrencyOf(harness).limit} of ${most}`);
    t.equal(sink.mails.length, 200, 'nothing twice');
  }
});

t.test('a refusal says what works: the one more that is tried later changes nothing for the others', async (t) => {
  const clock = movableClock();
  const { harness, refused } = await narrow(t, 2, {
    clock,
    limits: { sessionsPerGroup: 4 },
    retryStepsMs: [60 * MINUTE],
  });
  await harness.untilAll(await harness.send(users(100)), isDelivered);
  const before = refused.count;
  clock.offset += 2 * MINUTE;
  const ids = await harness.send(users(300, 'later'));
  const messages = await harness.untilAll(ids, isDelivered);
  t.ok(messages.every(({ attempts }) => attempts === 1));
  t.ok(refused.count - before <= 2, `${refused.count - before} more refused`);
});

t.test('all are refused: one message is tried, and the pause begins with a minute and grows', async (t) => {
  const clock = movableClock();
  const { harness, refused } = await narrow(t, 0, { clock, limits: { sessionsPerGroup: 4 }, retryStepsMs: [50] });
  const ids = await harness.send(users(100));
  for (const minutes of [1, 2, 4, 8, 10, 10]) {
    const until = await pausedUntil(harness);
    await settled(harness, ids);
    const before = refused.count;
    const left = until - clock.now();
    t.ok(left > (minutes - 0.5) * MINUTE && left <= minutes * MINUTE, `${left} ms of ${minutes} min`);
    clock.offset += left + 1;
    await harness.delivery.reconcile();
    await pausedUntil(harness);
    t.equal(refused.count, before + 1, 'one connection tries');
  }
});

/** Waits until the group is paused. */
async function pausedUntil(harness: DeliveryHarness): Promise<number> {
  for (;;) {
    const found = reasonsOf(harness).find(({ code }) => code === 'group_suspended');
    if (found) return found.until!;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Takes so many messages, then says `reply` until it is told of a new minute. */
async function byTheMinute(t: Test, perMinute: number, reply: Exclude<SinkReply, string>) {
  const clock = movableClock();
  const minute = { left: perMinute };
  const { sink, harness } = await setUp(t, {
    ...{ clock, retryStepsMs: [50], limits: { sessionsPerGroup: 2 } },
    sink: { onRcpt: () => (minute.left-- > 0 ? null : reply) },
  });
  setOneMx(harness);
  return { clock, minute, sink, harness };
}

t.test('too much mail, where the limit is by the minute: a minute each time, not a quarter of an hour', async (t) => {
  const reply = { code: 450, text: '4.7.1 Error: too much mail from 127.0.0.1' };
  const { clock, minute, sink, harness } = await byTheMinute(t, 20, reply);
  const ids = await harness.send(users(100));
  for (let minutes = 1; minutes < 5; minutes++) {
    await sink.received(minutes * 20);
    const left = (await pausedUntil(harness)) - clock.now();
    t.ok(left <= MINUTE, `${left} ms`);
    await settled(harness, ids);
    minute.left = 20;
    clock.offset += left + 1;
    await harness.delivery.reconcile();
  }
  await harness.untilAll(ids, isDelivered);
  t.equal(sink.mails.length, 100);
});

/** Until nothing is on the wire. */
async function settled(harness: DeliveryHarness, ids: string[]): Promise<void> {
  for (const id of ids) await harness.until(id, ({ state }) => state !== 'sending');
}

t.test('a time that the reply names is kept', async (t) => {
  const reply = { code: 450, text: '4.7.1 Rate limit exceeded, try again in 3 minutes' };
  const { clock, harness } = await byTheMinute(t, 0, reply);
  await harness.send(['ann@rcpt.test']);
  const left = (await pausedUntil(harness)) - clock.now();
  t.ok(left > 2.5 * MINUTE && left <= 3 * MINUTE, `${left} ms`);
});

t.test(
  '"not available, come back later" as greeting: a cool-down of seconds, and our address is not to blame',
  async (t) => {
    const clock = movableClock();
    const mood = {
      refusal: refusal(
        421,
        '4.3.2 <m[127.0.0.1]>: Client host rejected: Service not available, come back later',
      ) as Error | null,
    };
    const { sink, harness } = await setUp(t, {
      ...{ clock, retryStepsMs: [50], coolDownStepsMs: [15_000] },
      sink: { server: { onConnect: (_session, done) => done(mood.refusal) } },
    });
    setOneMx(harness);
    const [id] = await harness.send(['ann@rcpt.test']);
    const message = await harness.until(id!, isDeferred);
    t.match(message.lastReason, /temporary_failure/);
    t.match(reasonsOf(harness), [{ code: 'cool_down' }]);
    t.equal(reasonsOf(harness).length, 1);
    mood.refusal = null;
    clock.offset += 20_000;
    await harness.delivery.reconcile();
    await harness.until(id!, isDelivered);
    t.equal(sink.mails.length, 1);
  },
);

t.test('"cannot find your hostname" with 450: a minute, then two; with 550 the hours of the rule', async (t) => {
  const clock = movableClock();
  const mood: { reply: SinkReply | null } = {
    reply: { code: 450, text: '4.7.25 Client host rejected: cannot find your hostname, [127.0.0.1]' },
  };
  const { harness } = await setUp(t, { clock, retryStepsMs: [50], sink: { onRcpt: () => mood.reply } });
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test']);
  for (const minutes of [1, 2, 4]) {
    const { attempts } = await harness.until(id!, isDeferred);
    const [reason] = reasonsOf(harness);
    t.equal(reason?.code, 'source_address_suspended');
    const left = reason!.until! - clock.now();
    t.ok(left > (minutes - 0.5) * MINUTE && left <= minutes * MINUTE, `${left} ms of ${minutes} min`);
    clock.offset += left + 1;
    await harness.delivery.reconcile();
    await harness.until(id!, (message) => isDeferred(message) && message.attempts > attempts);
  }
  mood.reply = { code: 550, text: '5.7.25 Client host rejected: cannot find your hostname, [127.0.0.1]' };
  clock.offset += 9 * MINUTE;
  await harness.delivery.reconcile();
  await harness.until(id!, ({ state }) => state === 'bounced');
  t.ok(reasonsOf(harness)[0]!.until! - clock.now() > 239 * MINUTE);
});

t.test('no more messages in this session (452 4.5.3): the rest goes over a new one', async (t) => {
  const perSession = new Map<string, number>();
  const { sink, harness } = await setUp(t, {
    ...{ retryStepsMs: [60 * MINUTE], limits: { sessionsPerGroup: 1 } },
    sink: {
      server: {
        onMailFrom(_address, { id }, done) {
          perSession.set(id, (perSession.get(id) ?? 0) + 1);
          done(perSession.get(id)! > 3 ? refusal(452, '4.5.3 Too many messages sent') : null);
        },
      },
    },
  });
  setOneMx(harness);
  await harness.untilAll(await harness.send(users(10)), isDelivered);
  t.same(reasonsOf(harness), []);
  t.ok(connectionsOf(sink) >= 4, `${connectionsOf(sink)} sessions`);
});

function connectionsOf(sink: MailSink): number {
  return new Set(sink.mails.map(({ session }) => session)).size;
}

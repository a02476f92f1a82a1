// Mail that waits, by each reason: what its event says of the next attempt, what retrying it tells, and
// that resuming lets go what the pause had moved, and only that.
import t, { type Test } from 'tap';
import { IdSource } from '../../src/base/ids.ts';
import { QueueActions } from '../../src/delivery/actions/queue-actions.ts';
import { Providers } from '../../src/delivery/shaping/provider-limits.ts';
import { silentLogger } from '../../src/observe/log.ts';
import type { OperatorAction, QueueTarget } from '../../src/store/shaping.ts';
import type { DeliveryHarness } from '../support/delivery-harness.ts';
import type { MailSink, SinkReply } from '../support/mail-sink.ts';
import { until } from '../support/until.ts';
import { isDeferred, isDelivered, type SetUpOptions, setMx, setOneMx, setUp, startSink } from './set-up.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const GROUP = 'mx.rcpt.test';
const WORD = { by: 'jo', note: 'a test' };
const OF_GROUP: QueueTarget = { kind: 'group', key: GROUP };
const OF_DOMAIN: QueueTarget = { kind: 'domain', key: 'rcpt.test' };

const NOT_NOW = { code: 451, text: '4.3.0 Try again later, please' };
const TOO_MUCH = { code: 450, text: '4.7.1 Error: too much mail from 127.0.0.1' };
const LISTED = { code: 554, text: '5.7.1 Client host [127.0.0.1] blocked using zen.spamhaus.org' };
const COMPLAINTS = {
  code: 421,
  text: '4.7.0 [TSS04] Messages from 127.0.0.1 temporarily deferred due to unexpected volume or user complaints',
};
const OF_SENDER = {
  code: 421,
  text: '4.7.28 an unusual rate of unsolicited mail originating from your DKIM domain, mail sent from your domain has been temporarily rate limited',
};

interface Stage {
  clock: { offset: number; now(): number };
  mood: { reply: SinkReply | null };
  sink: MailSink;
  harness: DeliveryHarness;
  act(action: OperatorAction, target: QueueTarget): ReturnType<QueueActions['act']>;
}

async function setStage(t: Test, options: SetUpOptions & { reply?: SinkReply } = {}): Promise<Stage> {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const mood = { reply: options.reply ?? null };
  const { sink, harness } = await setUp(t, {
    ...{ clock, retryStepsMs: [10], ...options },
    sink: { onRcpt: () => mood.reply, ...options.sink },
  });
  setOneMx(harness);
  const act: Stage['act'] = (action, target) => {
    const { store, delivery } = harness;
    const { endBegun, shaping } = delivery;
    const kit = { store, shaping, endBegun, clock, ids: new IdSource(), log: silentLogger };
    const actions = new QueueActions({
      ...kit,
      onLanes: (lanes) => delivery.notice(lanes),
      onScheduled: (at) => delivery.noticeScheduled(at),
    });
    return actions.act(action, target, WORD);
  };
  return { clock, mood, sink, harness, act };
}

const only = async (harness: DeliveryHarness, to = 'ann@rcpt.test') => (await harness.send([to]))[0]!;

/** What the first event of the message said, in milliseconds; null: nobody knows. */
async function saidNext({ harness }: Stage, id: string): Promise<number | null> {
  const [event] = await harness.store.events.eventsOfMessage(harness.tenantId, id);
  const { next_attempt_at: next } = event!.data.delivery as { next_attempt_at: string | null };
  return next === null ? null : Date.parse(next);
}

/** Whether the message is still kept back after the whole queue was looked at. */
async function isKept({ harness }: Stage, id: string): Promise<boolean> {
  const before = (await harness.store.queue.getMessage(id))!;
  await harness.delivery.reconcile();
  // Whatever could be claimed by then is claimed before this.
  await harness.store.queue.queueSummary();
  const { attempts, state } = (await harness.store.queue.getMessage(id))!;
  return state === before.state && attempts === before.attempts;
}

function heard<T>(asked: PromiseWithResolvers<void>, answer: Promise<T>): Promise<T> {
  asked.resolve();
  return answer;
}

const near = (ms: number, wanted: number) => ms > wanted - 0.5 * MINUTE && ms <= wanted + MINUTE / 10;

t.test('its own retry time: said so; no pause is there to resume; retrying makes it due', async (t) => {
  const stage = await setStage(t, { reply: NOT_NOW, retryStepsMs: [HOUR] });
  const { harness, mood, act } = stage;
  const id = await only(harness);
  const { dueAt } = await harness.until(id, isDeferred);
  t.equal(await saidNext(stage, id), dueAt);
  t.match(await act('resume', OF_GROUP), { kind: 'refused', reason: /nothing holds the group/ });
  mood.reply = null;
  t.match(await act('retry', OF_GROUP), { kind: 'done', messages: 1, held: [] });
  await harness.until(id, isDelivered);
});

t.test('a pause of the group: the event says its end, retrying tells of it, resuming ends it', async (t) => {
  const stage = await setStage(t, { reply: TOO_MUCH });
  const { harness, mood, clock, act } = stage;
  const id = await only(harness);
  await harness.until(id, isDeferred);
  t.ok(near((await saidNext(stage, id))! - clock.now(), MINUTE));
  mood.reply = null;
  t.match(await act('retry', { kind: 'message', key: id }), {
    kind: 'done',
    held: [{ kind: 'group', key: GROUP, how: 'paused', reason: /all mail to mx\.rcpt\.test is paused until/ }],
  });
  t.ok(await isKept(stage, id));
  t.match(await act('resume', OF_GROUP), { kind: 'done', ended: { length: 2 }, held: [] });
  await harness.until(id, isDelivered);
});

for (const [what, mx] of [
  ['the servers that its domain has', 'mx.new.test'],
  ['the addresses that its servers have', GROUP],
] as const) {
  t.test(`what a pause has kept goes to ${what} by then`, async (t) => {
    const stage = await setStage(t);
    const { harness, sink, clock, act } = stage;
    const moved = await startSink(t, { host: '127.0.0.2', port: sink.port });
    await harness.until(await only(harness), isDelivered);
    await act('pause', OF_GROUP);
    const id = await only(harness, 'bob@rcpt.test');
    t.ok(await isKept(stage, id));
    setMx(harness, 'rcpt.test', { [mx]: { ip: '127.0.0.2' } });
    clock.offset += 20 * HOUR;
    const later = await only(harness, 'cat@rcpt.test');
    t.ok(await isKept(stage, later));
    await act('resume', OF_GROUP);
    for (const each of [id, later]) {
      const { attemptList } = await harness.until(each, isDelivered);
      t.match(attemptList, [{ peer: { mx } }]);
    }
    t.equal(sink.mails.length, 1);
    t.equal(moved.mails.length, 2);
  });
}

t.test('a limit counts the mail whose servers are just being looked up', async (t) => {
  const limits = { messagesPerMinute: 10, sessionsPerGroup: 12, sessions: 50 };
  const { harness, sink, clock, act } = await setStage(t, { limits });
  await harness.until(await only(harness), isDelivered);
  await act('pause', OF_GROUP);
  const ids: string[] = [];
  for (let count = 0; count < 12; count++) {
    const sender = await harness.addSender(`s${count}.test`);
    ids.push(...(await harness.send(['a@rcpt.test', 'b@rcpt.test', 'c@rcpt.test'], { sender })));
  }
  await until('all in line', () => harness.delivery.load(GROUP).lanes === 12);
  clock.offset += 20 * HOUR;
  await act('resume', OF_GROUP);
  await sink.received(1 + 10);
  const states = (await harness.untilAll(ids, () => true)).map(({ state }) => state);
  t.equal(states.filter((state) => state === 'queued').length, 36 - 10, 'no other has been claimed');
});

t.test('a pause holds while one of the servers has no address', async (t) => {
  const stage = await setStage(t);
  const { harness, clock, act } = stage;
  const hosts = ['mx1.rcpt.test', 'mx2.rcpt.test'];
  setMx(harness, 'rcpt.test', Object.fromEntries(hosts.map((host) => [host, { ip: '127.0.0.1' }])));
  await harness.until(await only(harness), isDelivered);
  t.match(await act('pause', { kind: 'group', key: hosts.join() }), { kind: 'done' });
  clock.offset += HOUR;
  harness.dns.remove('mx2.rcpt.test');
  const id = await only(harness, 'bob@rcpt.test');
  const waits = () => harness.delivery.load(hosts.join()).lanes === 1;
  const state = async () => (await harness.store.queue.getMessage(id))!.state;
  await until('it waits or is sent', async () => waits() || (await state()) === 'delivered');
  t.equal(await state(), 'queued');
});

t.test('resuming a group leaves a message its own retry time, and says nothing else', async (t) => {
  const stage = await setStage(t, { reply: TOO_MUCH, retryStepsMs: [HOUR] });
  const { harness, mood, act, clock } = stage;
  const own = await only(harness);
  await harness.until(own, isDeferred);
  t.ok((await saidNext(stage, own))! > clock.now() + 40 * MINUTE, 'the later of the two');
  mood.reply = null;
  const waiting = await only(harness, 'bob@rcpt.test');
  t.match(await act('resume', OF_GROUP), { kind: 'done', messages: 0 });
  await harness.until(waiting, isDelivered);
  t.match(await harness.store.queue.getMessage(own), { state: 'deferred', attempts: 1 });
  t.match(await act('retry', OF_GROUP), { messages: 1, held: [] });
  await harness.until(own, isDelivered);
});

t.test('reputation of the default address: hours, as the event says; resuming the group ends it', async (t) => {
  const stage = await setStage(t, { reply: COMPLAINTS });
  const { harness, mood, clock, act } = stage;
  const id = await only(harness);
  await harness.until(id, isDeferred);
  t.ok(near((await saidNext(stage, id))! - clock.now(), HOUR));
  mood.reply = null;
  t.match(await act('retry', OF_GROUP), { held: [{ kind: 'group', key: GROUP, reason: /our address/ }] });
  t.ok(await isKept(stage, id));
  t.match(await act('resume', OF_GROUP), {
    kind: 'done',
    ended: [/mail from our address to mx\.rcpt\.test/],
    held: [],
  });
  await harness.until(id, isDelivered);
});

const POOL = [
  {
    ip: '127.0.0.2',
    family: 4 as const,
    ehloName: 'out.postrider.test',
    weight: 1,
    warm: true,
    usable: true,
    reason: null,
  },
];

t.test('reputation of an address of a list: its mail was moved to the end of the pause, and comes back', async (t) => {
  const stage = await setStage(t, { reply: COMPLAINTS, sources: { pool: POOL, ramp: [] } });
  const { harness, mood, clock, act } = stage;
  const id = await only(harness);
  await harness.until(id, isDeferred);
  t.ok(near((await saidNext(stage, id))! - clock.now(), HOUR), 'not the seconds of its own time');
  const moved = (after: number) => (message: { dueAt: number | null }) => (message.dueAt ?? 0) > clock.now() + after;
  await harness.until(id, moved(50 * MINUTE));
  // The pause grows behind the back of what was moved to its first end.
  clock.offset += 30 * MINUTE;
  const { memory } = harness.delivery.shaping;
  const [pause] = memory.suspensionsNow(clock.now());
  const longer = { ...pause!, until: clock.now() + 4 * HOUR };
  memory.suspend(longer);
  await harness.store.shaping.saveShaping({ suspensions: [longer] });
  const later = await only(harness, 'bob@rcpt.test');
  await harness.until(later, moved(3 * HOUR));
  mood.reply = null;
  t.match(await act('resume', OF_GROUP), { kind: 'done', messages: 2, held: [] }, 'of both ends');
  await harness.untilAll([id, later], isDelivered);
});

t.test('mail of a sender domain that was moved: the tenant or the group is resumed', async (t) => {
  for (const kind of ['tenant', 'group'] as const) {
    const stage = await setStage(t, { reply: OF_SENDER });
    const { harness, mood, clock, act } = stage;
    const id = await only(harness);
    await harness.until(id, isDeferred);
    t.ok(near((await saidNext(stage, id))! - clock.now(), HOUR));
    mood.reply = null;
    const moved = await harness.until(
      id,
      ({ dueAt, state }) => state === 'deferred' && dueAt! > clock.now() + 50 * MINUTE,
    );
    t.equal(moved.attempts, 1);
    t.match(await act('retry', { kind: 'message', key: id }), {
      held: [{ kind: 'tenant', key: harness.tenantId, reason: /mail from sender\.test/ }],
    });
    await harness.until(id, ({ dueAt, state }) => state === 'deferred' && dueAt! > clock.now() + 50 * MINUTE);
    const target = kind === 'tenant' ? { kind, key: harness.tenantId } : OF_GROUP;
    t.match(await act('resume', target), { kind: 'done', messages: 1 });
    await harness.until(id, isDelivered);
  }
});

t.test('a recipient domain at a hoster: resumed by its name', async (t) => {
  const limits = { connections: 2, messagesPerConnection: 5, messagesPerMinute: null, perService: false };
  const mailboxes = { sameMailboxes: false, ignoredInNames: '', aliasSeparator: null };
  const domains = { customerDomains: true, ownDomains: [], ...mailboxes };
  const big = { id: 'big', mx: ['big.test'], ...limits, ...domains, reason: 'a test' };
  const stage = await setStage(t, { reply: LISTED, providers: new Providers([big]) });
  const { harness, mood, act } = stage;
  setMx(harness, 'rcpt.test', { 'mx.big.test': { ip: '127.0.0.1' } });
  await harness.until(await only(harness), ({ state }) => state === 'bounced');
  mood.reply = null;
  const id = await only(harness, 'bob@rcpt.test');
  t.ok(await isKept(stage, id));
  t.match(await act('retry', OF_DOMAIN), { held: [{ kind: 'domain', key: 'rcpt.test', how: 'paused' }] });
  t.match(await act('resume', OF_DOMAIN), { kind: 'done', ended: [/mail to rcpt\.test/], held: [] });
  await harness.until(id, isDelivered);
});

t.test("an operator's pause: nobody knows when it ends, and the event says so", async (t) => {
  for (const kind of ['group', 'domain', 'tenant'] as const) {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<SinkReply | null>();
    const stage = await setStage(t, { sink: { onRcpt: () => heard(asked, answer.promise) } });
    const { harness, act } = stage;
    const key = { group: GROUP, domain: 'rcpt.test', tenant: harness.tenantId }[kind];
    const id = await only(harness);
    await asked.promise;
    t.match(await act('pause', { kind, key }), { kind: 'done' });
    answer.resolve(NOT_NOW);
    await harness.until(id, isDeferred);
    t.equal(await saidNext(stage, id), null, kind);
    t.ok(await isKept(stage, id));
    t.match(await act('retry', { kind: 'message', key: id }), { held: [{ kind, key, how: 'paused' }] });
    await act('resume', { kind, key });
    await harness.until(id, ({ attempts }) => attempts > 1);
  }
});

t.test('a message that was moved and then paused by itself goes when both are over', async (t) => {
  const stage = await setStage(t, { reply: OF_SENDER });
  const { harness, mood, clock, act } = stage;
  const id = await only(harness);
  await harness.until(id, ({ state, dueAt }) => state === 'deferred' && dueAt! > clock.now() + 50 * MINUTE);
  const message = { kind: 'message', key: id } as const;
  t.match(await act('pause', message), { kind: 'done' });
  mood.reply = null;
  t.match(await act('resume', OF_GROUP), { kind: 'done' });
  t.match(await harness.store.queue.getMessage(id), { state: 'deferred', parked: true });
  t.match(await act('resume', message), { kind: 'done', held: [] });
  await harness.until(id, isDelivered);
});

t.test('messages per hour: nothing to resume, and it says what it is', async (t) => {
  const stage = await setStage(t, { limits: { messagesPerHour: () => 1 } });
  const { harness, sink, clock, act } = stage;
  await harness.until(await only(harness), isDelivered);
  const id = await only(harness, 'bob@rcpt.test');
  t.ok(await isKept(stage, id));
  const tenant = { kind: 'tenant', key: harness.tenantId } as const;
  t.match(await act('resume', tenant), {
    kind: 'refused',
    reason: /it is waiting because the tenant has sent 1 message/,
  });
  t.match(await act('retry', tenant), { kind: 'done', messages: 0 });
  t.equal(sink.mails.length, 1);
  clock.offset += HOUR + MINUTE;
  await harness.delivery.reconcile();
  await harness.until(id, isDelivered);
});

t.test('messages per minute: a retry is said to come when there is room again', async (t) => {
  const stage = await setStage(t, { reply: NOT_NOW, limits: { messagesPerMinute: 1 } });
  const { harness, mood, clock, act } = stage;
  const id = await only(harness);
  await harness.until(id, isDeferred);
  const left = (await saidNext(stage, id))! - clock.now();
  t.ok(left > 30_000 && left < 62_000, `${left} ms`);
  mood.reply = null;
  t.match(await act('resume', OF_GROUP), { kind: 'refused', reason: /it is waiting because 1 message was sent to/ });
  clock.offset += left + 1000;
  await harness.delivery.reconcile();
  await harness.until(id, isDelivered);
});

t.test('a tenant that is not active: retrying and resuming name its status', async (t) => {
  const stage = await setStage(t);
  const { harness, act } = stage;
  const { tenantId } = harness;
  const [id] = (await harness.send(['ann@rcpt.test'], { held: true })) as [string];
  await harness.store.tenants.updateTenant(tenantId, { status: 'suspended', statusReason: 'unpaid' });
  t.ok(await isKept(stage, id));
  const tenant = { kind: 'tenant', key: tenantId } as const;
  t.match(await act('resume', tenant), {
    kind: 'refused',
    reason: /it is waiting because the tenant is suspended: unpaid/,
  });
  t.match(await act('retry', { kind: 'message', key: id }), { held: [{ kind: 'tenant', how: 'inactive' }] });
  await harness.store.tenants.updateTenant(tenantId, { status: 'active', statusReason: null });
  await harness.delivery.reconcile();
  await harness.until(id, isDelivered);
});

t.test('all connections in use: its turn comes, and nothing else is claimed', async (t) => {
  const full = Promise.withResolvers<void>();
  const go = Promise.withResolvers<null>();
  const stage = await setStage(t, {
    limits: { sessionsPerGroup: 1 },
    sink: { onMail: () => heard(full, go.promise) },
  });
  const { harness, act } = stage;
  const first = await only(harness);
  await full.promise;
  const other = await harness.addSender('other.test');
  const [id] = await harness.send(['bob@rcpt.test'], { sender: other });
  t.match(await act('retry', { kind: 'message', key: id! }), { kind: 'done', held: [] });
  t.match(await act('resume', OF_GROUP), { kind: 'refused' });
  go.resolve(null);
  await harness.untilAll([first, id!], isDelivered);
});

t.test('nobody opens: the event says the end of the cool-down, resuming tries at once', async (t) => {
  const closed = Object.assign(new Error('No'), { responseCode: 554 });
  const mood = { open: false };
  const stage = await setStage(t, {
    coolDownStepsMs: [10 * MINUTE],
    sink: { server: { onConnect: (_session, done) => done(mood.open ? null : closed) } },
  });
  const { harness, clock, act } = stage;
  const id = await only(harness);
  await harness.until(id, isDeferred);
  const left = (await saidNext(stage, id))! - clock.now();
  t.ok(left > 14_000, `${left} ms`);
  mood.open = true;
  t.match(await act('retry', OF_GROUP), { held: [{ kind: 'group', key: GROUP }] });
  t.ok(await isKept(stage, id));
  t.match(await act('resume', OF_GROUP), { kind: 'done', held: [] });
  await harness.until(id, isDelivered);
});

t.test('scheduled mail that is retried goes at once, but not to who is suppressed meanwhile', async (t) => {
  const { harness, clock, act } = await setStage(t);
  const [gone, here] = await harness.send(['gone@rcpt.test', 'here@rcpt.test'], { sendAt: clock.now() + HOUR });
  const entry = { address: 'gone@rcpt.test', reason: 'unsubscribe', messageId: null, createdAt: clock.now() } as const;
  await harness.store.suppressions.addSuppression(harness.tenantId, entry);
  for (const key of [gone!, here!])
    t.match(await act('retry', { kind: 'message', key }), { kind: 'done', messages: 1 });
  await harness.until(here!, isDelivered);
  const ended = await harness.until(gone!, ({ finishedAt }) => finishedAt !== null);
  t.match(ended, { state: 'failed', attempts: 0, lastReason: /suppression list \(unsubscribe\)/ });
});

t.test('a pause that is longer than the message lives: no next attempt is promised', async (t) => {
  const stage = await setStage(t, { reply: COMPLAINTS });
  const { harness } = stage;
  const [id] = await harness.send(['ann@rcpt.test'], { lifetimeMs: 30 * MINUTE });
  await harness.until(id!, isDeferred);
  t.equal(await saidNext(stage, id!), null);
});

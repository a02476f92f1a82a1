// Shaping in the running engine: real store, real DNS, real receiving servers.
import t, { type Test } from 'tap';
import { systemClock } from '../../../src/base/clock.ts';
import { IdSource } from '../../../src/base/ids.ts';
import { QueueActions } from '../../../src/delivery/actions/queue-actions.ts';
import { type Provider, Providers } from '../../../src/delivery/shaping/provider-limits.ts';
import { silentLogger } from '../../../src/observe/log.ts';
import { isDeferred, isDelivered, setMx, setOneMx, setUp, setUpFor } from '../../delivery/set-up.ts';
import type { DeliveryHarness } from '../../support/delivery-harness.ts';
import type { SinkReply } from '../../support/mail-sink.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;
const GROUP = 'mx.rcpt.test';
const users = (count: number, domain = 'rcpt.test') =>
  Array.from({ length: count }, (_, index) => `user${index}@${domain}`);
const pause = (ms: number) => new Promise<null>((resolve) => setTimeout(resolve, ms, null));

/** Real time, and a leap whenever the test wants one. */
function movableClock() {
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  return clock;
}

function provider(change: Partial<Provider> = {}): Providers {
  const limits = { connections: 2, messagesPerConnection: 5, messagesPerMinute: null, perService: false };
  const mailboxes = { sameMailboxes: false, ignoredInNames: '', aliasSeparator: null };
  const domains = { customerDomains: false, ownDomains: [], ...mailboxes };
  return new Providers([{ id: 'big', mx: ['big.test'], ...limits, ...domains, reason: 'a test', ...change }]);
}

const WORD = { by: 'jo', note: 'a test' };

function actionsOf(harness: DeliveryHarness) {
  const { store, delivery } = harness;
  const { shaping, endBegun } = delivery;
  const kit = { store, shaping, endBegun, clock: systemClock, ids: new IdSource(), log: silentLogger };
  return new QueueActions({
    ...kit,
    onLanes: (lanes) => delivery.notice(lanes),
    onScheduled: (at) => delivery.noticeScheduled(at),
  });
}

const reasonsOf = (harness: DeliveryHarness, group: string) =>
  harness.delivery.shaping
    .verdict({ tenantId: '', domain: '', group: { name: group, open: 0 }, connections: null })
    .reasons.map(({ code }) => code);

/** Says `reply` until it is told otherwise. */
async function moody(t: Test, reply: SinkReply, options: Parameters<typeof setUp>[1] = {}) {
  const mood = { reply: reply as SinkReply | null };
  const { sink, harness } = await setUp(t, { sink: { onRcpt: () => mood.reply }, retryStepsMs: [50], ...options });
  return { mood, sink, harness };
}

t.test('thirty domains at one provider share its limits; each goes to its own hosts', async (t) => {
  const { sink, harness } = await setUp(t, { providers: provider(), sink: { onMail: () => pause(3) } });
  const domains = Array.from({ length: 30 }, (_, index) => `d${index}.test`);
  for (const domain of domains)
    setMx(harness, domain, { [`${domain.replace('.', '-')}.mx.big.test`]: { ip: '127.0.0.1' } });
  const ids = await harness.send(domains.map((domain) => `ann@${domain}`));
  for (const message of await harness.untilAll(ids, isDelivered)) {
    const domain = message.recipient.split('@')[1]!;
    t.equal(message.attemptList[0]!.peer.mx, `${domain.replace('.', '-')}.mx.big.test`);
  }
  t.ok(sink.connections.most <= 2, `${sink.connections.most} connections at one time`);
  await until('its group is stored', async () => (await harness.store.shaping.groupOfDomain('d7.test')) === 'big');
});

t.test('messages per connection are the provider’s, and domains with the same hosts share a connection', async (t) => {
  const { sink, harness } = await setUp(t, { providers: provider({ connections: 1 }) });
  for (const domain of ['one.test', 'two.test']) setMx(harness, domain, { 'mx.big.test': { ip: '127.0.0.1' } });
  const ids = await harness.send([...users(6, 'one.test'), ...users(6, 'two.test')]);
  await harness.untilAll(ids, isDelivered);
  const sessions = [...Map.groupBy(sink.mails, ({ session }) => session).values()];
  t.ok(
    sessions.every((mails) => mails.length <= 5),
    sessions.map(({ length }) => length).join(' '),
  );
  t.ok(
    sessions.some((mails) => new Set(mails.map(({ to }) => to.split('@')[1])).size === 2),
    'both over one connection',
  );
});

t.test('lanes of a group with hosts of their own: nobody waits for a connection that idles elsewhere', async (t) => {
  const { harness } = await setUp(t, { providers: provider({ connections: 1 }), limits: { lingerMs: 60_000 } });
  for (const name of ['one', 'two', 'three'])
    setMx(harness, `${name}.test`, { [`${name}.big.test`]: { ip: '127.0.0.1' } });
  for (const name of ['one', 'two', 'three']) {
    const delivered = await harness.untilAll(await harness.send([`a@${name}.test`]), isDelivered);
    t.equal(delivered.length, 1, `${name} got the only connection in its turn`);
  }
});

t.test('messages per minute: the rest waits, with the reason and the time', async (t) => {
  const clock = movableClock();
  const { sink, harness } = await setUp(t, { clock, limits: { messagesPerMinute: 10 } });
  setOneMx(harness);
  const ids = await harness.send(users(25));
  await sink.received(10);
  await harness.untilAll(ids.slice(0, 10), isDelivered);
  t.same(reasonsOf(harness, GROUP), ['messages_per_minute']);
  t.equal(sink.mails.length, 10);
  clock.offset += MINUTE + 2000;
  await harness.delivery.reconcile();
  await sink.received(20);
  t.equal(sink.mails.length, 20);
});

t.test('a tenant is paced by the hour, another one is not held up, and a restart gives no second hour', async (t) => {
  const clock = movableClock();
  const perHour = { '1k': null, '10k': null, uncapped: 5 };
  const { sink, harness } = await setUp(t, { clock, limits: { messagesPerHour: (tier) => perHour[tier] } });
  setOneMx(harness);
  const other = await harness.addSender('other.test');
  await harness.send(users(12));
  await sink.received(5);
  await harness.untilAll(await harness.send(['x@rcpt.test'], { sender: other }), isDelivered);
  t.equal(sink.mails.length, 6);
  const { tenantId } = harness;
  const asked = () =>
    harness.delivery.shaping.verdict({ tenantId, domain: 'rcpt.test', group: null, connections: null });
  t.match(asked(), { decision: 'wait', reasons: [{ code: 'tenant_paced', reach: 'lane', until: Number }] });
  await harness.restartDelivery();
  await harness.delivery.shaping.learnTenant(tenantId);
  t.match(asked().reasons, [{ code: 'tenant_paced', reason: /has sent 5 messages/ }]);
  t.equal(sink.mails.length, 6);
  clock.offset += 61 * MINUTE;
  await harness.delivery.reconcile();
  await sink.received(11);
  t.equal(sink.mails.length, 11);
});

t.test('"slow down": the group makes a pause, over a restart too, until an operator ends it', async (t) => {
  const reply = { code: 450, text: '4.7.0 Too many messages, slow down' };
  const { mood, sink, harness } = await moody(t, reply);
  setOneMx(harness);
  const [first] = await harness.send(['ann@rcpt.test']);
  const refused = await harness.until(first!, isDeferred);
  t.match(refused.lastReason, /calls for a pause of 1 to 15 min of the group/);
  t.same(reasonsOf(harness, GROUP), ['group_suspended']);
  mood.reply = null;
  const [second] = await harness.send(['bob@rcpt.test']);
  await harness.restartDelivery();
  t.same(reasonsOf(harness, GROUP), ['group_suspended'], 'as it was');
  t.equal(sink.mails.length, 0);
  const resumed = await actionsOf(harness).act('resume', { kind: 'group', key: GROUP }, WORD);
  t.match(resumed, {
    kind: 'done',
    ended: [/all mail to mx\.rcpt\.test is paused until .*rule /, /1 of 10 connections/],
  });
  await harness.untilAll([first!, second!], isDelivered);
  t.same(reasonsOf(harness, GROUP), []);
  await harness.stopDelivery();
  t.match(await harness.store.shaping.loadShaping(Date.now()), { suspensions: { length: 0 }, groups: { length: 0 } });
});

t.test('a pause that is over by itself: one connection begins, and the limit climbs back', async (t) => {
  const clock = movableClock();
  const { mood, harness } = await moody(t, { code: 450, text: '4.7.0 Too many messages, slow down' }, { clock });
  setOneMx(harness);
  const [first] = await harness.send(['ann@rcpt.test']);
  await harness.until(first!, isDeferred);
  mood.reply = null;
  clock.offset += 16 * MINUTE;
  const limit = () => harness.delivery.shaping.memory.group(GROUP).concurrency.limit;
  t.equal(limit(), 1);
  await harness.untilAll(await harness.send(users(20)), isDelivered);
  t.equal(limit(), 2);
  clock.offset += MINUTE;
  await harness.untilAll(await harness.send(users(20)), isDelivered);
  t.equal(limit(), 3);
});

t.test("a reply about a sender domain stops that domain's mail only", async (t) => {
  const text =
    '4.7.28 an unusual rate of unsolicited mail originating from your DKIM domain, mail sent from your domain has been temporarily rate limited';
  const { sink, harness } = await setUp(t, {
    retryStepsMs: [50],
    sink: { onRcpt: (to) => (to.startsWith('spam') ? { code: 421, text } : null) },
  });
  setOneMx(harness);
  const [refused] = await harness.send(['spam@rcpt.test']);
  await harness.until(refused!, isDeferred);
  const [held] = await harness.send(['ann@rcpt.test']);
  const putOff = await harness.until(held!, ({ dueAt }) => dueAt !== null && dueAt > Date.now() + 50 * MINUTE);
  t.match(putOff, { state: 'queued', attempts: 0 }, 'not tried');
  const other = await harness.addSender('other.test');
  await harness.untilAll(await harness.send(['bob@rcpt.test'], { sender: other }), isDelivered);
  t.equal(sink.mails.length, 1);
  const resumed = await actionsOf(harness).act('resume', { kind: 'tenant', key: harness.tenantId }, WORD);
  t.match(resumed, { kind: 'done', ended: [/mail from sender\.test to mx\.rcpt\.test/] });
  await harness.until(held!, isDelivered);
});

t.test('nobody opens: one knock for all lanes, then a cool-down; a door that opens ends it', async (t) => {
  const closed = Object.assign(new Error('no'), { responseCode: 554 });
  const mood = { open: false };
  const clock = movableClock();
  const { sink, harness } = await setUp(t, {
    clock,
    coolDownStepsMs: [MINUTE, 5 * MINUTE],
    retryStepsMs: [50],
    sink: { server: { onConnect: (_session, done) => done(mood.open ? null : closed) } },
  });
  const domains = Array.from({ length: 20 }, (_, index) => `d${index}.test`);
  for (const domain of domains) setOneMx(harness, domain);
  const [first] = await harness.send(['ann@d0.test']);
  await harness.until(first!, isDeferred);
  await harness.send(domains.map((domain) => `bob@${domain}`));
  await harness.delivery.reconcile();
  t.same(reasonsOf(harness, GROUP), ['cool_down']);
  await pause(200); // many times the retry pause: nobody may knock
  t.equal(sink.connections.total, 1);
  mood.open = true;
  clock.offset += 2 * MINUTE;
  await harness.delivery.reconcile();
  await sink.received(21);
  t.equal(sink.mails.length, 21);
});

t.test("an operator's pause: what is on the wire is finished, the rest waits, and goes on", async (t) => {
  const { sink, harness } = await setUp(t, { sink: { onMail: () => pause(5) }, limits: { sessionsPerGroup: 1 } });
  setOneMx(harness);
  await harness.untilAll(await harness.send(['first@rcpt.test']), isDelivered);
  const actions = actionsOf(harness);
  for (const target of [
    { kind: 'group', key: GROUP },
    { kind: 'tenant', key: harness.tenantId },
    { kind: 'domain', key: 'rcpt.test' },
  ] as const) {
    const before = sink.mails.length;
    t.match(await actions.act('pause', target, WORD), { kind: 'done' });
    const ids = await harness.send(users(10));
    await harness.delivery.reconcile();
    const [probe] = await harness.store.queue.queueSummary();
    t.equal(probe!.waiting, 10, target.kind);
    t.match(await actions.act('pause', target, WORD), { kind: 'refused', reason: /is paused already, by jo: a test/ });
    t.equal(sink.mails.length, before);
    t.match(await actions.act('resume', target, WORD), { kind: 'done', ended: ['the pause by jo: a test'] });
    await harness.untilAll(ids, isDelivered);
  }
});

t.test('a paused message waits alone', async (t) => {
  const { sink, harness } = await setUp(t);
  setOneMx(harness);
  const actions = actionsOf(harness);
  const [held] = await harness.send(['held@rcpt.test'], { held: true });
  const target = { kind: 'message' as const, key: held! };
  t.match(await actions.act('pause', target, WORD), { kind: 'done' });
  await harness.delivery.reconcile();
  await harness.untilAll(await harness.send(['ann@rcpt.test']), isDelivered);
  t.equal(sink.mails.length, 1);
  t.match(await actions.act('retry', target, WORD), {
    kind: 'refused',
    reason: /is paused by jo \(a test\): resume it first/,
  });
  t.match(await actions.act('resume', target, WORD), { kind: 'done' });
  await harness.until(held!, isDelivered);
});

t.test('retry and cancel by tenant, group and domain', async (t) => {
  const { mood, harness } = await moody(t, { code: 451, text: '4.3.0 not now' }, { retryStepsMs: [10 * MINUTE] });
  setOneMx(harness);
  setOneMx(harness, 'two.test');
  const actions = actionsOf(harness);
  const ids = await harness.send([...users(30), ...users(5, 'two.test')]);
  await harness.untilAll(ids, isDeferred);
  t.match(await actions.act('cancel', { kind: 'domain', key: 'two.test' }, WORD), {
    kind: 'done',
    messages: 5,
    complete: true,
  });
  const states = await Promise.all(ids.map((id) => harness.store.queue.getMessage(id)));
  t.equal(states.filter((each) => each?.state === 'canceled' && each.lastReason === 'a test').length, 5);
  mood.reply = null;
  t.match(await actions.act('retry', { kind: 'group', key: GROUP }, WORD), { kind: 'done', messages: 30 });
  await harness.untilAll(ids.slice(0, 30), isDelivered);
  t.match(await actions.act('cancel', { kind: 'tenant', key: harness.tenantId }, WORD), { kind: 'done', messages: 0 });
  t.match(await actions.act('retry', { kind: 'group', key: 'mx.nowhere.test' }, WORD), {
    kind: 'refused',
    reason: /there is no MX group/,
  });
  t.match(await harness.store.shaping.listOperatorNotes({ limit: 10 }), [
    { action: 'cancel', kind: 'tenant', messages: 0 },
    { action: 'retry', kind: 'group', key: GROUP, by: 'jo', note: 'a test', messages: 30 },
    { action: 'cancel', kind: 'domain', key: 'two.test', messages: 5, at: Number },
  ]);
});

t.test('an engine without trouble stores nothing', async (t) => {
  const harness = await setUpFor(t, 1);
  t.match(await harness.store.shaping.loadShaping(Date.now()), { pauses: [], suspensions: [], groups: [], paces: [] });
});

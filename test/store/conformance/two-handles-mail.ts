// Conformance: mail and webhooks with two handles on one database: one submission for each key, one claim for each
// message, one effect for each result.
import { DAY_MS, HOUR_MS } from '../../../src/base/clock.ts';
import type { Domain } from '../../../src/store/domains.ts';
import type { Owner } from '../../../src/store/owners.ts';
import type { ClaimedMessage } from '../../../src/store/queue.ts';
import type { Store } from '../../../src/store/store.ts';
import { batchOf, entry } from './batches.ts';
import { type Bench, countAll, dueAgainFrom, T0 } from './harness.ts';
import { delivered, updateFor } from './inbound.ts';
import { atOnce, countAnswers, rivals } from './rivals.ts';
import { asDue, schedule } from './scheduled.ts';
import { candidate, factsOf } from './source-addresses.ts';
import { newHits, UNSUSPICIOUS } from './tracking.ts';
import { happen, resultOf, webhookOf } from './webhook-deliveries.ts';

const LEASE_MS = 10_000;

/** An active tenant with a verified domain of a new name. */
function newSender(bench: Bench) {
  return bench.sender(`${bench.id()}.test`);
}

/** So many messages to one domain, and their lane. */
async function queued(bench: Bench, domain: Domain, count: number): Promise<number> {
  const to = Array.from({ length: count }, (_, at) => `${at}@x.test`);
  return (await bench.accept(domain, to)).lanes[0]!.lane;
}

function take(store: Store, node: string, now: number) {
  return store.owners.takeSlots({ node, slots: 1, now, leaseUntil: now + LEASE_MS });
}

function claim(store: Store, lane: number, owner: Owner, limit = 100) {
  return store.queue.claim(lane, limit, { owner, now: T0, dueAgainAt: dueAgainFrom(T0) });
}

function kinds(answers: readonly { kind: string }[]) {
  return countAnswers(answers.map(({ kind }) => kind));
}

export const rivalMailCases = {
  'an idempotency key has one submission, and every call gets its IDs': rivals(async (t, bench, handles) => {
    const { domain } = await newSender(bench);
    const calls = Array.from({ length: 6 }, () => bench.submission(domain, ['a@x.test'], { idempotencyKey: 'k' }));
    const answers = await atOnce(handles, 6, ({ submissions }, at) => submissions.accept(calls[at]!));
    t.strictSame(kinds(answers), { accepted: 1, replayed: 5 });
    const receipts = answers.map((answer) => 'receipt' in answer && answer.receipt);
    for (const receipt of receipts) t.strictSame(receipt, receipts[0]);
    const { id } = receipts[0] as { id: string };
    t.equal((await bench.store.queue.findSubmission(domain.tenantId, id))?.messages.length, 1);
  }),

  'a key belongs to a batch or to a single call': rivals(async (t, bench, handles) => {
    const { domain } = await newSender(bench);
    const batch = () => batchOf(domain, [entry(bench, domain)], { idempotencyKey: 'both' });
    const mixed = await atOnce<{ kind: string }>(handles, 2, ({ submissions }, at) =>
      at === 0
        ? submissions.acceptBatch(batch())
        : submissions.accept(bench.submission(domain, ['a@x.test'], { idempotencyKey: 'both' })),
    );
    t.strictSame(kinds(mixed), { accepted: 1, key_taken: 1 });
    const own = () => ({ ...batch(), idempotencyKey: 'own' });
    const batches = await atOnce(handles, 4, ({ submissions }) => submissions.acceptBatch(own()));
    t.strictSame(kinds(batches), { accepted: 1, replayed: 3 });
    const items = batches.map((answer) => 'items' in answer && answer.items);
    for (const one of items) t.strictSame(one, items[0]);
  }),

  'a message is claimed once': rivals(async (t, bench, handles) => {
    const { domain } = await newSender(bench);
    const lane = await queued(bench, domain, 20);
    const owner = await bench.owner();
    const claims = await atOnce(handles, 4, (store) => claim(store, lane, owner, 7));
    const claimed = claims.flatMap(({ messages }) => messages);
    t.equal(claimed.length, 20);
    t.equal(new Set(claimed.map(({ id }) => id)).size, 20);
    t.ok(claimed.every(({ attempt }) => attempt === 1));
  }),

  'what is claimed with its accept is claimed by nobody else': rivals(async (t, bench, handles) => {
    const { domain } = await newSender(bench);
    const owner = await bench.owner();
    const change = { idempotencyKey: 'begun', begin: { owner, dueAgainAt: T0 + 60_000 } };
    const answers = await atOnce(handles, 4, ({ submissions }) =>
      submissions.accept(bench.submission(domain, ['a@x.test'], change)),
    );
    t.strictSame(kinds(answers), { accepted: 1, replayed: 3 });
    const accepted = answers.find((answer) => answer.kind === 'accepted')!;
    t.equal(accepted.begun, true);
    const claims = await atOnce(handles, 2, (store) => claim(store, accepted.lanes[0]!.lane, owner));
    t.strictSame(
      claims.map(({ messages }) => messages),
      [[], []],
    );
  }),

  'mail for later is queued once, at its time or at another': rivals(async (t, bench, handles) => {
    const { domain } = await newSender(bench);
    const [one, other] = [await schedule(bench, domain, ['a@x.test']), await schedule(bench, domain, ['b@x.test'])];
    const sendAt = T0 + HOUR_MS;
    const queues = await atOnce(handles, 4, ({ queue }) => queue.queueScheduled(asDue(domain, one.ids), sendAt));
    t.equal(queues.flatMap(({ lanes }) => lanes).length, 1);
    const later = { sendAt: sendAt + HOUR_MS, expiresAt: sendAt + 2 * HOUR_MS };
    const [queued, moved] = await Promise.all([
      handles[0].queue.queueScheduled(asDue(domain, other.ids), sendAt),
      handles[1].queue.moveScheduled(domain.tenantId, other.submissionId, later),
    ]);
    t.equal(queued.lanes.length, 1 - moved);
    const [state, dueAt] = moved === 1 ? ['scheduled', later.sendAt] : ['queued', sendAt];
    t.match(await bench.message(other.ids[0]!), { state, dueAt });
  }),

  'a claim has one result': rivals(async (t, bench, handles) => {
    const { tenant, domain } = await newSender(bench);
    const message = await bench.sending(domain, 'a@x.test');
    const update = () => bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'));
    const ends = await atOnce(handles, 4, ({ queue }) => queue.record([update()]));
    t.equal(ends.filter(({ over }) => over.length === 0).length, 1);
    t.equal((await bench.store.events.eventsOfMessage(tenant.id, message.id)).length, 1);

    const waiting = await bench.queued(domain, 'b@x.test');
    const cancel = () => {
      const facts = { id: waiting.id, tenantId: tenant.id };
      return bench.update(facts, { to: 'failed', reason: 'cancelled' }, { event: bench.event('email.failed') });
    };
    const cancels = await atOnce(handles, 4, ({ queue }) => queue.endWaiting(cancel()));
    t.strictSame(countAnswers(cancels), { true: 1, false: 3 });
    t.equal((await bench.store.events.eventsOfMessage(tenant.id, waiting.id)).length, 1);
  }),

  'a message is claimed or cancelled': rivals(async (t, bench, handles) => {
    const { tenant, domain } = await newSender(bench);
    const { id, lane } = await bench.queued(domain, 'a@x.test');
    const owner = await bench.owner();
    const cancelled = bench.update({ id, tenantId: tenant.id }, { to: 'failed', reason: 'cancelled' });
    const [claims, ended] = await Promise.all([claim(handles[0], lane, owner), handles[1].queue.endWaiting(cancelled)]);
    t.strictSame([claims.messages.length, ended], ended ? [0, true] : [1, false]);
    t.match(await bench.message(id), { state: ended ? 'failed' : 'sending' });
  }),

  'a slot whose lease is over has one heir, and its mail comes back once': rivals(async (t, bench, handles) => {
    const { owner, message } = await sendingOf(bench);
    const heirs = await atOnce(handles, 2, (store) => take(store, bench.id(), T0 + LEASE_MS));
    const owners = heirs.map(({ owners }) => owners[0]!);
    t.strictSame(
      owners.filter(({ slot }) => slot === owner.slot),
      [{ slot: owner.slot, epoch: 2 }],
    );
    t.equal(
      heirs.reduce((sum, { returned }) => sum + returned.messages, 0),
      1,
    );
    t.match(await bench.message(message.id), { state: 'deferred', attempts: 1 });
  }),

  'a slot is let go of before a claim or after its end': rivals(async (t, bench, handles) => {
    const owner = (await take(bench.store, bench.id(), T0)).owners[0]!;
    const { domain } = await newSender(bench);
    const { lanes } = await bench.accept(domain, ['a@x.test'], { slot: owner.slot });
    const [isFree, { messages, isOver }] = await Promise.all([
      handles[0].owners.letGoOfIdleSlot(owner),
      claim(handles[1], lanes[0]!.lane, owner),
    ]);
    t.strictSame({ claimed: messages.length, isOver }, { claimed: isFree ? 0 : 1, isOver: isFree });
  }),

  'a slot is let go of before an accept that begins, or not': rivals(async (t, bench, handles) => {
    const owner = (await take(bench.store, bench.id(), T0)).owners[0]!;
    const { domain } = await newSender(bench);
    const begin = { owner, dueAgainAt: T0 + 60_000 };
    const submission = bench.submission(domain, ['a@x.test'], { slot: owner.slot, begin });
    const [isFree, accepted] = await Promise.all([
      handles[0].owners.letGoOfIdleSlot(owner),
      handles[1].submissions.accept(submission),
    ]);
    t.match(accepted, { kind: 'accepted', begun: !isFree });
  }),

  'of two recoveries of one node the last holds its slot': rivals(async (t, bench, handles) => {
    const { node, owner, message } = await sendingOf(bench);
    const starts = await atOnce(handles, 2, (store) => take(store, node, T0 + 1));
    const epochs = starts.map(({ owners }) => owners[0]!.epoch);
    t.strictSame(new Set(epochs), new Set([2, 3]));
    t.equal(
      starts.reduce((sum, { returned }) => sum + returned.messages, 0),
      1,
    );
    const again = await atOnce(handles, 2, ({ queue }, at) => {
      const terms = { owner: { slot: owner.slot, epoch: epochs[at]! }, now: T0 + 1, dueAgainAt: dueAgainFrom(T0) };
      return queue.claim(message.lane, 1, terms);
    });
    const last = epochs.indexOf(3);
    t.match(again[last], { messages: [{ id: message.id, attempt: 2 }], isOver: false });
    t.match(again[1 - last], { messages: { length: 0 }, isOver: true });
  }),

  'a result comes before a takeover or after it': rivals(async (t, bench, handles) => {
    const { message } = await sendingOf(bench);
    const [ended, taken] = await Promise.all([
      handles[0].queue.record([bench.attempted(message, { to: 'delivered' })]),
      take(handles[1], bench.id(), T0 + LEASE_MS),
    ]);
    const isLate = ended.over.length === 1;
    t.equal(taken.returned.messages, isLate ? 1 : 0);
    t.match(await bench.message(message.id), { state: isLate ? 'deferred' : 'delivered' });
  }),

  'a late result comes before the next claim or after it': rivals(async (t, bench, handles) => {
    const { message } = await sendingOf(bench);
    const heir = await take(bench.store, bench.id(), T0 + LEASE_MS);
    const terms = { owner: heir.owners[0]!, now: T0 + LEASE_MS, dueAgainAt: dueAgainFrom(T0 + LEASE_MS) };
    const [counted, claimed] = await Promise.all([
      handles[0].queue.recordLate([bench.attempted(message, { to: 'delivered' })]),
      handles[1].queue.claim(message.lane, 1, terms),
    ]);
    t.equal(claimed.messages.length, 1 - counted);
    const [state, attempts] = counted === 1 ? ['delivered', 1] : ['sending', 2];
    t.match(await bench.message(message.id), { state, attempts, attemptList: [{ attempt: 1 }] });
  }),

  'an own address sends what its ramp allows': rivals(async (t, bench, handles) => {
    const { domain } = await newSender(bench);
    const lane = await queued(bench, domain, 20);
    const owner = await bench.owner();
    const facts = factsOf([candidate('192.0.2.1', { warm: false })], { mxGroup: bench.id(), ramp: [7] });
    const terms = { owner, now: T0, dueAgainAt: dueAgainFrom(T0), from: { address: '192.0.2.1', facts } };
    const claims = await atOnce(handles, 4, ({ queue }) => queue.claim(lane, 3, terms));
    t.equal(claims.flatMap(({ messages }) => messages).length, 7);
    const { usages } = await bench.store.sources.peekDue(lane, { now: T0, mxGroup: facts.mxGroup, limit: 1 });
    t.match([...usages.values()], [{ usedToday: 7 }]);
  }),

  'a delivery to a webhook is claimed once, has one result, and one notice of its failure': rivals(
    async (t, bench, handles) => {
      const { tenant, domain } = await newSender(bench);
      const webhookId = await webhookOf(bench, tenant.id);
      for (let event = 0; event < 5; event++) await happen(bench, domain);
      const terms = { owners: [await bench.owner()], now: T0, leaseUntil: [T0 + LEASE_MS] };
      const claims = await atOnce(handles, 4, ({ webhooks }) =>
        webhooks.claimDeliveries([{ webhookId, limit: 2 }], terms),
      );
      const deliveries = claims.flatMap(([claimed]) => claimed!.deliveries);
      t.equal(new Set(deliveries.map(({ event }) => event.id)).size, 5);
      t.equal(deliveries.length, 5);
      const failed = [resultOf(deliveries[0]!, { to: 'failed' })];
      const late = await atOnce(handles, 4, ({ webhooks }) => webhooks.recordDeliveries(failed, T0));
      t.strictSame(countAnswers(late), { 0: 1, 1: 3 });
      const told = await atOnce(handles, 4, ({ webhooks }) =>
        webhooks.noteFailureTold({ webhookId, failingSince: T0 }, T0 + 1),
      );
      t.strictSame(countAnswers(told), { false: 3, true: 1 });
    },
  ),

  'a mail that came back takes effect once': rivals(async (t, bench, handles) => {
    const message = await delivered(bench);
    const [suppressionKey, event] = [`${bench.id()}@x.test`, bench.event('email.complained')];
    const action = { do: 'complaint', reason: 'complaint', weight: 1, suppressionKey, event } as const;
    const update = await updateFor(bench, message, { kind: 'complaint', effect: 'complained' }, action);
    const owner = await bench.owner();
    const same = await atOnce(handles, 4, ({ inbound }) => inbound.recordInbound({ ...update, owner }));
    t.strictSame(kinds(same), { recorded: 1, unchanged: 3 }, 'one mail');
    const digest = Buffer.from('a digest');
    const delay = () => {
      const notice = { do: 'delay_notice', event: bench.event('email.deferred') } as const;
      return updateFor(bench, message, { effect: 'deferred', digest }, notice);
    };
    const notices = [await delay(), await delay()];
    const results = await atOnce(handles, 2, ({ inbound }, at) => inbound.recordInbound({ ...notices[at]!, owner }));
    t.strictSame(
      countAnswers(results.map((result) => 'effect' in result && result.effect)),
      { deferred: 1, none: 1 },
      'two that say the same',
    );
    t.equal((await bench.store.events.eventsOfMessage(message.tenantId, message.id)).length, 2);
  }),

  'fetches of a link all count, and make one event': rivals(async (t, bench, handles) => {
    const { id: messageId, tenantId } = await delivered(bench);
    const links = () => [newHits(bench, { firstAt: T0 + HOUR_MS })];
    await atOnce(handles, 4, ({ tracking }) =>
      tracking.recordHits([{ tenantId, messageId, links: links() }], UNSUSPICIOUS),
    );
    const found = await bench.store.tracking.findTracked(tenantId, messageId);
    t.match(found, { links: [{ hits: 4, events: 1 }] });
    t.equal((await bench.store.events.eventsOfMessage(tenantId, messageId)).length, 1);
  }),

  'recipients are marked once': rivals(async (t, bench, handles) => {
    const { domain } = await newSender(bench);
    await queued(bench, domain, 1024);
    const answers = await atOnce(handles, 4, ({ upkeep }) => upkeep.markRecipients(Date.now() + DAY_MS));
    t.strictSame(countAnswers(answers), { true: 1, false: 3 });
  }),

  'a tally is added once': rivals(async (t, bench, handles) => {
    await happen(bench, (await newSender(bench)).domain);
    const tally = await bench.store.figures.tallyNext(1000);
    const added = await atOnce(handles, 4, ({ figures }) => figures.addTally(tally));
    t.strictSame(countAnswers(added), { true: 1, false: 3 });
    await countAll(bench.store);
  }),
};

/** A message that a node of its own is sending, in a slot of its own. */
async function sendingOf(bench: Bench): Promise<{ node: string; owner: Owner; message: ClaimedMessage }> {
  const node = bench.id();
  const { owners } = await take(bench.store, node, T0);
  const owner = owners[0]!;
  const { domain } = await newSender(bench);
  const { lanes } = await bench.accept(domain, ['a@x.test'], { slot: owner.slot });
  const { messages } = await claim(bench.store, lanes[0]!.lane, owner);
  return { node, owner, message: messages[0]! };
}

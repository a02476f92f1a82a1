// Conformance: who works on what. Nodes take slots under epochs; what was claimed under an epoch that is over changes
// nothing, and is told so.
import type { Test } from 'tap';
import type { Domain } from '../../../src/store/domains.ts';
import type { Owner } from '../../../src/store/owners.ts';
import { claimOf } from '../../../src/store/queue.ts';
import { untried } from '../../support/first-slot.ts';
import { type Bench, DUE_AGAIN_STEP_MS, dueAgainFrom, T0 } from './harness.ts';

const LEASE_MS = 10_000;

async function take(bench: Bench, node: string, change: { slots?: number; now?: number; spare?: string[] } = {}) {
  const { slots = 1, now = T0, spare = [] } = change;
  const taken = await bench.store.owners.takeSlots({ node, slots, now, leaseUntil: now + LEASE_MS, spare });
  return { owner: taken.owners[0]!, ...taken };
}

/** One message of that slot, claimed by its owner. */
async function sendingIn(bench: Bench, owner: Owner, domain: Domain, to: string) {
  const { lanes } = await bench.accept(domain, [to], { slot: owner.slot });
  const terms = { owner, now: T0, dueAgainAt: dueAgainFrom(T0) };
  const { messages } = await bench.store.queue.claim(lanes[0]!.lane, 1, terms);
  return messages[0]!;
}

export const ownerCases = {
  'a node takes its own slots back at once, under a new epoch; others get new ones': async (t: Test, bench: Bench) => {
    t.strictSame((await take(bench, 'a')).owners, [{ slot: 1, epoch: 1 }]);
    t.strictSame((await take(bench, 'b', { slots: 2 })).owners, [
      { slot: 2, epoch: 1 },
      { slot: 3, epoch: 1 },
    ]);
    t.strictSame((await take(bench, 'a', { now: T0 + 1 })).owners, [{ slot: 1, epoch: 2 }]);
    t.strictSame((await take(bench, 'a', { slots: 2, now: T0 + 2 })).owners, [
      { slot: 1, epoch: 3 },
      { slot: 4, epoch: 1 },
    ]);
  },

  'a slot is taken over when its lease is over, and not before': async (t: Test, bench: Bench) => {
    const first = await take(bench, 'a');
    t.strictSame((await take(bench, 'b', { now: T0 + LEASE_MS - 1 })).owners, [{ slot: 2, epoch: 1 }]);
    t.strictSame((await take(bench, 'c', { now: T0 + LEASE_MS })).owners, [{ slot: first.owner.slot, epoch: 2 }]);
    const forGood = { node: 'd', slots: 1, now: T0 + LEASE_MS, leaseUntil: null };
    t.strictSame((await bench.store.owners.takeSlots(forGood)).owners, [{ slot: 3, epoch: 1 }]);
    const late = await take(bench, 'e', { slots: 4, now: T0 + 100 * LEASE_MS });
    t.strictSame(
      late.owners.map(({ slot }) => slot),
      [1, 2, 4, 5],
      'a hold without an end is left alone',
    );
  },

  'of two who take over at once only one gets the slot': async (t: Test, bench: Bench) => {
    await take(bench, 'a');
    const now = T0 + LEASE_MS;
    const [b, c] = await Promise.all([take(bench, 'b', { now }), take(bench, 'c', { now })]);
    t.strictSame(
      [b.owner, c.owner],
      [
        { slot: 1, epoch: 2 },
        { slot: 2, epoch: 1 },
      ],
    );
  },

  'what the previous owner was sending waits again': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const later = await bench.sending(domain, 'second-attempt@x.test');
    await bench.store.queue.record([
      bench.update(later, { to: 'deferred', dueAt: T0 + 10, reason: '451', ambiguous: false }),
    ]);
    await bench.claim(later.lane, T0 + 10);
    const first = await bench.sending(domain, 'first-attempt@x.test', T0 + 10);
    const waiting = await bench.queued(domain, 'waiting@x.test', T0 + 500);
    const { returned, owner } = await take(bench, 'test', { now: T0 + 100 });
    t.strictSame(returned, { messages: 2, deliveries: 0 });
    t.match(await bench.message(first.id), { state: 'deferred', attempts: 1, dueAt: T0 + 100, ambiguous: true });
    const stored = T0 + 10 + 2 * DUE_AGAIN_STEP_MS;
    t.match(await bench.message(later.id), { state: 'deferred', attempts: 2, dueAt: stored, ambiguous: true });
    t.match(await bench.message(waiting.id), { state: 'queued', dueAt: T0 + 500, ambiguous: false });
    t.strictSame((await take(bench, 'test', { now: T0 + 200 })).returned, { messages: 0, deliveries: 0 });
    const terms = { owner: { ...owner, epoch: owner.epoch + 1 }, now: T0 + 100, dueAgainAt: dueAgainFrom(T0) };
    const { messages } = await bench.store.queue.claim(first.lane, 1, terms);
    t.match(messages, [{ id: first.id, attempt: 2, notices: 0 }], 'a tenant was not told of an interruption');
  },

  'what an earlier process knows the end of does not wait again': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const known = await bench.sending(domain, 'known@x.test');
    const other = await bench.sending(domain, 'other@x.test');
    t.match(await take(bench, 'test', { spare: [known.id] }), { returned: { messages: 1 } });
    t.match(await bench.message(known.id), { state: 'sending', attempts: 1 });
    t.match(await bench.message(other.id), { state: 'deferred' });
  },

  'a start beside a running owner leaves its work alone': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const a = await take(bench, 'a');
    const message = await sendingIn(bench, a.owner, domain, 'a@x.test');
    const b = await take(bench, 'b');
    t.strictSame(b.returned, { messages: 0, deliveries: 0 });
    const own = await sendingIn(bench, b.owner, domain, 'b@x.test');
    t.not(own.lane, message.lane, 'the same domain, in another slot');
    t.match(await bench.message(message.id), { state: 'sending' });
    const { queue } = bench.store;
    const slotsOf = async (slots: number[]) => (await queue.listSending(slots, null, 10)).map(({ id }) => id);
    t.strictSame([await slotsOf([1]), await slotsOf([2]), await slotsOf([3])], [[message.id], [own.id], []]);
    const { lanes } = await bench.accept(domain, ['c@y.test'], { slot: a.owner.slot });
    t.strictSame(await queue.dueLanes([b.owner.slot]), []);
    t.strictSame(await queue.dueLanes([a.owner.slot, b.owner.slot]), lanes);
    const terms = { owner: b.owner, now: T0, dueAgainAt: dueAgainFrom(T0) };
    t.match(await queue.claim(lanes[0]!.lane, 1, terms), { messages: { length: 0 } }, "another's lane gives nothing");
    t.strictSame(await queue.record([bench.attempted(message, { to: 'delivered' })]), { lanes: [], over: [] });
  },

  'after a takeover nothing of the old epoch changes anything': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const old = await take(bench, 'a');
    const message = await sendingIn(bench, old.owner, domain, 'a@x.test');
    const next = await take(bench, 'b', { now: T0 + LEASE_MS });
    t.match(next, { owner: { slot: 1, epoch: 2 }, returned: { messages: 1 } });
    const { queue } = bench.store;
    const before = await bench.message(message.id);
    const delivered = bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'));
    t.strictSame(await queue.record([delivered]), { lanes: [], over: [message.id] });
    t.strictSame(await queue.release([untried(message)], T0), { lanes: [], over: [message.id] });
    t.strictSame(await queue.returnOrphans([untried(message)], T0, 'gone'), []);
    const terms = { now: T0 + LEASE_MS, dueAgainAt: dueAgainFrom(T0 + LEASE_MS) };
    const refused = await queue.claim(message.lane, 1, { ...terms, owner: old.owner });
    t.strictSame(refused, { messages: [], nextDueAt: null, isOver: true });
    t.strictSame(await bench.message(message.id), before);
    const { messages } = await queue.claim(message.lane, 1, { ...terms, owner: next.owner });
    t.match(messages, [{ id: message.id, attempt: 2 }]);
    const sameAttempt = { ...delivered, claim: claimOf({ owner: old.owner, attempt: 2 }) };
    t.strictSame((await queue.record([sameAttempt])).over, [message.id], 'nor with the number of the new attempt');
    t.equal(await queue.recordLate([delivered]), 0, 'somebody has begun again');
    t.match(await bench.message(message.id), { state: 'sending', attemptList: [{ attempt: 1 }] }, 'kept for people');
    t.strictSame(await bench.store.events.eventsOfMessage(tenant.id, message.id), []);
  },

  'a late result counts while nobody has begun again': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const old = await take(bench, 'a');
    const message = await sendingIn(bench, old.owner, domain, 'a@x.test');
    const next = await take(bench, 'b', { now: T0 + LEASE_MS });
    const delivered = bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'));
    t.equal(await bench.store.queue.recordLate([delivered]), 1);
    t.match(await bench.message(message.id), { state: 'delivered', attempts: 1 });
    t.equal((await bench.store.events.eventsOfMessage(tenant.id, message.id)).length, 1);
    const terms = { owner: next.owner, now: T0 + LEASE_MS, dueAgainAt: dueAgainFrom(T0) };
    t.match(await bench.store.queue.claim(message.lane, 1, terms), { messages: { length: 0 }, nextDueAt: null });
  },

  'a webhook is called by the owner of its slot': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const a = await take(bench, 'a');
    const b = await take(bench, 'b');
    const [ofA, ofB] = [bench.id(), bench.id()];
    const url = (id: string) => ({ url: `https://${id}.test/`, target: `https://${id}.test/` });
    const facts = { tenantId: tenant.id, description: null, createdAt: T0 };
    const secret = { masterKeyId: 'm', sealed: Buffer.from('s') };
    await bench.store.webhooks.createWebhook({ id: ofA, ...url(ofA), ...facts, secret }, 9);
    await bench.store.webhooks.createWebhook({ id: ofB, ...url(ofB), ...facts, secret, slot: b.owner.slot }, 9);
    const message = await sendingIn(bench, a.owner, domain, 'a@x.test');
    const event = bench.event('email.delivered');
    await bench.store.queue.record([bench.attempted(message, { to: 'delivered' }, event)]);
    const { webhooks } = bench.store;
    const due = async (slots: number[]) =>
      (await webhooks.dueWebhooks(slots, null, 10)).found.map((one) => one.webhookId);
    t.strictSame([await due([1]), await due([2])], [[ofA], [ofB]]);
    const claims = [ofA, ofB].map((webhookId) => ({ webhookId, limit: 5 }));
    const terms = { owners: [b.owner], now: T0, leaseUntil: [T0 + 1e6] };
    const [others, own] = await webhooks.claimDeliveries(claims, terms);
    t.match(others, { endpoint: null, deliveries: { length: 0 } });
    const [delivery] = own!.deliveries;
    t.match(delivery, { webhookId: ofB, attempt: 1, owner: b.owner, event: { id: event.id } });

    const next = await take(bench, 'c', { slots: 2, now: T0 + LEASE_MS });
    t.match(next.returned, { deliveries: 1 }, 'it waits again, uncounted');
    const result = {
      end: { to: 'failed' },
      startedAt: T0,
      elapsedMs: 1,
      status: 500,
      reason: '',
      answer: null,
    } as const;
    t.equal(await webhooks.recordDeliveries([{ delivery: delivery!, ...result }], T0), 1, 'a result of the old owner');
    t.match((await webhooks.claimDeliveries(claims, terms))[1], { endpoint: null }, 'who owns it no more');
    const again = { owners: next.owners, now: T0 + LEASE_MS, leaseUntil: [T0 + 1e6] };
    const claimed = await webhooks.claimDeliveries(claims, again);
    t.match(
      claimed.map(({ deliveries }) => deliveries.map(({ attempt }) => attempt)),
      [[1], [1]],
    );
  },

  'a timer has one leader, and a new epoch each time': async (t: Test, bench: Bench) => {
    const lead = (node: string, now: number, leaseUntil: number | null = now + LEASE_MS, name = 'reviews') =>
      bench.store.owners.leadTimer({ name, node, now, leaseUntil });
    t.same(await Promise.all([lead('a', T0), lead('b', T0)]), [1, null], 'of two at once only one');
    t.equal(await lead('b', T0, T0 + 1, 'figures'), 1, 'each timer has its own');
    t.equal(await lead('a', T0 + 5), 2, 'its own again');
    t.equal(await lead('b', T0 + 5 + LEASE_MS - 1), null);
    t.equal(await lead('b', T0 + 5 + LEASE_MS, null), 3, 'its lease is over');
    t.equal(await lead('a', T0 + 100 * LEASE_MS), null, 'a hold without an end');
    t.equal(await lead('b', T0 + 100 * LEASE_MS), 4);
  },
};

// Conformance: the nodes that share a store. Each renews its slots, hands them over, and sees the others do so.
import type { Test } from 'tap';
import type { Owner } from '../../../src/store/owners.ts';
import { type Bench, dueAgainFrom, T0 } from './harness.ts';
import { happen } from './webhook-deliveries.ts';

const LEASE_MS = 10_000;

function take(bench: Bench, node: string, change: { slots?: number; beside?: number[]; newSlots?: number } = {}) {
  const { slots = 1, ...others } = change;
  return takeAt(bench, node, T0, { slots, ...others });
}

async function takeAt(
  bench: Bench,
  node: string,
  now: number,
  change: { slots: number; beside?: number[]; newSlots?: number; endedBy?: number },
): Promise<Owner[]> {
  return (await bench.store.owners.takeSlots({ node, now, leaseUntil: now + LEASE_MS, ...change })).owners;
}

function keep(bench: Bench, node: string, owners: readonly Owner[], now = T0) {
  const note = { node, version: '1.0.0', startedAt: T0 };
  return bench.store.owners.keepSlots({ ...note, owners, now, leaseUntil: now + LEASE_MS });
}

export const nodeCases = {
  'a lease that is renewed does not end; a slot that was taken over is lost': async (t: Test, bench: Bench) => {
    const held = await take(bench, 'a', { slots: 2 });
    t.strictSame(await keep(bench, 'a', held, T0 + LEASE_MS - 1), []);
    t.strictSame(await takeAt(bench, 'b', T0 + LEASE_MS, { slots: 1, newSlots: 0 }), [], 'there is none to have');
    const late = T0 + 2 * LEASE_MS - 1;
    const taken = await takeAt(bench, 'b', late, { slots: 1 });
    t.strictSame(taken, [{ slot: 1, epoch: 2 }]);
    t.strictSame(await keep(bench, 'a', held, late), [held[0]], 'the other one is still its own');
    t.strictSame(await bench.store.owners.listSlots(), [
      { slot: 1, epoch: 2, node: 'b', leaseUntil: late + LEASE_MS },
      { slot: 2, epoch: 1, node: 'a', leaseUntil: late + LEASE_MS },
    ]);
  },

  'slots beside those that a node holds': async (t: Test, bench: Bench) => {
    const [held] = await take(bench, 'a');
    t.strictSame(await take(bench, 'a', { beside: [held!.slot], newSlots: 0 }), []);
    t.strictSame(await take(bench, 'a', { slots: 2, beside: [held!.slot], newSlots: 1 }), [{ slot: 2, epoch: 1 }]);
    const now = T0 + LEASE_MS + 2000;
    t.strictSame(await takeAt(bench, 'b', now, { slots: 9, newSlots: 0, endedBy: T0 + LEASE_MS - 1 }), []);
    const both = await takeAt(bench, 'b', now, { slots: 9, newSlots: 0, endedBy: now - 2000 });
    t.strictSame(both, [
      { slot: 1, epoch: 2 },
      { slot: 2, epoch: 2 },
    ]);
  },

  "a slot that its owner lets go of is anybody's": async (t: Test, bench: Bench) => {
    const held = await take(bench, 'a', { slots: 2 });
    await bench.store.owners.letGoOfSlots([held[0]!, { ...held[1]!, epoch: 7 }]);
    t.strictSame(await takeAt(bench, 'b', T0, { slots: 2, newSlots: 0 }), [{ slot: 1, epoch: 3 }]);
    await bench.store.owners.letGoOfSlots(held);
    const slots = await bench.store.owners.listSlots();
    t.match(slots[0], { node: 'b', leaseUntil: T0 + LEASE_MS }, 'who holds it no more cannot let go of it');
    t.match(slots[1], { node: 'a', leaseUntil: 0 });
  },

  'a slot is idle once all that was claimed in it has its end': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const [owner, other] = (await take(bench, 'a', { slots: 2 })) as [Owner, Owner];
    const idle = async () => Promise.all([owner, other].map(({ slot }) => store.owners.isSlotIdle(slot)));
    t.strictSame(await idle(), [true, true]);
    const { lanes } = await bench.accept(domain, ['a@x.test'], { slot: owner.slot });
    t.strictSame(await idle(), [true, true], "what waits is nobody's");
    const terms = { owner, now: T0, dueAgainAt: dueAgainFrom(T0) };
    const { messages } = await store.queue.claim(lanes[0]!.lane, 1, terms);
    t.strictSame(await idle(), [false, true]);
    const secret = { masterKeyId: 'master1', sealed: Buffer.from('first') };
    const webhook = { id: bench.id(), tenantId: tenant.id, url: 'https://a.test/', target: 'https://a.test/', secret };
    await store.webhooks.createWebhook({ ...webhook, slot: other.slot, description: null, createdAt: T0 }, 50);
    await happen(bench, domain);
    await store.queue.record([bench.attempted(messages[0]!, { to: 'delivered' })]);
    t.strictSame(await idle(), [true, true]);
    const calls = { owners: [other], now: T0 + 1000, leaseUntil: [T0 + 1e6] };
    await store.webhooks.claimDeliveries([{ webhookId: webhook.id, limit: 1 }], calls);
    t.strictSame(await idle(), [true, false]);
  },

  'a slot is let go of only when it is idle, and nothing begins there after that': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { domain } = await bench.sender('acme.test');
    const [owner] = (await take(bench, 'a')) as [Owner];
    const { lanes } = await bench.accept(domain, ['a@x.test', 'b@x.test'], { slot: owner.slot });
    const claim = () => store.queue.claim(lanes[0]!.lane, 1, { owner, now: T0, dueAgainAt: dueAgainFrom(T0) });
    const { messages } = await claim();
    t.equal(await store.owners.letGoOfIdleSlot(owner), false);
    t.strictSame(await keep(bench, 'a', [owner], T0), [], 'it is still its own');
    await store.queue.record([bench.attempted(messages[0]!, { to: 'delivered' })]);
    t.equal(await store.owners.letGoOfIdleSlot({ ...owner, epoch: 7 }), true, "another owner's is not its own");
    t.strictSame(await keep(bench, 'a', [owner], T0), []);
    t.equal(await store.owners.letGoOfIdleSlot(owner), true);
    t.match(await store.owners.listSlots(), [{ node: 'a', leaseUntil: 0 }]);
    t.strictSame(await claim(), { messages: [], nextDueAt: null, isOver: true }, 'although nobody has taken it');
    const begin = { owner, dueAgainAt: T0 + 60_000 };
    const late = await bench.accept(domain, ['c@x.test'], { slot: owner.slot, begin });
    t.match(late, { kind: 'accepted', begun: false });
    t.match(await bench.message(late.receipt.messageIds[0]!), { state: 'queued', attempts: 0 });
    t.strictSame(await takeAt(bench, 'b', T0, { slots: 1, newSlots: 0 }), [{ slot: owner.slot, epoch: 3 }]);
  },

  'nodes are seen, drained and forgotten': async (t: Test, bench: Bench) => {
    const { owners } = bench.store;
    t.strictSame(await owners.listNodes(), []);
    await keep(bench, 'b', [], T0);
    await keep(bench, 'a', [], T0 + 5);
    t.strictSame(await owners.listNodes(), [
      { node: 'a', version: '1.0.0', startedAt: T0, seenAt: T0 + 5, isDraining: false },
      { node: 'b', version: '1.0.0', startedAt: T0, seenAt: T0, isDraining: false },
    ]);
    t.equal(await owners.drainNode('nobody', true), false);
    t.equal(await owners.drainNode('a', true), true);
    await keep(bench, 'a', [], T0 + 6);
    t.match(await owners.listNodes(), [{ isDraining: true, seenAt: T0 + 6 }, { isDraining: false }]);
    t.equal(await owners.drainNode('a', false), true);
    t.equal(await owners.forgetNode('a', T0 + 5), false, 'it was seen since');
    t.equal(await owners.forgetNode('nobody', T0 + 6), false);
    t.equal(await owners.forgetNode('b', T0), true);
    t.match(await owners.listNodes(), [{ node: 'a', isDraining: false }]);
  },

  'the clock of the store goes on': async (t: Test, bench: Bench) => {
    const first = await bench.store.owners.readClock();
    t.ok(Number.isSafeInteger(first) && first > T0, String(first));
    t.ok((await bench.store.owners.readClock()) >= first);
  },
};

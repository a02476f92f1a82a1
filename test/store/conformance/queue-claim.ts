// Conformance: the queue's way out: what is due, claiming, giving back, expiring.
import type { Test } from 'tap';
import { untried } from '../../support/first-slot.ts';
import { type Bench, DUE_AGAIN_STEP_MS, LIFETIME_MS, T0 } from './harness.ts';

export const queueClaimCases = {
  'what is past its lifetime is not claimed any more': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const message = await bench.queued(domain, 'a@x.test');
    const { lane } = (await bench.store.queue.dueLanes([1]))[0]!;
    const { messages, nextDueAt } = await bench.claimWithNext(lane, T0 + LIFETIME_MS);
    t.strictSame({ messages, nextDueAt }, { messages: [], nextDueAt: null });
    t.strictSame(
      (await bench.store.queue.expired([1], T0 + LIFETIME_MS, 10)).map(({ id }) => id),
      [message.id],
      'it is left to whoever ends it',
    );
  },

  'a claimed message brings what the scheduler must know': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { receipt, lanes } = await bench.accept(domain, ['a@x.test']);
    const { messages, nextDueAt } = await bench.claimWithNext(lanes[0]!.lane, T0);
    t.strictSame(messages, [
      {
        owner: await bench.owner(),
        id: receipt.messageIds[0],
        tenantId: tenant.id,
        submissionId: receipt.id,
        lane: lanes[0]!.lane,
        recipient: 'a@x.test',
        from: 'news@acme.test',
        fromDomain: 'acme.test',
        subject: 'Hello',
        labels: null,
        attempt: 1,
        sendAt: null,
        createdAt: T0,
        expiresAt: T0 + LIFETIME_MS,
        notices: 0,
        sourceAddress: null,
      },
    ]);
    t.equal(nextDueAt, null);
    t.match(await bench.message(receipt.messageIds[0]!), {
      state: 'sending',
      attempts: 1,
      dueAt: T0 + DUE_AGAIN_STEP_MS,
    });
  },

  'messages come in the order in which they are due, up to the limit': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const late = await bench.queued(domain, 'late@x.test', T0 + 20);
    const future = await bench.queued(domain, 'future@x.test', T0 + 1000);
    const early = await bench.queued(domain, 'early@x.test', T0);
    const tied = await bench.queued(domain, 'tied@x.test', T0 + 20);
    const lane = late.lane;
    t.strictSame(
      await bench.claimWithNext(lane, T0 - 1),
      { messages: [], nextDueAt: T0, isOver: false },
      'nothing is due yet',
    );
    const first = await bench.claimWithNext(lane, T0 + 20, 2);
    t.strictSame(ids(first.messages), [early.id, late.id]);
    t.equal(first.nextDueAt, T0 + 20, 'more is due at once');
    const second = await bench.claimWithNext(lane, T0 + 20, 2);
    t.strictSame(ids(second.messages), [tied.id], 'the older id first when due at the same time');
    t.equal(second.nextDueAt, T0 + 1000);
    t.strictSame(await bench.claimWithNext(lane, T0 + 999), { messages: [], nextDueAt: T0 + 1000, isOver: false });
    t.strictSame(ids(await bench.claim(lane, T0 + 1000)), [future.id]);
  },

  'a claim looks no further back than it is told to': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const early = await bench.queued(domain, 'early@x.test', T0);
    const late = await bench.queued(domain, 'late@x.test', T0 + 20);
    const future = await bench.queued(domain, 'future@x.test', T0 + 1000);
    const terms = { owner: await bench.owner(), now: T0 + 20, dueAgainAt: [T0 + 5000] };
    const claim = (dueFrom: number) => bench.store.queue.claim(late.lane, 10, { ...terms, dueFrom });
    const from20 = await claim(T0 + 20);
    t.strictSame([ids(from20.messages), from20.nextDueAt], [[late.id], T0 + 1000]);
    const from19 = await claim(T0 + 19);
    t.strictSame([ids(from19.messages), from19.nextDueAt], [[], T0 + 1000]);
    t.strictSame((await claim(T0 + 1001)).nextDueAt, null);
    t.strictSame(
      (await claim(T0)).messages.map(({ id }) => id),
      [early.id],
    );
    t.match(await bench.message(future.id), { state: 'queued' });
  },

  'a message is claimed once, however many ask': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const to = Array.from({ length: 30 }, (_, n) => `r${n}@x.test`);
    const { receipt, lanes } = await bench.accept(domain, to);
    const claims = await Promise.all(Array.from({ length: 10 }, () => bench.claim(lanes[0]!.lane, T0, 7)));
    t.strictSame(ids(claims.flat()).sort(), receipt.messageIds);
    t.ok(claims.every((messages) => messages.length <= 7));
  },

  'a lane gives only its own messages': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const here = await bench.queued(domain, 'a@x.test');
    await bench.queued(domain, 'a@y.test');
    t.strictSame(ids(await bench.claim(here.lane, T0)), [here.id]);
    t.strictSame((await bench.claimWithNext(here.lane + 1000, T0)).messages, [], 'no such lane');
  },

  'a tenant that is not active gives nothing': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { id, lane } = await bench.queued(domain, 'a@x.test');
    for (const status of ['pending_verification', 'in_review', 'suspended'] as const) {
      await bench.store.tenants.updateTenant(tenant.id, { status });
      const nothing = { messages: [], nextDueAt: null, isOver: false };
      t.strictSame(await bench.claimWithNext(lane, T0 + 5), nothing, status);
      t.strictSame(await bench.store.queue.dueLanes([1]), []);
    }
    t.match(await bench.message(id), { state: 'queued', attempts: 0, dueAt: T0 });
    await bench.store.tenants.updateTenant(tenant.id, { status: 'active' });
    t.strictSame(await bench.store.queue.dueLanes([1]), [
      { lane, slot: 1, tenantId: tenant.id, domain: 'x.test', dueAt: T0 },
    ]);
    t.strictSame(ids(await bench.claim(lane, T0)), [id]);
  },

  'due lanes tell the time of their next message': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const x = await bench.queued(domain, 'late@x.test', T0 + 50);
    await bench.queued(domain, 'early@x.test', T0 + 10);
    const y = await bench.queued(domain, 'a@y.test', T0 + 30);
    const due = async () => new Map((await bench.store.queue.dueLanes([1])).map((lane) => [lane.domain, lane]));
    const before = await due();
    t.strictSame(before.get('x.test'), {
      lane: x.lane,
      slot: 1,
      tenantId: tenant.id,
      domain: 'x.test',
      dueAt: T0 + 10,
    });
    t.strictSame(before.get('y.test'), {
      lane: y.lane,
      slot: 1,
      tenantId: tenant.id,
      domain: 'y.test',
      dueAt: T0 + 30,
    });
    await bench.claim(y.lane, T0 + 30);
    const after = await due();
    t.strictSame([...after.keys()], ['x.test'], 'what is being sent is not due');
  },

  'a released message is as if it had not been claimed': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const claimed = await bench.sending(domain, 'a@x.test');
    const unknown = { ...claimed, id: bench.id() };
    const { lanes, over } = await bench.store.queue.release([claimed, unknown].map(untried), T0 + 77);
    const { lane, tenantId } = claimed;
    t.strictSame(lanes, [{ lane, slot: 1, tenantId, domain: 'x.test', dueAt: T0 + 77 }]);
    t.strictSame(over, [unknown.id]);
    t.match(await bench.message(claimed.id), { state: 'queued', attempts: 0, dueAt: T0 + 77 });
    const again = await bench.store.queue.release([untried(claimed)], T0 + 99);
    t.strictSame(again, { lanes: [], over: [claimed.id] }, 'only what is being sent');
    t.equal((await bench.message(claimed.id)).dueAt, T0 + 77);
    t.strictSame(await bench.claim(claimed.lane, T0 + 77), [claimed], 'the same attempt again');
  },

  'a released message that was deferred is deferred again': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const first = await bench.sending(domain, 'a@x.test');
    const ambiguous = { to: 'deferred', dueAt: T0, reason: 'lost after the dot', ambiguous: true } as const;
    await bench.store.queue.record([bench.update(first, ambiguous, { event: bench.event('email.deferred') })]);
    const [second] = await bench.claim(first.lane, T0);
    t.equal(second?.attempt, 2);
    t.equal(second?.notices, 1);
    await bench.store.queue.release([untried(second!)], T0);
    t.match(await bench.message(first.id), {
      state: 'deferred',
      attempts: 1,
      ambiguous: true,
      lastReason: 'lost after the dot',
    });
    t.strictSame(await bench.claim(first.lane, T0), [second]);
  },

  'messages past their lifetime are found, unless they are being sent': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const past = T0 + LIFETIME_MS;
    const sending = await bench.sending(domain, 'sending@x.test');
    const done = await bench.sending(domain, 'done@x.test');
    await bench.store.queue.record([bench.update(done, { to: 'delivered' })]);
    const parked = await bench.sending(domain, 'parked@x.test');
    await bench.store.queue.record([bench.update(parked, { to: 'parked', reason: 'broken' })]);
    const later = await bench.queued(domain, 'later@x.test', T0 + 50);
    const old = await bench.queued(domain, 'old@x.test');
    await bench.store.tenants.updateTenant(tenant.id, { status: 'suspended' });
    t.strictSame(await bench.store.queue.expired([1], past - 1, 10), []);
    const found = await bench.store.queue.expired([1], past, 10);
    t.strictSame(ids(found).sort(), [parked.id, old.id].sort(), 'parked ones and paused tenants too');
    t.match(
      found.find((message) => message.id === old.id),
      { attempt: 0, recipient: 'old@x.test', subject: 'Hello' },
    );
    t.equal(found.find((message) => message.id === parked.id)?.attempt, 1, 'the attempt that was last made');
    t.strictSame(
      ids(await bench.store.queue.expired([1], past + 50, 10)).at(-1),
      later.id,
      'the longest expired first',
    );
    t.equal((await bench.store.queue.expired([1], past + 50, 2)).length, 2);
    await bench.store.queue.release([untried(sending)], T0);
    t.equal((await bench.store.queue.expired([1], past, 10)).length, 3);
  },

  'expired messages are found by the slots of their lanes': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { id: first } = await bench.queued(domain, 'a@x.test');
    const { receipt } = await bench.accept(domain, ['a@x.test'], { slot: 2, expiresAt: T0 + LIFETIME_MS + 1 });
    const [second] = receipt.messageIds;
    const found = async (slots: number[]) => ids(await bench.store.queue.expired(slots, T0 + LIFETIME_MS + 1, 10));
    t.strictSame(await found([1]), [first]);
    t.strictSame(await found([2]), [second]);
    t.strictSame(await found([1, 2]), [first, second]);
    t.strictSame(await found([3]), []);
    t.strictSame(await found([]), []);
  },

  'an expired message is ended while it waits': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { id, lane } = await bench.queued(domain, 'a@x.test');
    const [message] = await bench.store.queue.expired([1], T0 + LIFETIME_MS, 10);
    const event = bench.event('email.failed');
    await bench.store.queue.endWaiting(bench.update(message!, { to: 'failed', reason: 'lifetime over' }, { event }));
    t.match(await bench.message(id), { state: 'failed', lastReason: 'lifetime over', dueAt: null });
    t.strictSame(await bench.store.queue.expired([1], T0 + LIFETIME_MS, 10), []);
    t.match(await bench.claimWithNext(lane, T0 + LIFETIME_MS), { messages: { length: 0 }, nextDueAt: null });
  },
};

function ids(messages: { id: string }[]): string[] {
  return messages.map((message) => message.id);
}

// Conformance: the queue as operators see it.
import type { Test } from 'tap';
import { untried } from '../../support/first-slot.ts';
import { type Bench, T0 } from './harness.ts';
import { schedule } from './scheduled.ts';

export const queueViewCases = {
  'the summary counts what waits, the fullest lane first': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    t.strictSame(await bench.store.queue.queueSummary(), []);
    const y = await bench.queued(domain, 'a@y.test', T0 + 5);
    const x = await bench.queued(domain, 'a@x.test', T0 + 9);
    await bench.queued(domain, 'b@x.test', T0 + 7);
    const sending = await bench.queued(domain, 'a@z.test');
    await bench.claim(sending.lane, T0);
    t.strictSame(await bench.store.queue.queueSummary(), [
      { lane: x.lane, slot: 1, tenantId: tenant.id, domain: 'x.test', dueAt: T0 + 7, waiting: 2 },
      { lane: y.lane, slot: 1, tenantId: tenant.id, domain: 'y.test', dueAt: T0 + 5, waiting: 1 },
    ]);
  },

  'the list shows what is not finished, and can be narrowed': async (t: Test, bench: Bench) => {
    const one = await bench.sender('acme.test');
    const two = await bench.sender('beta.test');
    const waiting = await bench.queued(one.domain, 'a@x.test', T0 + 10);
    const sending = await bench.sending(one.domain, 'a@y.test', T0);
    const foreign = await bench.queued(two.domain, 'a@x.test', T0 + 20);
    const done = await bench.sending(two.domain, 'a@y.test', T0);
    await bench.store.queue.record([bench.update(done, { to: 'delivered' })]);
    const listed = async (filter: { tenantId?: string; domain?: string; limit?: number }) =>
      (await bench.store.queue.listQueue({ limit: 10, ...filter })).map((message) => message.id);
    t.strictSame(await listed({}), [sending.id, waiting.id, foreign.id]);
    t.strictSame(await listed({ limit: 2 }), [sending.id, waiting.id]);
    t.strictSame(await listed({ tenantId: one.tenant.id }), [sending.id, waiting.id]);
    t.strictSame(await listed({ domain: 'x.test' }), [waiting.id, foreign.id]);
    t.strictSame(await listed({ domain: 'x.test', tenantId: two.tenant.id }), [foreign.id]);
    t.strictSame(await listed({ domain: 'nowhere.test' }), []);
    const [first] = await bench.store.queue.listQueue({ domain: 'x.test', limit: 1 });
    const detail = await bench.message(waiting.id);
    t.strictSame({ ...detail, ...first }, detail);
  },

  'the list has what is scheduled, parked and sent just now, and what is meant for an MX group': async (
    t: Test,
    bench: Bench,
  ) => {
    const one = await bench.sender('acme.test');
    const two = await bench.sender('beta.test');
    const later = (await schedule(bench, one.domain, ['a@x.test'])).ids[0]!;
    const parked = await bench.sending(one.domain, 'a@y.test');
    await bench.store.queue.record([bench.update(parked, { to: 'parked', reason: 'broken' })]);
    const sending = await bench.sending(two.domain, 'b@y.test', T0 + 10);
    const elsewhere = await bench.queued(two.domain, 'a@z.test', T0 + 20);
    const notes = [
      { domain: 'x.test', mxGroup: 'mx1', at: T0 },
      { domain: 'y.test', mxGroup: 'mx1', at: T0 },
      { domain: 'z.test', mxGroup: 'mx2', at: T0 },
    ];
    await bench.store.shaping.noteDomains(notes, T0);
    const listed = async (filter: { tenantId?: string; domain?: string; group?: string; limit?: number }) =>
      (await bench.store.queue.listQueue({ limit: 10, ...filter })).map((message) => message.id);
    t.strictSame(await listed({ tenantId: one.tenant.id }), [parked.id, later]);
    t.strictSame(await listed({ domain: 'x.test' }), [later]);
    t.strictSame(await listed({ tenantId: one.tenant.id, domain: 'x.test' }), [later]);
    t.strictSame(await listed({ group: 'mx1' }), [parked.id, sending.id, later]);
    t.strictSame(await listed({ group: 'mx1', limit: 1 }), [parked.id], 'the first to expire');
    t.strictSame(await listed({ group: 'mx2' }), [elsewhere.id]);
    t.strictSame(await listed({ group: 'mx1', tenantId: one.tenant.id }), [parked.id, later]);
    t.strictSame(await listed({ group: 'mx1', domain: 'y.test' }), [parked.id, sending.id]);
    t.strictSame(await listed({ group: 'mx2', domain: 'y.test' }), []);
    t.strictSame(await listed({ group: 'mx1', domain: 'y.test', tenantId: two.tenant.id }), [sending.id]);
    t.strictSame(await listed({ group: 'nowhere' }), []);
  },

  'one message is shown whole, whatever became of it': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    await bench.store.queue.record([bench.attempted(message, { to: 'failed', reason: 'no' })]);
    t.match(await bench.message(message.id), { state: 'failed', from: 'news@acme.test', subject: 'Hello' });
    t.equal(await bench.store.queue.getMessage(bench.id()), null);
  },

  'retry now makes a waiting message due': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { id, lane } = await bench.queued(domain, 'a@x.test', T0 + 10_000);
    const notice = { lane, slot: 1, tenantId: tenant.id, domain: 'x.test', dueAt: T0 };
    t.strictSame(await bench.store.queue.retryNow(id, T0), notice);
    const [message] = await bench.claim(lane, T0);
    t.equal(message?.id, id);
    t.equal(await bench.store.queue.retryNow(id, T0 + 1), null, 'being sent');
    await bench.store.queue.record([
      bench.update(message!, { to: 'deferred', dueAt: T0 + 10_000, reason: '451', ambiguous: false }),
    ]);
    t.match(await bench.store.queue.retryNow(id, T0 + 2), { dueAt: T0 + 2 }, 'deferred');
    const [again] = await bench.claim(lane, T0 + 2);
    await bench.store.queue.record([bench.update(again!, { to: 'delivered' })]);
    t.equal(await bench.store.queue.retryNow(id, T0 + 3), null, 'finished');
    t.equal(await bench.store.queue.retryNow(bench.id(), T0), null, 'unknown');
  },

  'a message that waits can be found for ending it': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { id, lane } = await bench.queued(domain, 'a@x.test');
    const waiting = await bench.store.queue.findWaiting(id);
    t.match(waiting, { id, lane, attempt: 0, recipient: 'a@x.test', fromDomain: 'acme.test', notices: 0 });
    const [message] = await bench.claim(lane, T0);
    t.equal(await bench.store.queue.findWaiting(id), null, 'being sent');
    await bench.store.queue.record([bench.update(message!, { to: 'parked', reason: 'broken' })]);
    t.match(await bench.store.queue.findWaiting(id), { id, attempt: 1 }, 'parked');
    await bench.store.queue.endWaiting(bench.update(waiting!, { to: 'failed', reason: 'cancelled' }));
    t.equal(await bench.store.queue.findWaiting(id), null, 'finished');
    t.equal(await bench.store.queue.findWaiting(bench.id()), null, 'unknown');
  },

  'a message that waits is ended': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { id, lane } = await bench.queued(domain, 'a@x.test');
    const end = async () => {
      const known = await bench.message(id);
      const event = bench.event('email.failed');
      const message = { id, tenantId: tenant.id };
      return bench.store.queue.endWaiting(
        bench.update(message, { to: 'failed', reason: `was ${known.state}` }, { event }),
      );
    };
    const [claimed] = await bench.claim(lane, T0);
    t.equal(await end(), false, 'not while it is being sent');
    t.match(await bench.message(id), { state: 'sending', lastReason: null });
    t.strictSame(await bench.store.events.eventsOfMessage(tenant.id, id), []);
    await bench.store.queue.release([untried(claimed!)], T0);
    t.equal(await end(), true);
    t.match(await bench.message(id), { state: 'failed', lastReason: 'was queued', finishedAt: T0 + 1000 });
    t.equal(await end(), false, 'not twice');
    const events = await bench.store.events.eventsOfMessage(tenant.id, id);
    t.equal(events.length, 1);
    const parked = await bench.sending(domain, 'b@x.test');
    await bench.store.queue.record([bench.update(parked, { to: 'parked', reason: 'broken' })]);
    const cancelled = bench.update(parked, { to: 'failed', reason: 'cancelled' });
    const stranger = await bench.tenant();
    t.equal(await bench.store.queue.endWaiting({ ...cancelled, tenantId: stranger.id }), false, "not another tenant's");
    t.equal(await bench.store.queue.endWaiting(cancelled), true, 'parked ones too');
    t.match(await bench.message(parked.id), { state: 'failed', parked: false });
    t.equal(await bench.store.queue.endWaiting({ ...cancelled, messageId: bench.id() }), false, 'unknown');
  },

  'of a claim and an end at once only one has the message': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { id, lane } = await bench.queued(domain, 'a@x.test');
    const message = (await bench.store.queue.findWaiting(id))!;
    const owner = await bench.owner();
    const [{ messages: claimed }, ended] = await Promise.all([
      bench.store.queue.claim(lane, 10, { owner, now: T0, dueAgainAt: [T0] }),
      bench.store.queue.endWaiting(bench.update(message, { to: 'failed', reason: 'cancelled' })),
    ]);
    // Which one is the driver's choice: neither caller has an answer before the other one asks.
    t.equal(claimed.length, ended ? 0 : 1);
    t.match(await bench.message(id), ended ? { state: 'failed', dueAt: null } : { state: 'sending' });
  },

  "a tenant finds its own messages, and no other tenant's": async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const stranger = await bench.tenant();
    const { id } = await bench.queued(domain, 'a@x.test');
    t.strictSame(await bench.store.queue.findMessage(tenant.id, id), await bench.message(id));
    t.equal((await bench.store.queue.findMessage(tenant.id, id.toUpperCase()))?.id, id);
    t.equal(await bench.store.queue.findMessage(stranger.id, id), null);
    t.equal(await bench.store.queue.findMessage(tenant.id, bench.id()), null);
  },
};

// Conformance: what was unfinished in a backup is held after a restore, and goes only when an operator says so.
import type { Test } from 'tap';
import { DAY_MS, HOUR_MS } from '../../../src/base/clock.ts';
import { HELD_AFTER_RESTORE } from '../../../src/store/restored.ts';
import { type Bench, LIFETIME_MS, T0 } from './harness.ts';

const NOW = T0 + HOUR_MS;
const TIMES = { now: NOW, notBefore: NOW + 3 * DAY_MS };

async function unfinished(bench: Bench) {
  const { domain, tenant } = await bench.sender('acme.test');
  const queued = await bench.queued(domain, 'queued@x.test');
  const sending = await bench.sending(domain, 'sending@y.test');
  const sendAt = T0 + 2 * HOUR_MS;
  const later = await bench.accept(domain, ['later@z.test'], { sendAt, expiresAt: sendAt + LIFETIME_MS });
  return { domain, tenant, queued, sending, sendAt, scheduled: later.receipt.messageIds[0]! };
}

export const restoredCases = {
  'everything unfinished is held, whatever its state': async (t: Test, bench: Bench) => {
    const { queue } = bench.store;
    const { queued, sending, scheduled } = await unfinished(bench);
    t.equal(await queue.countHeld(1000), 0);
    t.same(await queue.holdUnfinished(TIMES), { scheduled: 1, queued: 1, sending: 1, deferred: 0 });
    t.equal(await queue.countHeld(1000), 3);
    t.equal(await queue.countHeld(2), 2, 'no more than asked for');
    t.equal(await queue.countUnsendable(1000), 0, 'nothing is wrong with them');
    const held = { parked: true, lastReason: HELD_AFTER_RESTORE, expiresAt: TIMES.notBefore };
    t.match(await bench.message(queued.id), { ...held, state: 'queued', ambiguous: false });
    t.match(await bench.message(sending.id), { ...held, state: 'deferred', ambiguous: true, attempts: 1 });
    t.match(await bench.message(scheduled), { ...held, state: 'queued', expiresAt: Math.max(TIMES.notBefore, T0) });
    t.same(await queue.dueLanes([1]), [], 'nothing is due');
    t.equal(await queue.nextScheduled(), null);
    t.same(await queue.expired([1], TIMES.notBefore - 1, 10), [], 'and nothing expires meanwhile');
    t.same(await queue.holdUnfinished(TIMES), { scheduled: 0, queued: 0, sending: 0, deferred: 0 }, 'held once');
  },

  'a longer lifetime is kept': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const expiresAt = TIMES.notBefore + 1;
    const { receipt } = await bench.accept(domain, ['a@x.test'], { expiresAt });
    await bench.store.queue.holdUnfinished(TIMES);
    t.match(await bench.message(receipt.messageIds[0]!), { expiresAt });
  },

  'what is released waits for its time': async (t: Test, bench: Bench) => {
    const { queue } = bench.store;
    const { queued, sending, scheduled, sendAt } = await unfinished(bench);
    const before = await bench.message(queued.id);
    await queue.holdUnfinished(TIMES);
    const first = await queue.releaseHeld({ now: NOW, limit: 2 });
    t.equal(first.messages, 2);
    const second = await queue.releaseHeld({ now: NOW, limit: 2 });
    t.equal(second.messages, 1);
    t.same((await queue.releaseHeld({ now: NOW, limit: 2 })).messages, 0);
    t.same([...first.lanes, ...second.lanes].map(({ domain }) => domain).toSorted(), ['x.test', 'y.test']);
    t.match(await bench.message(queued.id), { state: 'queued', parked: false, dueAt: before.dueAt, lastReason: null });
    t.match(await bench.message(sending.id), { state: 'deferred', parked: false });
    t.match(await bench.message(scheduled), { state: 'scheduled', parked: false, dueAt: sendAt });
    t.equal(await queue.countHeld(1000), 0);
    t.equal(await queue.nextScheduled(), sendAt);
  },

  "one tenant's mail is released alone": async (t: Test, bench: Bench) => {
    const { queue } = bench.store;
    const { domain: one, tenant } = await bench.sender('one.test');
    const { domain: other } = await bench.sender('other.test');
    const mine = await bench.queued(one, 'a@x.test');
    const theirs = await bench.queued(other, 'a@x.test');
    await queue.holdUnfinished(TIMES);
    const { messages, lanes } = await queue.releaseHeld({ now: NOW, limit: 10, tenantId: tenant.id });
    t.equal(messages, 1);
    t.match(lanes, [{ tenantId: tenant.id, domain: 'x.test' }]);
    t.match(await bench.message(mine.id), { parked: false });
    t.match(await bench.message(theirs.id), { parked: true });
  },

  'what is new, parked or paused is left alone': async (t: Test, bench: Bench) => {
    const { queue, shaping } = bench.store;
    const { domain } = await bench.sender('acme.test');
    const paused = await bench.queued(domain, 'paused@x.test');
    await shaping.pauseQueue({ kind: 'message', key: paused.id, by: 'ann', note: 'asked', at: T0 });
    t.same(await queue.holdUnfinished(TIMES), { scheduled: 0, queued: 0, sending: 0, deferred: 0 });
    const fresh = await bench.queued(domain, 'fresh@x.test');
    t.match(await bench.message(fresh.id), { parked: false });
    t.equal((await queue.dueLanes([1])).length, 1, 'mail accepted after a restore flows');
    t.equal((await queue.releaseHeld({ now: NOW, limit: 10 })).messages, 0);
    t.match(await bench.message(paused.id), { parked: true });
    t.equal(await queue.countUnsendable(1000), 0, 'that was an operator');
  },
};

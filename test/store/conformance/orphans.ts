// Conformance: messages that are marked as being sent and that nobody sends.
import type { Test } from 'tap';
import { BEFORE_ALL_LANES } from '../../../src/store/queue.ts';
import { untried } from '../../support/first-slot.ts';
import { type Bench, DUE_AGAIN_STEP_MS, T0 } from './harness.ts';

const ids = (marks: { id: string }[]) => marks.map(({ id }) => id);

export const orphanCases = {
  'what is being sent is listed in portions, with its attempt': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const first = await bench.sending(domain, 'a@x.test');
    const second = await bench.sending(domain, 'b@x.test');
    await bench.queued(domain, 'waiting@x.test', T0 + 1000);
    const page = await bench.store.queue.listSending([1], null, 1);
    t.strictSame(page, [{ id: first.id, slot: 1, attempt: 1 }]);
    t.strictSame(ids(await bench.store.queue.listSending([1], first.id, 10)), [second.id]);
    t.strictSame(await bench.store.queue.listSending([1], second.id, 10), []);
  },

  'an orphan waits again, for the time that was stored before its attempt': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const { id, lane } = message;
    const notices = await bench.store.queue.returnOrphans([untried(message)], T0 + 500, 'its session is gone');
    t.match(notices, [{ lane, dueAt: T0 + DUE_AGAIN_STEP_MS, domain: 'x.test' }]);
    t.match(await bench.message(id), {
      state: 'deferred',
      attempts: 1,
      ambiguous: true,
      lastReason: 'its session is gone',
    });
    t.strictSame(await bench.store.queue.listSending([1], null, 10), []);
  },

  'one that has moved on is not an orphan': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    const { id } = message;
    const next = untried({ ...message, attempt: 2 });
    t.strictSame(await bench.store.queue.returnOrphans([next], T0, 'gone'), [], 'in another attempt');
    t.equal((await bench.message(id)).state, 'sending');
    await bench.store.queue.record([bench.attempted(message, { to: 'delivered' })]);
    t.strictSame(await bench.store.queue.returnOrphans([untried(message)], T0, 'gone'), [], 'at its end');
    t.equal((await bench.message(id)).state, 'delivered');
  },

  'lanes that are there are not lost, however many': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { lane } = await bench.queued(domain, 'a@x.test');
    await bench.queued(domain, 'a@y.test');
    const last = await bench.queued(domain, 'a@z.test');
    const first = await bench.store.queue.findOrphanLanes(BEFORE_ALL_LANES, 2);
    t.strictSame(first.lanes, []);
    t.ok(first.checkedUpTo! >= lane && first.checkedUpTo! < last.lane);
    t.strictSame(await bench.store.queue.findOrphanLanes(first.checkedUpTo!, 2), { lanes: [], checkedUpTo: null });
  },

  'the waiting messages of a lane are parked, in portions': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const { lanes, receipt } = await bench.accept(domain, ['a@x.test', 'b@x.test', 'c@x.test']);
    const { lane } = lanes[0]!;
    const parked = [
      ...(await bench.store.queue.parkLane(lane, 2, 'damaged')),
      ...(await bench.store.queue.parkLane(lane, 2, 'damaged')),
    ];
    t.strictSame(ids(parked).sort(), receipt.messageIds.toSorted());
    t.match(await bench.message(receipt.messageIds[0]!), {
      state: 'queued',
      parked: true,
      lastReason: 'damaged',
      dueAt: null,
    });
    t.strictSame(await bench.store.queue.parkLane(lane, 2, 'damaged'), []);
    t.equal(await bench.store.queue.countUnsendable(1000), 3);
    t.equal(await bench.store.queue.countUnsendable(2), 2, 'no more than asked for');
  },
};

// Conformance: what is erased when, and what is counted.
import type { Test } from 'tap';
import type { ClaimedMessage } from '../../../src/store/queue.ts';
import { type Bench, countAll, T0 } from './harness.ts';

const DAY = 86_400_000;

export const keepingCases = {
  'finished messages go in slices, with everything that belongs to them; others stay': async (
    t: Test,
    bench: Bench,
  ) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const sent: ClaimedMessage[] = [];
    for (const to of ['a@x.test', 'b@x.test']) sent.push(await bench.sending(domain, to));
    const waiting = await bench.queued(domain, 'c@x.test');
    t.equal(await store.figures.countOpenMessages(), 3);
    const deliver = (message: ClaimedMessage) =>
      bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'));
    await store.queue.record(sent.map(deliver));
    t.equal(await store.figures.countOpenMessages(), 1);

    const before = T0 + DAY;
    t.match(await store.upkeep.eraseContents({ days: null, before: T0, budgetMs: 1000 }), {
      seen: 0,
      erased: 0,
      more: false,
    });
    t.match(await store.upkeep.eraseContents({ days: null, before, budgetMs: 0 }), { seen: 1, erased: 1, more: true });
    t.match(await store.upkeep.eraseContents({ days: null, before, budgetMs: 1000 }), {
      seen: 1,
      erased: 1,
      more: false,
    });
    const contents = bench.openContents();
    for (const { id } of sent) t.equal((await contents.read(id)).kind, 'unreadable');
    t.equal((await contents.read(waiting.id)).kind, 'content');
    contents.close();

    await countAll(store);
    t.match(await store.upkeep.eraseRecords(before, 1000), { erased: 2, more: false });
    for (const { id } of sent) {
      t.equal(await store.queue.getMessage(id), null);
      t.same(await store.events.eventsOfMessage(tenant.id, id), []);
    }
    t.match(await store.queue.getMessage(waiting.id), { state: 'queued' });
  },

  'a tenant can have a time of its own for its contents': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const tenant = await bench.tenant();
    t.equal(await store.upkeep.contentDaysOf(tenant.id), null);
    t.same(await store.upkeep.contentDaysInUse(), []);
    t.equal(await store.upkeep.setContentDays(tenant.id, 0), true);
    t.same(await store.upkeep.contentDaysInUse(), [0]);
    await store.tenants.updateTenant(tenant.id, { name: 'Other' });
    t.equal(await store.upkeep.contentDaysOf(tenant.id), 0, 'other changes leave it');
    t.equal(await store.upkeep.setContentDays(tenant.id, null), true);
    t.same(await store.upkeep.contentDaysInUse(), []);
    t.equal(await store.upkeep.setContentDays(bench.id(), 3), false);
  },
};

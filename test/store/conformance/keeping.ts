// Conformance: what is erased when, and what is counted.
import type { Test } from 'tap';
import type { ClaimedMessage } from '../../../src/store/queue.ts';
import type { RetentionSlice } from '../../../src/store/upkeep.ts';
import { type Bench, countAll, T0 } from './harness.ts';

const DAY = 86_400_000;

export const keepingCases = {
  'finished messages go, with everything that belongs to them; others stay': async (t: Test, bench: Bench) => {
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
    t.match(await store.upkeep.eraseContents({ days: null, before, budgetMs: 1000 }), {
      seen: 2,
      erased: 2,
      more: false,
    });
    t.match(await store.upkeep.eraseContents({ days: null, before, budgetMs: 1000 }), { seen: 0, more: false });
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

  'a thousand messages go in slices, and nothing that the others of their submissions need': async (
    t: Test,
    bench: Bench,
  ) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const names = Array.from({ length: 250 }, (_, n) => n);
    const accepted = await Promise.all(
      names.map((n) =>
        bench.accept(
          domain,
          [0, 1, 2, 3].map((m) => `a${n}-${m}@x.test`),
        ),
      ),
    );
    const waiting = accepted.filter((_, n) => n % 5 === 0).map(({ receipt }) => receipt.messageIds[2]!);
    const claimed = await bench.claim(accepted[0]!.lanes[0]!.lane, T0, 1000);
    const finished = claimed.filter(({ id }) => !waiting.includes(id));
    const deliver = (message: ClaimedMessage) =>
      bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'));
    await store.queue.record(finished.map(deliver));
    await countAll(store);

    const before = T0 + DAY;
    const walk = { days: null, before, budgetMs: 8 };
    t.equal(await erasedBy(() => store.upkeep.eraseContents(walk)), 200);
    t.equal(await erasedBy(() => store.upkeep.eraseRecords(before, 8)), 950);
    t.equal(await store.figures.countOpenMessages(), 50);
    t.same(await store.events.listEvents(tenant.id, { after: null, limit: 10 }), []);
    const contents = bench.openContents();
    for (const id of waiting) {
      t.match(await store.queue.getMessage(id), { state: 'sending', subject: 'Hello' });
      t.equal((await contents.read(id)).kind, 'content');
    }
    contents.close();
    for (const { id } of finished.slice(0, 10)) t.equal(await store.queue.getMessage(id), null);
  },

  'content of mail that finishes after the clock was set back goes, too': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    await store.upkeep.setContentDays(tenant.id, 0);
    const finish = async (to: string, at: number) => {
      const message = await bench.sending(domain, to);
      await store.queue.record([{ ...bench.update(message, { to: 'delivered' }), at }]);
    };
    const erase = (before: number) => erasedBy(() => store.upkeep.eraseContents({ days: 0, before, budgetMs: 1000 }));
    const ahead = T0 + DAY;
    await finish('ahead@x.test', ahead);
    t.equal(await erase(ahead + 1000), 1);
    await finish('corrected@x.test', T0 + 1000);
    t.equal(await erase(T0 + 60_000), 1, 'before the first walk with the right time');

    await finish('ahead@y.test', ahead + 2000);
    t.equal(await erase(ahead + 3000), 1);
    t.equal(await erase(T0 + 120_000), 0);
    await finish('a-day-later@x.test', ahead + 1500);
    t.equal(await erase(ahead + 4000), 1, 'before the time that the clock had shown');
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

async function erasedBy(slice: () => Promise<RetentionSlice>): Promise<number> {
  let erased = 0;
  for (let more = true; more; ) {
    const done = await slice();
    erased += done.erased;
    more = done.more;
  }
  return erased;
}

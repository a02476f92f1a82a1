// Conformance: when domains are looked at again, what is erased when, and what is counted.
import type { Test } from 'tap';
import type { ClaimedMessage } from '../../../src/store/queue.ts';
import { type Bench, countAll, T0 } from './harness.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

export const keepingCases = {
  'a domain is due ten minutes after creation or a failed call, a day after a good one, and never once revoked': async (
    t: Test,
    bench: Bench,
  ) => {
    const { store } = bench;
    const tenant = await bench.tenant();
    const { id } = await bench.pendingDomain(tenant.id, 'acme.test');
    const dueAt = async (now: number) => (await store.domains.dueRechecks(now, 10)).map(({ domain }) => domain.name);
    t.same(await dueAt(T0 + 10 * MINUTE - 1), []);
    t.same(await dueAt(T0 + 10 * MINUTE), ['acme.test']);
    await store.domains.postponeRecheck(bench.id(), id, T0 + DAY);
    t.same(await dueAt(T0 + 10 * MINUTE), ['acme.test'], 'another tenant changes nothing');
    await store.domains.postponeRecheck(tenant.id, id, T0 + 20 * MINUTE);
    t.same(await dueAt(T0 + 20 * MINUTE - 1), []);
    await store.domains.recordVerdict(tenant.id, id, {
      state: 'failed',
      failureReason: 'not_found',
      checkedAt: T0 + DAY,
    });
    t.same(await dueAt(T0 + DAY + 10 * MINUTE - 1), []);
    t.match(await store.domains.dueRechecks(T0 + DAY + 10 * MINUTE, 10), [{ since: T0 + DAY, checks: 0, misses: 0 }]);
    await store.domains.recordVerdict(tenant.id, id, { state: 'verified', failureReason: null, checkedAt: T0 + DAY });
    t.same(await dueAt(T0 + 2 * DAY - 1), []);
    t.same(await dueAt(T0 + 2 * DAY), ['acme.test']);
    await store.domains.revokeDomain(tenant.id, id);
    t.same(await dueAt(T0 + 100 * DAY), []);
  },

  'what a look has found is written down, unless the domain has changed meanwhile': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const note = { at: T0 + DAY, nextAt: T0 + 2 * DAY, misses: 1, firstMissAt: T0 + DAY, failsWith: null };
    t.equal(await store.domains.recordRecheck(domain, note), true);
    t.match(await store.domains.getDomain(tenant.id, domain.id), { state: 'verified', lastCheckedAt: T0 + DAY });
    t.match(await store.domains.dueRechecks(T0 + 2 * DAY, 10), [{ checks: 1, misses: 1, firstMissAt: T0 + DAY }]);
    t.equal(await store.domains.recordRecheck(domain, note), false, 'it was read before the last look');
    const seen = (await store.domains.getDomain(tenant.id, domain.id))!;
    const end = { ...note, at: T0 + 3 * DAY, nextAt: null, failsWith: 'not_found' };
    t.equal(await store.domains.recordRecheck({ ...seen, tenantId: bench.id() }, end), false, 'of another tenant');
    t.equal(await store.domains.recordRecheck(seen, end), true);
    const failed = { state: 'failed', failureReason: 'not_found', verifiedAt: null, lastCheckedAt: T0 + 3 * DAY };
    t.match(await store.domains.getDomain(tenant.id, domain.id), failed);
    t.equal(await store.domains.findVerifiedDomain(tenant.id, 'acme.test'), null, 'nothing is sent from it any more');
    t.same(await store.domains.dueRechecks(T0 + 100 * DAY, 10), [], 'without a next time it is not due');
  },

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

// Conformance: sums for charts are what a plain count finds, each fact once, whatever interrupts the count.
import type { Test } from 'tap';
import type { Domain } from '../../../src/store/domains.ts';
import type { EventType } from '../../../src/store/events.ts';
import {
  type Figures,
  noFigures,
  OTHER_PROVIDERS,
  PROVIDERS_PER_HOUR,
  type Tally,
  UNKNOWN_PROVIDER,
} from '../../../src/store/figures.ts';
import { type Bench, countAll, T0 } from './harness.ts';
import { newHits, UNSUSPICIOUS } from './tracking.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const HOUR0 = T0 / HOUR;
const ALWAYS = { fromHour: 0, untilHour: HOUR0 + 10_000 };

export const chartFigureCases = {
  'accepted messages and all kinds of events are counted by hour and provider': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    await store.shaping.noteDomains([{ domain: 'x.test', mxGroup: 'google', at: T0 }], T0);
    await bench.accept(domain, ['a@x.test', 'b@x.test', 'c@y.test']);
    await bench.accept(domain, ['d@x.test'], { acceptedAt: T0 + HOUR });
    const told = async (type: EventType, data: Record<string, unknown>, at = T0) =>
      tell(bench, domain, { type, data, at });
    await told('email.delivered', {});
    await told('email.deferred', {}, T0 + HOUR - 1);
    await told('email.failed', { bounce: { type: 'soft' } }, T0 + HOUR);
    for (const type of ['hard', 'soft', 'block']) await told('email.bounced', { bounce: { type, source: 'smtp' } });
    await told('email.bounced', { bounce: { type: 'soft', source: 'dsn' } });
    await told('email.complained', {});
    await told('email.opened', { open: { first: true, machine: false } });
    await told('email.opened', { open: { first: true, machine: true } });
    await told('email.opened', { open: { first: false, machine: false } });
    await told('email.clicked', { click: { first: true } });
    await told('email.clicked', { click: { first: false } });
    await countAll(store);

    const points = await store.figures.chartOf(tenant.id, { ...ALWAYS, stepHours: 1 });
    const told13 = { delivered: 1, deferred: 1, bouncedHard: 1, bouncedSoft: 2, bouncedBlock: 1, complained: 1 };
    const followed = { opened: 2, openedByMachine: 1, clicked: 1 };
    const atFirst = figures({ accepted: 3 + 13, ...told13, ...followed });
    t.same(points, [
      { hour: HOUR0, figures: atFirst },
      { hour: HOUR0 + 1, figures: figures({ accepted: 1, failed: 1 }) },
    ]);
    const both = (await store.figures.chartOf(tenant.id, { ...ALWAYS, stepHours: 24 }))[0];
    t.same(both, { hour: HOUR0, figures: { ...atFirst, accepted: 17, failed: 1 } }, 'hours add up to days');
    t.match(await store.figures.providersOf(tenant.id, ALWAYS), [
      { provider: 'google', figures: { accepted: 0, delivered: 1, bouncedHard: 1, complained: 1 } },
      { provider: UNKNOWN_PROVIDER, figures: { accepted: 17, delivered: 0 } },
    ]);
    const lastHour = { fromHour: HOUR0 + 1, untilHour: HOUR0 + 2 };
    t.match(await store.figures.providersOf(tenant.id, lastHour), [
      { provider: 'google', figures: { failed: 1 } },
      { provider: UNKNOWN_PROVIDER, figures: { accepted: 1 } },
    ]);
    t.same(await store.figures.chartOf(bench.id(), { ...ALWAYS, stepHours: 1 }), [], 'of nobody else');
  },

  'accepted messages are counted at once, and only those': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.sender('beta.test');
    const once = bench.submission(domain, ['a@x.test', 'b@x.test'], { idempotencyKey: 'once' });
    await Promise.all([store.submissions.accept(once), bench.accept(other.domain, ['a@x.test'])]);
    t.match(await store.submissions.accept({ ...once, id: bench.id() }), { kind: 'replayed' });
    const suppressed = { address: 'c@x.test', reason: 'manual', messageId: null, createdAt: T0 } as const;
    await store.suppressions.addSuppression(tenant.id, suppressed);
    await bench.accept(domain, ['c@x.test', 'd@x.test']);
    t.match(await store.submissions.accept(bench.submission(domain, ['c@x.test'])), { kind: 'all_suppressed' });
    t.match(await total(bench, tenant.id), { accepted: 3 });
    t.match(await total(bench, other.tenant.id), { accepted: 1 });
    t.match(await store.figures.tallyNext(10), { counted: 0, more: false, sums: [] as Tally['sums'] });
  },

  'a tally is added once, and only from where the count stands': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    for (const at of [T0, T0 + HOUR]) await tell(bench, domain, { type: 'email.delivered', data: {}, at });
    const first = await store.figures.tallyNext(100);
    t.match(first, { counted: 2, more: false });
    t.same(await store.figures.tallyNext(100), first, 'counting alone changes nothing');
    const twice = await Promise.all([store.figures.addTally(first), store.figures.addTally(first)]);
    t.same(twice, [true, false], 'as of two that counted at the same time');
    t.equal(
      await store.figures.addTally({ ...first, from: first.to + 5, to: first.to + 6 }),
      false,
      'nothing is left out',
    );
    t.equal((await total(bench, tenant.id)).delivered, 2);
    const rest = await store.figures.tallyNext(100);
    t.match(rest, { from: first.to, to: first.to, counted: 0, sums: [] as Tally['sums'] });
  },

  'slices follow each other, and together are a plain count': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.sender('beta.test');
    for (let n = 0; n < 7; n++) {
      await tell(bench, domain, { type: 'email.opened', data: { open: { first: true, machine: n > 3 } }, at: T0 });
      await tell(bench, other.domain, { type: 'email.delivered', data: {}, at: T0 + n * HOUR });
    }
    const slices: number[] = [];
    for (let more = true; more; ) {
      const tally = await store.figures.tallyNext(3);
      slices.push(tally.counted);
      t.equal(await store.figures.addTally(tally), true);
      more = tally.more;
    }
    t.same(slices, [3, 3, 3, 3, 2]);
    t.match(await total(bench, tenant.id), { accepted: 7, delivered: 0, opened: 7, openedByMachine: 3 });
    t.match(await total(bench, other.tenant.id), { accepted: 7, delivered: 7 });
  },

  'what is committed late, with an older time, is counted as well': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    await tell(bench, domain, { type: 'email.delivered', data: {}, at: T0 });
    await countAll(store);
    await tell(bench, domain, { type: 'email.delivered', data: {}, at: T0 - 5 * HOUR });
    await bench.accept(domain, ['a@x.test'], { acceptedAt: T0 - 5 * HOUR });
    await countAll(store);
    t.match(await total(bench, tenant.id), { accepted: 3, delivered: 2 });
    t.match(await store.figures.chartOf(tenant.id, { ...ALWAYS, stepHours: 1 }), [
      { hour: HOUR0 - 5, figures: { accepted: 1, delivered: 1 } },
      { hour: HOUR0, figures: { accepted: 2, delivered: 1 } },
    ]);
  },

  'damaged and unknown events are passed over': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    await tell(bench, domain, { type: 'email.bounced', data: {}, at: T0 });
    await tell(bench, domain, { type: 'email.opened', data: {}, at: T0 });
    await tell(bench, domain, { type: 'email.delivered', data: {}, at: T0 });
    await countAll(store);
    const counted = await total(bench, tenant.id);
    t.match(counted, { bouncedHard: 0, bouncedSoft: 1, opened: 0, delivered: 1 }, 'a bounce is a bounce');
  },

  'of one hour only so many providers are told apart, and none is lost': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const domains = Array.from({ length: PROVIDERS_PER_HOUR + 3 }, (_, n) => `x${n}.test`);
    await store.shaping.noteDomains(
      domains.map((name) => ({ domain: name, mxGroup: `mx.${name}`, at: T0 })),
      T0,
    );
    const deliver = (to: string, at = T0) => tell(bench, domain, { type: 'email.delivered', data: {}, at, to });
    for (const name of domains.slice(0, -1)) await deliver(`a@${name}`);
    await countAll(store, 1);
    for (const name of [domains[0], domains.at(-1), 'nobody.test']) await deliver(`b@${name}`);
    await deliver(`b@${domains.at(-1)}`, T0 + HOUR);
    await countAll(store);
    const providers = await store.figures.providersOf(tenant.id, { fromHour: HOUR0, untilHour: HOUR0 + 1 });
    const count = (name: string) => providers.find(({ provider }) => provider === name)?.figures.delivered;
    t.equal(providers.length, PROVIDERS_PER_HOUR + 2);
    t.equal(count(OTHER_PROVIDERS), 3);
    t.equal(count(UNKNOWN_PROVIDER), 1, 'which takes no place');
    t.equal(count('mx.x0.test'), 2, 'who has a place keeps it');
    const most = providers.slice(0, 2).map(({ provider }) => provider);
    t.same(most, [OTHER_PROVIDERS, 'mx.x0.test'], 'by what has ended, not by what was accepted');
    t.match(await store.figures.providersOf(tenant.id, { fromHour: HOUR0 + 1, untilHour: HOUR0 + 2 }), [
      { provider: `mx.${domains.at(-1)}`, figures: { delivered: 1 } },
    ]);
    t.equal((await total(bench, tenant.id)).delivered, PROVIDERS_PER_HOUR + 6);
  },

  'one tally of many providers keeps to their number': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const domains = Array.from({ length: PROVIDERS_PER_HOUR + 5 }, (_, n) => `x${n}.test`);
    await store.shaping.noteDomains(
      domains.map((name) => ({ domain: name, mxGroup: `mx.${name}`, at: T0 })),
      T0,
    );
    for (const name of domains) await tell(bench, domain, { type: 'email.failed', data: {}, at: T0, to: `a@${name}` });
    const tally = await store.figures.tallyNext(1000);
    const unchanged = structuredClone(tally);
    await store.figures.addTally(tally);
    t.same(tally, unchanged);
    const providers = await store.figures.providersOf(tenant.id, ALWAYS);
    t.match(providers[0], { provider: OTHER_PROVIDERS, figures: { failed: 5 } });
    t.equal(providers.length, PROVIDERS_PER_HOUR + 2);
  },

  'sums of old hours are forgotten in slices': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    for (let n = 0; n < 4; n++) await bench.accept(domain, ['a@x.test'], { acceptedAt: T0 + n * HOUR });
    t.equal(await store.figures.forgetFigures(HOUR0 + 3, 2), 2);
    t.equal(await store.figures.forgetFigures(HOUR0 + 3, 2), 1);
    t.equal(await store.figures.forgetFigures(HOUR0 + 3, 2), 0);
    t.equal((await total(bench, tenant.id)).accepted, 1);
  },

  'nothing is erased that has not been counted': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    await store.queue.record([bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'))]);
    const erase = () => store.upkeep.eraseRecords(T0 + DAY, 1000);
    t.match(await erase(), { erased: 0, more: false }, 'its event is not counted');
    await countAll(store);
    const links = [newHits(bench, { link: null, firstAt: T0 + HOUR })];
    await store.tracking.recordHits([{ tenantId: tenant.id, messageId: message.id, links }], UNSUSPICIOUS);
    t.match(await erase(), { erased: 0 }, 'there is a new event');
    await countAll(store);
    t.match(await erase(), { erased: 1, more: false });
    t.match(await total(bench, tenant.id), { accepted: 1, delivered: 1, opened: 1 }, 'the sums stay');
  },
};

/** One message, and one event of it. */
async function tell(
  bench: Bench,
  domain: Domain,
  { type, data, at, to = 'a@x.test' }: { type: EventType; data: Record<string, unknown>; at: number; to?: string },
): Promise<void> {
  const { receipt } = await bench.accept(domain, [to]);
  const message = (await bench.store.queue.findWaiting(receipt.messageIds[0]!))!;
  const event = { ...bench.event(type, data), at };
  await bench.store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { event }));
}

async function total(bench: Bench, tenantId: string): Promise<Figures> {
  const sum = noFigures();
  for (const { figures } of await bench.store.figures.providersOf(tenantId, ALWAYS)) {
    for (const name of Object.keys(sum) as (keyof Figures)[]) sum[name] += figures[name];
  }
  return sum;
}

function figures(some: Partial<Figures>): Figures {
  return { ...noFigures(), ...some };
}

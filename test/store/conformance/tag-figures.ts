// Conformance: sums by tag: each fact once, by hour and by day, and of a day only so many tags.
import type { Test } from 'tap';
import { deliveredEvent } from '../../../src/events/delivery-events.ts';
import type { Domain } from '../../../src/store/domains.ts';
import type { EventType } from '../../../src/store/events.ts';
import { type Figures, noFigures, TAGS_PER_DAY, TAGS_PER_NAME } from '../../../src/store/figures.ts';
import type { Tag } from '../../../src/store/submissions.ts';
import { type Bench, countAll, T0 } from './harness.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The first hour of a day. */
const HOUR0 = T0 / HOUR;
const TODAY = { fromHour: HOUR0, untilHour: HOUR0 + 24 };
const LIMIT = 1000;
const SPRING = { name: 'campaign', value: 'spring' };

type Tags = Record<string, string>;

/** What JSON has escapes for that other texts can't hold, and what only looks like one. */
const ODD = 'zero \0\0, half a pair \ud83d, a backslash \\u0000 \\\\';

export const tagFigureCases = {
  'what tenants write beside tags is in the way of no count': async (t: Test, bench: Bench) => {
    const { store } = bench;
    const { tenant, domain } = await bench.sender('acme.test');
    const tags = { campaign: 'spring' };
    const labels = { tags, metadata: { [ODD]: ODD } };
    const { receipt, lanes } = await bench.accept(domain, ['a@x.test'], { labels });
    const [message] = await bench.claim(lanes[0]!.lane, T0);
    const update = bench.attempted(message!, { to: 'delivered' });
    const { peer, attempt } = update.attempt!;
    const reply = { ...peer, response: `250 ${ODD.replace('\ud83d', '')}` };
    const event = deliveredEvent(bench.event('email.delivered'), message!, { peer: reply, attempt });
    await store.queue.record([{ ...update, attempt: { ...update.attempt!, peer: reply }, event }]);
    await countAll(store);
    const [point] = (await chart(bench, tenant.id, SPRING)).points;
    t.match(point, { figures: { accepted: 1, delivered: 1 } });
    const [hour] = await store.figures.chartOf(tenant.id, { ...TODAY, stepHours: 1 });
    t.match(hour, { figures: { accepted: 1, delivered: 1 } });
    const id = receipt.messageIds[0]!;
    t.match(await bench.message(id), { labels, attemptList: [{ peer: { response: reply.response } }] });
    const [told] = await store.events.eventsOfMessage(tenant.id, id);
    t.match(told!.data, { metadata: { [ODD]: ODD } });
    const search = { tag: SPRING, limit: 10, budgetMs: 60_000 };
    t.match(await bench.reads().searchMessages(tenant.id, search), { value: { messages: [{ id }] } });
  },

  'what was accepted and what happened, by hour and by day': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const tags = { campaign: 'spring', kind: 'news' };
    await accept(bench, domain, tags, { to: ['a@x.test', 'b@x.test'] });
    await accept(bench, domain, { campaign: 'spring' }, { at: T0 + HOUR });
    await accept(bench, domain, { campaign: 'spring' }, { at: T0 + DAY });
    await bench.accept(domain, ['plain@x.test'], { labels: { tags: null, metadata: { campaign: 'spring' } } });
    await tell(bench, domain, { type: 'email.delivered', tags });
    await tell(bench, domain, { type: 'email.bounced', tags, part: { bounce: { type: 'hard' } }, at: T0 + HOUR });
    await tell(bench, domain, { type: 'email.opened', tags, part: { open: { first: true, machine: true } } });
    await tell(bench, domain, { type: 'email.opened', tags, part: { open: { first: false } } });
    await tell(bench, domain, { type: 'email.delivered', tags: { kind: 'other' } });
    await tell(bench, domain, { type: 'email.delivered', tags: null });
    await countAll(bench.store);
    t.same(await chart(bench, tenant.id, SPRING), {
      complete: true,
      points: [
        { hour: HOUR0, figures: sums({ accepted: 2, delivered: 1, opened: 1, openedByMachine: 1 }) },
        { hour: HOUR0 + 1, figures: sums({ accepted: 1, bouncedHard: 1 }) },
      ],
    });
    const days = { fromHour: HOUR0, untilHour: HOUR0 + 72, stepHours: 24 as const };
    const { points } = await bench.store.figures.tagChartOf(tenant.id, { tag: SPRING, ...days });
    const first = { accepted: 3, delivered: 1, bouncedHard: 1, opened: 1, openedByMachine: 1 };
    t.same(points, [
      { hour: HOUR0, figures: sums(first) },
      { hour: HOUR0 + 24, figures: sums({ accepted: 1 }) },
    ]);
    const { tags: found, complete } = await bench.store.figures.tagsOf(tenant.id, { ...TODAY, limit: LIMIT });
    t.same(
      found.map(({ tag }) => tag),
      ['campaign:spring', 'kind:news', 'kind:other'],
      'most first',
    );
    t.match(found[0], { figures: { accepted: 3, delivered: 1 } });
    t.equal((await bench.store.figures.tagsOf(tenant.id, { ...TODAY, limit: 2 })).tags.length, 2);
    t.equal(complete, true);
    const oneHour = await bench.store.figures.tagsOf(tenant.id, {
      fromHour: HOUR0 + 1,
      untilHour: HOUR0 + 2,
      limit: LIMIT,
    });
    t.match(oneHour.tags, [{ tag: 'campaign:spring', figures: { accepted: 1 } }, { tag: 'kind:news' }]);
    t.match(await chart(bench, bench.id(), SPRING), { points: [], complete: true }, 'of nobody else');
  },

  'slices of any size add up to the same, and each is added once': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    for (let n = 0; n < 7; n++) {
      await accept(bench, domain, { campaign: 'spring', run: `r${n % 2}` });
      await tell(bench, domain, { type: 'email.delivered', tags: { campaign: 'spring' } });
    }
    const { figures } = bench.store;
    const first = await figures.tallyNext(3);
    t.equal(first.more, true);
    t.same(await Promise.all([figures.addTally(first), figures.addTally(first)]), [true, false]);
    const onlyEvents = { ...(await figures.tallyNext(3)), tags: first.tags };
    t.equal(await figures.addTally(onlyEvents), false, 'nor are submissions counted again');
    await countAll(bench.store, 2);
    t.match((await chart(bench, tenant.id, SPRING)).points, [{ figures: { accepted: 7, delivered: 7 } }]);
    const run = await chart(bench, tenant.id, { name: 'run', value: 'r1' });
    t.match(run.points, [{ figures: { accepted: 3, delivered: 0 } }]);
    t.match(await figures.tallyNext(3), { counted: 0, more: false, tags: { sums: { length: 0 } } });
  },

  'a day has room for the first tags, and one name can take a part of it': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const other = await bench.sender('other.test');
    const order = (n: number) => ({ name: 'order', value: `o${n}` });
    for (let n = 0; n < TAGS_PER_NAME - 1; n++) await accept(bench, domain, { order: `o${n}` });
    await countAll(bench.store);
    t.equal((await chart(bench, tenant.id, order(1000))).complete, true, 'there is room');
    for (let n = TAGS_PER_NAME - 1; n < TAGS_PER_NAME + 3; n++) await accept(bench, domain, { order: `o${n}` });
    await accept(bench, domain, { order: 'o0', campaign: 'spring' });
    await countAll(bench.store);
    t.match(await chart(bench, tenant.id, order(0)), { points: [{ figures: { accepted: 2 } }], complete: true });
    t.equal((await chart(bench, tenant.id, order(TAGS_PER_NAME - 1))).points.length, 1, 'the last that had room');
    t.match(await chart(bench, tenant.id, order(TAGS_PER_NAME)), { points: [], complete: false });
    t.match(await chart(bench, tenant.id, SPRING), { points: [{ figures: { accepted: 1 } }], complete: true });
    t.match(await chart(bench, tenant.id, { name: 'orde', value: 'r' }), { complete: true }, 'another name');
    t.equal((await bench.store.figures.tagsOf(tenant.id, { ...TODAY, limit: LIMIT })).complete, false);

    for (let n = 0; n < TAGS_PER_DAY; n++) await accept(bench, domain, { [`n${n}`]: 'v' });
    await countAll(bench.store, 10);
    const { tags } = await bench.store.figures.tagsOf(tenant.id, { ...TODAY, limit: LIMIT });
    t.equal(tags.length, TAGS_PER_DAY);
    t.match(await chart(bench, tenant.id, { name: 'late', value: 'v' }), { points: [], complete: false });
    await accept(bench, other.domain, { late: 'v' });
    await accept(bench, domain, { late: 'v' }, { at: T0 + DAY });
    await countAll(bench.store);
    t.match(await chart(bench, other.tenant.id, { name: 'late', value: 'v' }), { points: [{}], complete: true });
    const tomorrow = { fromHour: HOUR0 + 24, untilHour: HOUR0 + 48, stepHours: 24 as const };
    const late = { tag: { name: 'late', value: 'v' }, ...tomorrow };
    t.match(await bench.store.figures.tagChartOf(tenant.id, late), { points: [{}], complete: true });
  },

  'a slice with new tags of many tenants is a smaller one': async (t: Test, bench: Bench) => {
    for (let n = 0; n < 15; n++) {
      const { domain } = await bench.sender(`d${n}.test`);
      for (let at = 0; at < 10; at++) {
        await accept(bench, domain, Object.fromEntries(Array.from({ length: 10 }, (_, tag) => [`n${tag}`, `v${at}`])));
      }
    }
    const tally = await bench.store.figures.tallyNext(1000);
    t.equal(tally.tags.sums.length, 1000);
    t.equal(tally.more, true);
    t.equal(await bench.store.figures.addTally(tally), true);
    t.match(await bench.store.figures.tallyNext(1000), { more: false, tags: { sums: { length: 500 } } });
  },

  'one slice of too many tags keeps to the room of the day': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    for (let n = 0; n < 30; n++) await accept(bench, domain, { a: `v${n}`, b: `v${n}`, c: `v${n}`, d: `v${n}` });
    await countAll(bench.store);
    const { tags, complete } = await bench.store.figures.tagsOf(tenant.id, { ...TODAY, limit: LIMIT });
    t.equal(tags.length, TAGS_PER_DAY);
    t.equal(complete, false);
  },

  'sums of old hours and of old days are forgotten in slices': async (t: Test, bench: Bench) => {
    const { figures } = bench.store;
    const { tenant, domain } = await bench.sender('acme.test');
    for (const at of [T0, T0 + HOUR, T0 + DAY]) await accept(bench, domain, { campaign: 'spring' }, { at });
    await countAll(bench.store);
    t.equal(await figures.forgetTagFigures({ hours: HOUR0 + 2, days: 0 }, 1), 1);
    t.equal(await figures.forgetTagFigures({ hours: HOUR0 + 2, days: 0 }, 10), 1);
    t.match(await chart(bench, tenant.id, SPRING), { points: [] });
    const days = { tag: SPRING, fromHour: HOUR0, untilHour: HOUR0 + 48, stepHours: 24 as const };
    t.match((await figures.tagChartOf(tenant.id, days)).points, [{ figures: { accepted: 2 } }, {}]);
    t.equal(await figures.forgetTagFigures({ hours: HOUR0 + 48, days: HOUR0 + 24 }, 10), 2, 'an hour and a day');
    t.match((await figures.tagChartOf(tenant.id, days)).points, [{ hour: HOUR0 + 24 }]);
  },

  'nothing with tags is erased that has not been counted': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const { receipt } = await accept(bench, domain, { campaign: 'spring' });
    const message = (await bench.store.queue.findWaiting(receipt.messageIds[0]!))!;
    await bench.store.queue.endWaiting(bench.update(message, { to: 'delivered' }));
    const erase = () => bench.store.upkeep.eraseRecords(T0 + DAY, 1000);
    t.match(await erase(), { erased: 0, more: false });
    await countAll(bench.store);
    t.match(await erase(), { erased: 1 });
    t.match((await chart(bench, tenant.id, SPRING)).points, [{ figures: { accepted: 1 } }], 'the sums stay');
  },
};

function accept(bench: Bench, domain: Domain, tags: Tags, { at = T0, to = ['a@x.test'] } = {}) {
  return bench.accept(domain, to, { labels: { tags, metadata: null }, acceptedAt: at });
}

interface Told {
  type: EventType;
  tags: Tags | null;
  part?: Record<string, unknown>;
  at?: number;
}

/** One message, and one event of it. */
async function tell(bench: Bench, domain: Domain, { type, tags, part = {}, at = T0 }: Told): Promise<void> {
  const { receipt } = await bench.accept(domain, ['a@x.test']);
  const message = (await bench.store.queue.findWaiting(receipt.messageIds[0]!))!;
  const event = { ...bench.event(type, { subject: '"tags":', ...(tags && { tags }), ...part }), at };
  await bench.store.queue.endWaiting(bench.update(message, { to: 'delivered' }, { event }));
}

function chart(bench: Bench, tenantId: string, tag: Tag) {
  return bench.store.figures.tagChartOf(tenantId, { tag, ...TODAY, stepHours: 1 });
}

function sums(some: Partial<Figures>): Figures {
  return { ...noFigures(), ...some };
}

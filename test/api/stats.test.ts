// The figures of a tenant over the API: the sums of charts by hour and day, the span, and what is refused.
import t from 'tap';
import { statsEndpoints } from '../../src/api/endpoints/stats-endpoints.ts';
import { DAY_MS, HOUR_MS } from '../../src/base/clock.ts';
import { isRefusal } from '../../src/base/refusals.ts';
import { noFigures, UNKNOWN_PROVIDER } from '../../src/store/figures.ts';
import { startApiHarness } from '../support/api-harness.ts';

/** 13:20 UTC. */
const NOW = Date.parse('2026-11-20T13:20:00Z');
const api = await startApiHarness({ clock: { now: () => NOW } });
t.teardown(() => api.close());
const tenant = await api.addTenant();
const other = await api.addTenant();

async function count(tenantId: string, at: string, figures: Partial<ReturnType<typeof noFigures>>, provider = 'mx') {
  const tally = await api.store.figures.tallyNext(1);
  const hour = Date.parse(at) / HOUR_MS;
  const sums = [{ tenantId, hour, provider, figures: { ...noFigures(), ...figures } }];
  await api.store.figures.addTally({ ...tally, to: tally.from, sums, counted: 0, more: false });
}

await count(tenant.id, '2026-11-20T13:00:00Z', { delivered: 3, bouncedHard: 1, opened: 2, openedByMachine: 1 });
await count(tenant.id, '2026-11-20T13:00:00Z', { delivered: 4 }, UNKNOWN_PROVIDER);
await count(tenant.id, '2026-11-20T00:00:00Z', { delivered: 10, bouncedLater: 1 });
await count(tenant.id, '2026-11-19T23:00:00Z', { delivered: 100 });
await count(tenant.id, '2026-10-22T00:00:00Z', { delivered: 1000 });
await count(other.id, '2026-11-20T13:00:00Z', { delivered: 7 });

async function stats(query: string, { key } = tenant) {
  return api.call('GET', `/stats${query}`, { key });
}

t.test('by hour, to the current one', async (t) => {
  const { body } = await stats('?by=hour');
  t.match(body, { from: '2026-11-19T14:00:00.000Z', to: '2026-11-20T14:00:00.000Z', by: 'hour' });
  t.equal(body.steps.length, 24);
  t.same(body.steps.at(-1), {
    ...{ start: '2026-11-20T13:00:00.000Z', accepted: 0, delivered: 7, deferred: 0, bounced_hard: 1, bounced_soft: 0 },
    ...{ bounced_block: 0, bounced_later: 0, failed: 0, canceled: 0, complained: 0 },
    ...{ opened: 2, opened_by_machine: 1, clicked: 0 },
  });
  t.match(body.steps[0], { start: '2026-11-19T14:00:00.000Z', delivered: 0 }, 'hours without anything are there');
  t.match(body.total, { delivered: 117, bounced_hard: 1, bounced_later: 1, opened: 2 });
});

t.test('by day, in UTC', async (t) => {
  const { body } = await stats('');
  t.match(body, { from: '2026-10-22T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z', by: 'day' });
  t.equal(body.steps.length, 30);
  const days = body.steps.filter(({ delivered }: { delivered: number }) => delivered > 0);
  t.match(days, [
    { start: '2026-10-22T00:00:00.000Z', delivered: 1000 },
    { start: '2026-11-19T00:00:00.000Z', delivered: 100 },
    { start: '2026-11-20T00:00:00.000Z', delivered: 17 },
  ]);
  t.equal(days.length, 3);
  t.match((await stats('', other)).body.total, { delivered: 7 });
});

t.test('a span is widened to whole steps', async (t) => {
  const spans: [query: string, from: string, to: string][] = [
    ['from=2026-11-19&to=2026-11-20', '2026-11-19T00:00', '2026-11-20T00:00'],
    ['from=2026-11-19T12:00:00Z&to=2026-11-20T00:00:00.001Z', '2026-11-19T00:00', '2026-11-21T00:00'],
    ['from=2026-11-20T00:30:00%2B02:00&to=2026-11-20&by=hour', '2026-11-19T22:00', '2026-11-20T00:00'],
    ['from=2024-02-29&to=2024-03-01', '2024-02-29T00:00', '2024-03-01T00:00'],
    ['from=&to=2026-11-20&by=', '2026-10-21T00:00', '2026-11-20T00:00'],
    ['from=2026-10-21&to=2026-11-21&by=hour', '2026-10-21T00:00', '2026-11-21T00:00'],
    [`from=${new Date(Date.parse('2026-11-21') - 400 * DAY_MS).toISOString()}`, '2025-10-17T00:00', '2026-11-21T00:00'],
  ];
  for (const [query, from, to] of spans) {
    t.match((await stats(`?${query}`)).body, { from: `${from}:00.000Z`, to: `${to}:00.000Z` }, query);
  }
});

t.test('of the messages with a tag', async (t) => {
  const { figures } = api.store;
  const sum = (hour: string, value: string, delivered: number) => ({
    ...{ tenantId: tenant.id, hour: Date.parse(hour) / HOUR_MS, tag: `run:${value}` },
    figures: { accepted: delivered, delivered },
  });
  const addTags = async (sums: ReturnType<typeof sum>[]) => {
    const tally = await figures.tallyNext(1);
    await figures.addTally({ ...tally, to: tally.from, sums: [], tags: { ...tally.tags, sums } });
  };
  await addTags([sum('2026-11-20T13:00:00Z', 'one', 5), sum('2026-11-20T13:00:00Z', 'two', 50)]);
  await addTags([sum('2026-11-19T23:00:00Z', 'one', 7), sum('2026-11-20T02:00:00Z', 'one', 3)]);
  const { body: byDay } = await stats('?tag=run:one');
  t.same(Object.keys(byDay), ['from', 'to', 'by', 'tag', 'complete', 'total', 'steps']);
  t.match(byDay, { by: 'day', tag: 'run:one', complete: true, total: { accepted: 15, delivered: 15, failed: 0 } });
  t.match(byDay.steps.slice(-2), [{ delivered: 7 }, { delivered: 8 }]);
  t.equal(byDay.steps.length, 30);
  const { body: byHour } = await stats('?tag=run:one&by=hour&from=2026-11-20');
  t.match(byHour.total, { delivered: 8 });
  t.match(byHour.steps[2], { start: '2026-11-20T02:00:00.000Z', delivered: 3 });
  t.match((await stats('?tag=run:three')).body, { complete: true, total: { accepted: 0 } });
  t.match((await stats('?tag=run:one', other)).body.total, { accepted: 0 });
  t.notOk('tag' in (await stats('?tag=')).body, 'an empty one is none');
  t.equal((await stats('?tag=run:one&by=hour&from=2026-10-19T14:00:00Z&to=2026-11-01')).status, 200, '32 days ago');

  await addTags(Array.from({ length: 48 }, (_, n) => sum('2026-11-20T13:00:00Z', `many${n}`, 1)));
  t.match((await stats('?tag=run:many59')).body, { complete: false, total: { accepted: 0 } }, 'the day had too many');
  t.match((await stats('?tag=run:many59&from=2026-11-01&to=2026-11-20')).body, { complete: true }, 'not those before');
  t.match((await stats('?tag=run:one')).body, { complete: true });
});

t.test('what is refused', async (t) => {
  const cases: [query: string, message: RegExp][] = [
    ['by=week', /^by: must be one of hour, day\.$/],
    ['from=yesterday', /^from: must be an RFC 3339 time, like/],
    ['to=2026-13-01', /^to: must be an RFC 3339 time/],
    ['from=2026-02-29', /^from: must be an RFC 3339 time/],
    ['from=2026-11-20T25:00:00Z', /^from: must be an RFC 3339 time/],
    ['from=2026-11-20T09:00:00', /^from: must be an RFC 3339 time/],
    ['from=1763629200', /^from: must be an RFC 3339 time/],
    ['from=2026-11-20&to=2026-11-20', /^from: must be before to\.$/],
    ['from=2026-11-21', /^from: must be before to\.$/],
    ['from=2026-10-20&to=2026-11-21&by=hour', /^from: must be at most 31 days before to when by is hour\.$/],
    ['from=2025-10-16', /^from: must be at most 400 days before to when by is day\.$/],
    ['tag=order', /^tag: must be the name and value of a tag, like campaign:spring\.$/],
    ['tag=a:b&tag=c:d', /^tag: must be given only once\.$/],
    ['tags=a:b', /^tags: unknown parameter\.$/],
    ['tag=a:b&by=hour&from=2026-10-18T23:59:59Z&to=2026-10-20', /^from: must be at most 32 days ago when by is hour/],
    ['by=day&by=hour', /^by: must be given only once\.$/],
  ];
  for (const [query, message] of cases) {
    t.match(await stats(`?${query}`), { status: 400, body: { error: 'validation_failed', message } }, query);
  }
});

t.test('when too many lists are being read', async (t) => {
  const refused = async () => ({ kind: 'refused' as const, reason: 'Too many lists.' });
  const reads = { chartFigures: refused, tagChart: refused };
  const [endpoint] = statsEndpoints({ reads, clock: { now: () => NOW } });
  const call = { tenant: { id: tenant.id }, query: () => new URLSearchParams() };
  const answer = await endpoint!.answer(call as Parameters<NonNullable<typeof endpoint>['answer']>[0]);
  t.ok(isRefusal(answer));
  t.match(answer, { refused: 'internal_error', message: 'Too many lists.', retryAfterSecs: 2 });
});

// What a tenant's overview asks of the reading process: figures, what waits and since when, the latest events.
import path from 'node:path';
import t, { type Test } from 'tap';
import { OVERVIEW_QUERIES } from '../../src/store/sql/reading/overview.ts';
import { ReadingConnection } from '../../src/store/sqlite/engine/reading-connection.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { ProcessorTime } from '../support/patience.ts';
import { testFolder } from '../support/test-folder.ts';
import { atOnce } from './at-once.ts';
import { Bench, countAll, T0 } from './conformance/harness.ts';

const { chartFigures, waitingMail, latestEvents } = atOnce(OVERVIEW_QUERIES);

async function setUp(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  return { store, bench, db: new ReadingConnection(file), ...(await bench.sender('acme.test')) };
}

t.test('what waits, by domain, the oldest first; what is sent and what ended does not', async (t) => {
  const { store, bench, db, domain, tenant } = await setUp(t);
  const other = await bench.sender('beta.test');
  t.same(waitingMail(db, tenant.id, 10), { open: 0, lanes: [], otherLanes: 0, complete: true });
  await bench.queued(domain, 'a@y.test', T0 + 5);
  const oldest = await bench.queued(domain, 'a@x.test', T0 + 1);
  await bench.queued(domain, 'b@x.test', T0 + 2);
  await bench.queued(other.domain, 'a@z.test', T0);
  await bench.sending(domain, 'a@w.test');
  const stuck = await bench.sending(domain, 'a@v.test', T0 + 9);
  await store.queue.record([bench.update(stuck, { to: 'parked', reason: 'cannot be read' })]);
  const deferred = await bench.sending(domain, 'a@u.test', T0 + 7);
  const later = { to: 'deferred', dueAt: T0 + 60_000, reason: '451 later', ambiguous: false } as const;
  await store.queue.record([bench.attempted(deferred, later)]);

  const waiting = waitingMail(db, tenant.id, 3);
  t.match(waiting, { open: 6, otherLanes: 1, complete: true });
  t.same(waiting.lanes, [
    {
      ...{ lane: oldest.lane, domain: 'x.test', messages: 2, oldestAt: T0 + 1, oldestId: oldest.id },
      ...{ lastReason: null, dueAt: T0 + 1 },
    },
    { ...waiting.lanes[1]!, domain: 'y.test', messages: 1, oldestAt: T0 + 5 },
    { ...waiting.lanes[2]!, domain: 'u.test', messages: 1, lastReason: '451 later', dueAt: T0 + 60_000 },
  ]);
  const all = waitingMail(db, tenant.id, 10).lanes;
  t.match(all.at(-1), { domain: 'v.test', messages: 1, lastReason: 'cannot be read', dueAt: null }, 'parked ones, too');
  t.equal(all.length, 4);
  t.equal(waitingMail(db, other.tenant.id, 10).lanes.length, 1);
});

t.test('figures by time and by provider, and the latest events, of this tenant alone', async (t) => {
  const { store, bench, db, domain, tenant } = await setUp(t);
  const ids: string[] = [];
  for (const kind of ['email.delivered', 'email.deferred', 'email.opened'] as const) {
    const event = bench.event(kind, { open: { first: true } });
    ids.unshift(event.id);
    await store.queue.record([bench.update(await bench.sending(domain, 'a@x.test'), { to: 'delivered' }, { event })]);
  }
  await countAll(store);
  const events = latestEvents(db, tenant.id, 2);
  t.same(
    events.map(({ id }) => id),
    ids.slice(0, 2),
  );
  const hour = T0 / 3_600_000;
  const figures = { accepted: 3, delivered: 1, deferred: 1, opened: 1 };
  t.match(chartFigures(db, tenant.id, { fromHour: hour, untilHour: hour + 1, stepHours: 1 }), {
    points: [{ hour, figures }],
    providers: [{ provider: '', figures }],
  });
  t.same(latestEvents(db, bench.id(), 2), []);
});

t.test('a queue of many thousands is answered at once', async (t) => {
  const { bench, db, domain, tenant } = await setUp(t);
  for (let n = 0; n < 3; n++) {
    const to = Array.from({ length: 5000 }, (_, index) => `a@x${(index * 3 + n) % 4000}.test`);
    await bench.accept(domain, to, { acceptedAt: T0 + n });
  }
  const time = new ProcessorTime();
  const waiting = waitingMail(db, tenant.id, 8);
  const { usedMs } = time;
  t.comment(`${Math.round(usedMs)} ms for 4,000 domains`);
  t.match(waiting, { open: 15_000, otherLanes: 3992 });
  t.ok(usedMs < 1000);
});

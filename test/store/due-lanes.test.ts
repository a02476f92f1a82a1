// The walk over the lanes that wait: complete over many slices, and blind to lanes that only were.
import path from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { testFolder } from '../support/test-folder.ts';
import { Bench, T0 } from './conformance/harness.ts';

const DOMAINS_PER_CALL = 50;
const CALLS = 24; // more lanes than two slices of the walk

t.test('every lane that waits is found, with the time of its next message', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const { domain, tenant } = await bench.sender('acme.test');
  const suspended = await bench.sender('other.test');
  const expected = new Map<number, number>();
  for (let call = 0; call < CALLS; call++) {
    const to = Array.from({ length: DOMAINS_PER_CALL }, (_, n) => `a@d${call * DOMAINS_PER_CALL + n}.test`);
    const { lanes } = await bench.accept(domain, to, { acceptedAt: T0 + call });
    for (const { lane, dueAt } of lanes) expected.set(lane, dueAt);
  }
  await bench.queued(suspended.domain, 'a@x.test');
  await store.tenants.updateTenant(suspended.tenant.id, { status: 'suspended' });

  // Every third lane has nothing left, one is parked, and one has a later message only.
  const lanes = [...expected.keys()];
  const emptied = lanes.filter((_, index) => index % 3 === 0);
  const claimed = (await Promise.all(emptied.map((lane) => bench.claim(lane, T0 + CALLS)))).flat();
  await store.queue.record(claimed.map((message) => bench.update(message, { to: 'delivered' })));
  for (const lane of emptied) expected.delete(lane);
  const [parked, late] = [lanes[1]!, lanes[2]!];
  const later = T0 + 5_000_000;
  await store.queue.record([
    ...(await bench.claim(parked, T0 + CALLS)).map((one) => bench.update(one, { to: 'parked', reason: 'unreadable' })),
    ...(await bench.claim(late, T0 + CALLS)).map((one) =>
      bench.update(one, { to: 'deferred', dueAt: later, reason: '451', ambiguous: false }),
    ),
  ]);
  expected.delete(parked);
  expected.set(late, later);

  const found = await store.queue.dueLanes([1]);
  t.equal(found.length, expected.size, 'each once');
  t.strictSame(new Map(found.map((one) => [one.lane, one.dueAt])), expected);
  t.ok(found.every((one) => one.tenantId === tenant.id));
  t.match(found[0], { domain: /^d\d+\.test$/ });

  const db = new Database(file);
  const orphan = db.prepare('UPDATE messages SET lane = 999999 WHERE lane = ?');
  t.equal(orphan.run(found[0]!.lane).changes, 1);
  db.close();
  t.equal((await store.queue.dueLanes([1])).length, found.length - 1, 'a message whose lane is lost stops nobody');
});

t.test('the summary of the queue is complete over many slices, the fullest lane first', async (t) => {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: () => openContentReader(file) });
  const { domain } = await bench.sender('acme.test');
  const expected = new Map<number, number>();
  for (let call = 0; call < CALLS; call++) {
    const to = Array.from({ length: DOMAINS_PER_CALL }, (_, n) => `a@d${call * DOMAINS_PER_CALL + n}.test`);
    for (const { lane } of (await bench.accept(domain, to)).lanes) expected.set(lane, 1);
  }
  const { lane: fullest } = await bench.queued(domain, 'b@d700.test');
  expected.set(fullest, 2);
  const summary = await store.queue.queueSummary();
  t.equal(summary[0]!.lane, fullest);
  t.equal(summary.length, expected.size, 'each once');
  t.strictSame(new Map(summary.map(({ lane, waiting }) => [lane, waiting])), expected);
});

// What operators ask of many rows: the queue by MX group, a slice of it, and how tenants' mail fares.
import path from 'node:path';
import t, { type Test } from 'tap';
import { OPERATOR_QUERIES } from '../../src/store/sql/reading/operator-reads.ts';
import { ReadingConnection } from '../../src/store/sqlite/engine/reading-connection.ts';
import { perform } from '../../src/store/sqlite/engine/statements.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { openContentReader } from '../../src/store/sqlite/reading/courier-reads.ts';
import { testFolder } from '../support/test-folder.ts';
import { atOnce } from './at-once.ts';
import { Bench, T0 } from './conformance/harness.ts';

const QUERIES = atOnce(OPERATOR_QUERIES);

async function setUp(t: Test) {
  const file = path.join(testFolder(t), 'postrider.db');
  const store = await openSqliteStore({ file });
  t.teardown(() => store.close());
  return { store, bench: new Bench({ store, openContents: () => openContentReader(file) }), file };
}

t.test('the queue by MX group, and a slice of it', async (t) => {
  const { store, bench, file } = await setUp(t);
  const one = await bench.sender('acme.test');
  const two = await bench.sender('beta.test');
  for (const [domain, mxGroup] of [
    ['x.test', 'big'],
    ['y.test', 'big'],
    ['z.test', 'small'],
  ] as const) {
    await store.shaping.saveShaping({ domains: [{ domain, mxGroup, at: T0 }] });
  }
  await bench.queued(one.domain, 'a@x.test', T0 + 5);
  await bench.queued(one.domain, 'b@x.test', T0 + 3);
  await bench.queued(two.domain, 'a@y.test', T0 + 9);
  await bench.queued(two.domain, 'a@z.test', T0 + 1);
  await bench.queued(two.domain, 'a@unknown.test', T0 + 2);
  await bench.sending(one.domain, 'a@w.test', T0);
  const ended = await bench.sending(one.domain, 'b@w.test', T0);
  await store.queue.record([bench.update(ended, { to: 'delivered' })]);
  const stuck = await bench.sending(two.domain, 'b@z.test', T0 + 1);
  await store.queue.record([bench.update(stuck, { to: 'parked', reason: 'unreadable' })]);
  const db = new ReadingConnection(file);

  const { queueOverview, queueSlice, parkedMessages } = QUERIES;
  const overview = queueOverview(db, null);
  t.match(overview.groups[0], {
    mxGroup: 'big',
    waiting: 3,
    lanes: 2,
    tenants: 2,
    nextDueAt: T0 + 3,
    lastReason: null,
  });
  t.same(
    overview.groups.map(({ mxGroup, waiting }) => [mxGroup, waiting]),
    [
      ['big', 3],
      [null, 1],
    ],
    'what is being sent and what is parked does not wait',
  );
  t.match(overview, { parked: 1, sending: 2 });

  const slice = { lanes: 10, messages: 10 };
  const big = queueSlice(db, null, { ...slice, mxGroup: 'big' });
  t.match(big, { laneCount: 2, waiting: 3 });
  t.match(big.lanes, [
    { tenantId: one.tenant.id, tenantName: 'Acme', domain: 'x.test', mxGroup: 'big', waiting: 2, nextDueAt: T0 + 3 },
    { domain: 'y.test', waiting: 1 },
  ]);
  t.same(
    big.messages.map(({ recipient }) => recipient),
    ['b@x.test', 'a@x.test', 'a@y.test'],
  );
  const lanesOf = (of: object) => queueSlice(db, null, { ...slice, ...of }).lanes.map(({ domain }) => domain);
  t.same(lanesOf({ mxGroup: null }), ['unknown.test']);
  t.same(lanesOf({ tenantId: two.tenant.id }).sort(), ['unknown.test', 'y.test']);
  t.same(lanesOf({ tenantId: two.tenant.id, mxGroup: 'big' }), ['y.test']);
  t.same(lanesOf({ domain: 'nowhere.test' }), []);
  t.equal(queueSlice(db, null, { mxGroup: 'big', lanes: 1, messages: 1 }).messages.length, 1);
  t.match(parkedMessages(db, null, 10), [{ id: stuck.id, parked: true, lastReason: 'unreadable', dueAt: null }]);
});

t.test('standings of several tenants at once', async (t) => {
  const { store, bench, file } = await setUp(t);
  const { domain, tenant } = await bench.sender('acme.test');
  for (const to of ['delivered', 'bounced'] as const) {
    const message = await bench.sending(domain, 'a@x.test');
    const transition = to === 'delivered' ? { to } : ({ to, bounce: 'hard', reason: 'gone', suppress: null } as const);
    await store.queue.record([bench.attempted(message, transition)]);
  }
  const nobody = bench.id();
  t.strictSame(QUERIES.recentResultsOf(new ReadingConnection(file), null, [tenant.id, nobody], 10), [
    { tenantId: tenant.id, messages: 2, hardBounces: 1, complaints: 0 },
    { tenantId: nobody, messages: 0, hardBounces: 0, complaints: 0 },
  ]);
});

t.test('only what waits is read, along its index', async (t) => {
  const { file } = await setUp(t);
  const db = new ReadingConnection(file);
  const plans: string[] = [];
  const explaining = {
    sql(text: string) {
      const values = Array(text.split('?').length - 1).fill(null);
      const steps = perform(db.sql(`EXPLAIN QUERY PLAN ${text}`).all(...values)) as { detail: string }[];
      plans.push(...steps.map(({ detail }) => detail));
      return db.sql(text);
    },
  } as ReadingConnection;
  QUERIES.queueOverview(explaining, null);
  QUERIES.queueSlice(explaining, null, { tenantId: new Bench({} as never).id(), lanes: 9, messages: 9 });
  QUERIES.parkedMessages(explaining, null, 9);
  QUERIES.recentResultsOf(explaining, null, [new Bench({} as never).id()], 9);
  const text = plans.join('\n');
  t.match(text, /SEARCH m USING (COVERING )?INDEX messages_due \(lane>\?\)/);
  t.match(text, /SEARCH messages USING (COVERING )?INDEX messages_of_tenant \(tenant_id=\?\)/);
  t.notMatch(text, /SCAN (m|messages)$/m, text);
});

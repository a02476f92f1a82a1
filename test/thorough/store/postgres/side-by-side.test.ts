// Groups of the PostgreSQL driver whose verbs run side by side: what they send, and what becomes of one that fails.
import t, { type Test } from 'tap';
import { HOUR_MS } from '../../../../src/base/clock.ts';
import { arrayFormOf } from '../../../../src/store/postgres/engine/array-forms.ts';
import { encodeArray } from '../../../../src/store/postgres/engine/array-values.ts';
import { connect } from '../../../../src/store/postgres/engine/primary.ts';
import { parseServerAddress } from '../../../../src/store/postgres/engine/server-address.ts';
import { Statements } from '../../../../src/store/postgres/engine/statements.ts';
import { TAKE_TURN } from '../../../../src/store/postgres/engine/write-transaction.ts';
import { openPostgresStore, type PostgresOptions } from '../../../../src/store/postgres/open.ts';
import type { ClaimedMessage } from '../../../../src/store/queue.ts';
import type { RetentionSlice } from '../../../../src/store/upkeep.ts';
import type { GroupStats } from '../../../../src/store/verb-kinds.ts';
import { batchOf, entry } from '../../../store/conformance/batches.ts';
import { Bench, countAll, dueAgainFrom, LIFETIME_MS, T0 } from '../../../store/conformance/harness.ts';
import { resultOf, webhookOf } from '../../../store/conformance/webhook-deliveries.ts';
import { type PostgresServer, postgresMissing, startPostgres } from '../../../support/postgres-server.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';
import { until } from '../../../support/until.ts';

const noContents = () => {
  throw new Error('not opened by this test');
};

/** BEGIN, sums and COMMIT, and what verbs of mail wait for between. A verb that is longer is worth a second look. */
const MAX_ROUND_TRIPS = 10;

async function openOn(t: Test, server: PostgresServer, options: Partial<PostgresOptions> = {}) {
  const groups: GroupStats[] = [];
  const url = server.url(await server.createDatabase());
  const store = await openPostgresStore({ url, onGroup: (stats) => groups.push(stats), ...options });
  t.teardown(() => store.close());
  return { bench: new Bench({ store, openContents: noContents }), groups, url };
}

/** A node that does not end its turn. */
async function neighbourInTurn(t: Test, url: string) {
  const connection = await connect(parseServerAddress(url), { applicationName: 'a test', patient: true });
  t.teardown(() => connection.end());
  await connection.sendText(`BEGIN; ${TAKE_TURN}`);
  const waiting = `SELECT waitstart::text AS since FROM pg_locks WHERE NOT granted AND locktype = 'relation'`;
  return {
    /** Settles when somebody waits for the lock, and has done so that often. */
    async waitedFor(times: number): Promise<void> {
      const seen = new Set<string>();
      await until(`it is waited for ${times} times`, async () => {
        const [row] = (await connection.sendText(waiting)).rows as { since: string | null }[];
        if (row?.since) seen.add(row.since);
        return seen.size === times;
      });
    },
    end: () => connection.sendText('COMMIT'),
  };
}

/** The way of so many messages, each with an event and its delivery to a webhook; each step is one group. */
async function sendMany(t: Test, bench: Bench, count: number): Promise<void> {
  const { store } = bench;
  const { tenant, domain } = await bench.sender(`${bench.id()}.test`);
  const webhookId = await webhookOf(bench, tenant.id);
  const owner = await bench.owner();
  const names = Array.from({ length: count }, (_, at) => at);
  const accepted = await Promise.all(
    names.map((at) => bench.accept(domain, [`a@${at}.test`], { idempotencyKey: `key ${at}` })),
  );
  const terms = { owner, now: T0, dueAgainAt: dueAgainFrom(T0) };
  const claims = await Promise.all(accepted.map(({ lanes }) => store.queue.claim(lanes[0]!.lane, 9, terms)));
  const delivered = (message: ClaimedMessage) =>
    bench.attempted(message, { to: 'delivered' }, bench.event('email.delivered'));
  await Promise.all(claims.map(({ messages }) => store.queue.record(messages.map(delivered))));
  const lease = { owners: [owner], now: T0 + 1, leaseUntil: [T0 + 60_000] };
  const [due] = await store.webhooks.claimDeliveries([{ webhookId, limit: count }], lease);
  t.equal(due!.deliveries.length, count);
  const results = due!.deliveries.map((delivery) => resultOf(delivery, { to: 'delivered' }));
  t.equal(await store.webhooks.recordDeliveries(results, T0 + 2), 0);
}

t.test('with a server', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);

  t.test('a group of many messages sends no more statements than one of a few, and waits no longer', async (t) => {
    const { bench, groups } = await openOn(t, server);
    const sentBy = async (count: number) => {
      groups.length = 0;
      await sendMany(t, bench, count);
      // The tenant, its domain and its webhook are made by verbs that are alone.
      return groups.slice(-5).map(({ sent }) => sent!);
    };
    await sentBy(5); // learns the types of all parameters
    const [few, many] = [await sentBy(5), await sentBy(200)];
    t.strictSame(many, few);
    for (const { roundTrips } of many) t.ok(roundTrips <= MAX_ROUND_TRIPS, `${roundTrips} round trips`);
  });

  t.test('retention erases a hundred messages with the statements of a few', async (t) => {
    const { bench, groups } = await openOn(t, server);
    const { upkeep } = bench.store;
    const before = T0 + LIFETIME_MS;
    const erase = async (slice: () => Promise<RetentionSlice>) => {
      groups.length = 0;
      const { erased } = await slice();
      await until('what was sent is told', async () => groups.length > 0);
      return { erased, sent: groups[0]!.sent };
    };
    const eraseAll = async (count: number) => {
      await sendMany(t, bench, count);
      await countAll(bench.store);
      // No budget: what a slice waits for is not its work.
      const contents = await erase(() => upkeep.eraseContents({ days: null, before, budgetMs: 0 }));
      const records = await erase(() => upkeep.eraseRecords(before, 0));
      t.strictSame([contents.erased, records.erased], [count, count]);
      return [contents.sent, records.sent];
    };
    await eraseAll(5); // learns the types of all parameters
    t.strictSame(await eraseAll(100), await eraseAll(5));
  });

  t.test('a value that no column can hold fails its own verb, and the others go through', async (t) => {
    const { bench } = await openOn(t, server);
    const { domain } = await bench.sender('acme.test');
    const acceptAll = (change: object) =>
      Promise.allSettled(
        Array.from({ length: 9 }, (_, at) => bench.accept(domain, [`${at}@x.test`], at === 4 ? change : {})),
      );
    await acceptAll({}); // learns the types, so that the next ones go as arrays
    for (const wrong of [{ expiresAt: Number.NaN }, { expiresAt: 2 ** 60 * 16 }, { sendAt: 'soon' as never }]) {
      const results = await acceptAll(wrong);
      t.strictSame(
        results.flatMap(({ status }, at) => (status === 'rejected' ? [at] : [])),
        [4],
        JSON.stringify(wrong),
      );
    }
    t.equal(await bench.store.figures.countOpenMessages(), 9 + 3 * 8);
  });

  t.test('groups of two nodes take turns, and do not fail one another', async (t) => {
    const { bench, groups, url } = await openOn(t, server);
    const other = await openPostgresStore({ url, onGroup: (stats) => groups.push(stats) });
    t.teardown(() => other.close());
    const benches = [bench, new Bench({ store: other, openContents: noContents })];
    const { domain } = await bench.sender('acme.test');
    for (const one of benches) await one.accept(domain, ['a@x.test']);
    groups.length = 0;
    const rounds = Array.from({ length: 10 }, (_, round) => round);
    const calls = benches.map(async (one, node) => {
      for (const round of rounds) {
        await Promise.all(rounds.map((at) => one.accept(domain, [`${node}-${round}-${at}@x.test`])));
      }
    });
    await Promise.all(calls);
    t.equal(await bench.store.figures.countOpenMessages(), 202);
    t.strictSame([...new Set(groups.map(({ sent }) => sent!.tries))], [1], 'each at its first try');
  });

  t.test('a batch takes its turn: no count of tags goes past it', async (t) => {
    const proxy = await startTcpProxy(t, server);
    const { bench: near, url } = await openOn(t, server);
    const far = await openPostgresStore({ url: url.replace(`:${server.port}/`, `:${proxy.port}/`) });
    t.teardown(() => far.close());
    const [{ tenant, domain }, other] = [await near.sender('acme.test'), await near.sender('other.test')];
    const labels = { tags: { campaign: 'spring' }, metadata: null };
    // Makes the lanes, for which one would wait for the other.
    for (const from of [domain, other.domain]) await near.accept(from, ['first@x.test'], { labels });
    await countAll(near.store);
    const held = proxy.holdBefore('COMMIT');
    const entries = ['a@x.test', 'b@x.test'].map((to) => entry(near, domain, [to], { labels }));
    const batch = far.submissions.acceptBatch(batchOf(domain, entries));
    await held;
    let isThrough = false;
    const accepted = near.accept(other.domain, ['c@x.test'], { labels }).then(() => (isThrough = true));
    const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'relation'`;
    const isWaiting = async () => ((await server.run('postgres', waits)).rowCount ?? 0) > 0;
    await until('what comes behind the batch waits, or is through', async () => isThrough || (await isWaiting()));
    await countAll(near.store);
    proxy.release();
    t.match(await batch, { kind: 'accepted' });
    await accepted;
    await countAll(near.store);
    const day = { fromHour: T0 / HOUR_MS, untilHour: T0 / HOUR_MS + 24, stepHours: 24 } as const;
    const tag = { name: 'campaign', value: 'spring' };
    const chartOf = ({ id }: { id: string }) => near.store.figures.tagChartOf(id, { ...day, tag });
    t.match((await chartOf(tenant)).points, [{ figures: { accepted: 3 } }]);
    t.match((await chartOf(other.tenant)).points, [{ figures: { accepted: 2 } }]);
  });

  for (const count of [1, 2]) {
    t.test(`a turn that does not come for long is waited for: ${count} verbs`, async (t) => {
      const { bench, groups, url } = await openOn(t, server);
      const { domain } = await bench.sender('acme.test');
      const neighbour = await neighbourInTurn(t, url);
      groups.length = 0;
      const names = Array.from({ length: count }, (_, at) => `${at}@x.test`);
      const accepted = Promise.all(names.map((name) => bench.accept(domain, [name])));
      await neighbour.waitedFor(2);
      await neighbour.end();
      t.equal((await accepted).length, count);
      t.strictSame(
        groups.map(({ verbs }) => verbs),
        [count],
        'all together',
      );
    });
  }

  t.test('a turn that does not come at all fails everyone who waits, once, with the reason', async (t) => {
    const failed: unknown[] = [];
    const { bench, url } = await openOn(t, server, { onFailedCommit: (error) => failed.push(error) });
    const { domain } = await bench.sender('acme.test');
    const neighbour = await neighbourInTurn(t, url);
    const first = [bench.accept(domain, ['a@x.test']), bench.accept(domain, ['b@x.test'])];
    await neighbour.waitedFor(1);
    const behind = [bench.accept(domain, ['c@x.test']), bench.accept(domain, ['d@x.test'])];
    const outcomes = await Promise.allSettled([...first, ...behind]);
    const reason = {
      message: 'the database could not be used',
      detail: /^another transaction held a lock for too long/,
    };
    for (const outcome of outcomes) t.match(outcome, { status: 'rejected', reason });
    t.match(failed, [reason], 'and the intake is closed');
    await neighbour.end();
    await bench.accept(domain, ['e@x.test']);
    t.equal(await bench.store.figures.countOpenMessages(), 1);
  });

  t.test('rows are looked up one after the other, whatever the table holds', async (t) => {
    const { bench, url } = await openOn(t, server);
    const { domain } = await bench.sender('acme.test');
    for (let group = 0; group < 3; group++) await sendMany(t, bench, 200);
    await bench.accept(domain, ['a@x.test']);
    const connection = await connect(parseServerAddress(url), { applicationName: 'a test' });
    t.teardown(() => connection.end());
    await connection.sendText('ANALYZE');
    const single = new Statements().of(
      `UPDATE messages SET due_at = +? WHERE id = +? AND finished_at IS NULL AND state = 'sending'`,
    );
    const { statement, types } = arrayFormOf(single, ['bigint', 'bytea'])!;
    const explain = { name: 'explain', text: `EXPLAIN ${statement.text}`, names: [] };
    const values = types.map((type) => encodeArray(type, [type === 'bytea' ? Buffer.alloc(16) : 1]));
    const plan = (await connection.send(explain, values, 'arrays')).rows.flat().join('\n');
    t.match(plan, /Nested Loop[\s\S]+Function Scan on item[\s\S]+Index Cond: \(\(?id = item\.p2\)/);
    t.notMatch(plan, /Join Filter/, 'no row is compared with all items');
  });
});

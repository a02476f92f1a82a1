// Beside a reader that keeps its snapshot, no entry of an index can be removed: what is looked up all the time must not
// step over those of all mail that was sent meanwhile.
import pg from 'pg';
import t, { type Test } from 'tap';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { Bench, dueAgainFrom, T0 } from '../../../store/conformance/harness.ts';
import { postgresMissing, startPostgres } from '../../../support/postgres-server.ts';
import { until } from '../../../support/until.ts';

const SENT = 400;
const FEW = 20;

const noContents = () => {
  throw new Error('not opened by this test');
};

async function connectTo(t: Test, connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

t.test('a claim beside a reader', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t);
  const url = server.url(await server.createDatabase());
  const store = await openPostgresStore({ url });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: noContents });
  const { domain } = await bench.sender('acme.test');
  const elsewhere = await bench.queued(domain, 'a@elsewhere.test');
  const statistics = await connectTo(t, url);
  const reader = await connectTo(t, url);
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT 1 FROM postrider.messages');

  const times = Array.from({ length: SENT }, (_, at) => T0 + at);
  const accepted = await Promise.all(times.map((at) => bench.queued(domain, `${at}@x.test`, at)));
  const { lane } = accepted[0]!;
  const sent = await bench.claim(lane, T0 + SENT, SENT);
  t.equal(sent.length, SENT);
  await store.queue.record(sent.map((message) => bench.attempted(message, { to: 'delivered' })));
  await bench.queued(domain, 'next@x.test', T0 + SENT);

  const used = async () => {
    const { rows } = await statistics.query<{ scans: number; entries: number }>(
      `SELECT idx_scan::float8 AS scans, idx_tup_read::float8 AS entries
       FROM pg_stat_user_indexes WHERE indexrelname = 'messages_due'`,
    );
    return rows[0]!;
  };
  const terms = { owner: await bench.owner(), now: T0 + SENT, dueAgainAt: dueAgainFrom(T0 + SENT) };
  // A server's process tells its statistics at most once a second, after one of its transactions.
  const told = async (scans: number) => {
    await store.queue.claim(elsewhere.lane, 1, { ...terms, now: T0 - 1 });
    const now = await used();
    return now.scans > scans ? now : null;
  };
  const settled = async () => {
    let before = await until('statistics', () => told(0));
    for (;;) {
      const now = await until('statistics', () => told(before.scans));
      if (now.entries - before.entries < FEW) return now;
      before = now;
    }
  };
  const entriesReadBy = async (dueFrom: number) => {
    const before = await settled();
    const { messages } = await store.queue.claim(lane, 0, { ...terms, dueFrom });
    t.same(messages, []);
    return (await settled()).entries - before.entries;
  };

  t.ok((await entriesReadBy(0)) >= SENT, 'from the beginning on, over all that was sent');
  t.ok((await entriesReadBy(T0 + SENT)) < FEW, 'from the time on that the lane is due, over none of it');
});

// Beside a reader that keeps its snapshot, no entry of an index can be removed: what is looked up all the time must not
// step over those of all mail that was sent meanwhile.
import pg from 'pg';
import t from 'tap';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { Bench, dueAgainFrom, T0 } from '../../../store/conformance/harness.ts';
import { PLANS_LOGGED, PlanLog } from '../../../store/postgres/plans/plan-log.ts';
import { postgresMissing, startPostgres } from '../../../support/postgres-server.ts';

const SENT = 400;
/** Has no factor in common with SENT. */
const APART = 137;

const noContents = () => {
  throw new Error('not opened by this test');
};

t.test('beside a reader', { skip: postgresMissing() }, async (t) => {
  const server = await startPostgres(t, { settings: PLANS_LOGGED });
  const database = await server.createDatabase();
  const url = server.url(database);
  const store = await openPostgresStore({ url });
  t.teardown(() => store.close());
  const bench = new Bench({ store, openContents: noContents });
  const { domain } = await bench.sender('acme.test');
  const reader = new pg.Client({ connectionString: url });
  await reader.connect();
  t.teardown(() => reader.end());
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT 1 FROM postrider.messages');

  // Due in another order than they were written in: each entry of the index leads to another page.
  const times = Array.from({ length: SENT }, (_, at) => T0 + ((at * APART) % SENT));
  const accepted = await Promise.all(times.map((at) => bench.queued(domain, `${at}@x.test`, at)));
  const { lane } = accepted[0]!;
  const sent = await bench.claim(lane, T0 + SENT, SENT);
  t.equal(sent.length, SENT);
  await store.queue.record(sent.map((message) => bench.attempted(message, { to: 'delivered' })));
  await bench.queued(domain, 'next@x.test', T0 + SENT);

  const terms = { owner: await bench.owner(), now: T0 + SENT, dueAgainAt: dueAgainFrom(T0 + SENT) };
  const log = new PlanLog(server);
  const pagesReadBy = async (work: () => Promise<unknown>) => {
    await log.during(database, async () => {}); // what came before
    const plans = await log.during(database, work);
    return plans.reduce((sum, { pages }) => sum + pages, 0);
  };
  t.test('a claim', async (t) => {
    const claim = (dueFrom: number) => () => store.queue.claim(lane, 0, { ...terms, dueFrom });
    const [all, due] = [await pagesReadBy(claim(0)), await pagesReadBy(claim(T0 + SENT))];
    t.ok(all >= SENT, `note: from the beginning on, over all that was sent: ${all} pages`);
    t.ok(due < all / 4, `note: from the time on that the lane is due, over none of it: ${due} pages`);
  });

  t.test('a takeover', async (t) => {
    const take = (slots: number) => () =>
      store.owners.takeSlots({ node: `takes ${slots}`, slots, now: T0, leaseUntil: T0 + 1 });
    const [one, eight] = [await pagesReadBy(take(1)), await pagesReadBy(take(8))];
    t.ok(one >= SENT, `note: of one slot, over all that was sent: ${one} pages`);
    t.ok(eight < 1.5 * one, `note: of eight slots, over it once: ${eight} pages`);
  });
});

// Asks all hot verbs of a large database, and holds what each of their statements read against bounds: no table is read from
// end to end, and neither rows nor pages grow with the messages that there have ever been. Twice, since PostgreSQL plans a
// statement once for all values, and such a plan may be older than most rows.
import type { Test } from 'tap';
import { describeError } from '../../../../src/base/errors.ts';
import { bytesToUuid } from '../../../../src/base/ids.ts';
import { openPostgresStore } from '../../../../src/store/postgres/open.ts';
import { openPostgresPortalReads } from '../../../../src/store/postgres/portal-reads.ts';
import { openPostgresCourierReads } from '../../../../src/store/postgres/reads.ts';
import type { PostgresServer } from '../../../support/postgres-server.ts';
import { Bench, T0 } from '../../conformance/harness.ts';
import type { Asked, Samples } from './asked.ts';
import { BIG_TENANT, fillingSql, UNFINISHED } from './filled.ts';
import { hotVerbs } from './hot-verbs.ts';
import { PlanLog, type Scan, type UsedPlan } from './plan-log.ts';

/** How many messages there are when the first plans are made. */
const AT_FIRST = 2000;
const MAX_ROWS = 3000;
const MAX_PAGES = 4000;
/** A table with so few rows may be read whole. */
const MAX_SCANNED_ROWS = 200;

interface Bound {
  rows?: number;
  pages?: number;
  /** How often it may look at each message that is not finished, besides. */
  unfinished?: number;
  /** Tables that it may read whole, since they grow with tenants alone, and it is not asked often. */
  whole?: readonly string[];
}

/** Of verbs that read more on purpose. */
const OTHER_BOUNDS: Readonly<Record<string, Bound>> = {
  // All that was being sent, or called.
  takeSlots: { rows: 6000, pages: 40_000 },
  dueLanes: { rows: 4000 },
  queueSummary: { unfinished: 1 },
  queueOverview: { unfinished: 2 },
  queueSlice: { unfinished: 1 },
  // It goes back from a tenant's newest message to so many finished ones.
  'results of tenants': { unfinished: 1 },
  countOpenMessages: { rows: 20_000, pages: 20_000, whole: ['domains', 'domain_counts'] },
  // Each state is counted up to a maximum.
  listWebhookHealth: { rows: 10_000, pages: 15_000 },
  // As many as it may search for a page.
  'delivered deliveries': { rows: 5000, pages: 12_000 },
  // It counts what is kept, whose maximum is its argument.
  putTlsPolicy: { rows: 20_000 },
};

export async function testPlans(t: Test, server: PostgresServer, messages: number): Promise<void> {
  const database = await server.createDatabase();
  await (await openPostgresStore({ url: server.url(database) })).close();
  await server.run(database, fillingSql({ from: 0, until: AT_FIRST, all: messages }));
  await server.run(database, 'VACUUM ANALYZE');
  const planner = { server, database, log: new PlanLog(server), unfinished: messages * UNFINISHED };
  const opened = await openAsked(t, planner);
  await askAll(planner, opened, () => {}); // some find too little
  await server.run(database, fillingSql({ from: AT_FIRST, until: messages, all: messages }));
  await compare(t, 'plans that were made when there were few messages', planner, opened);
  await server.run(database, 'VACUUM ANALYZE');
  await compare(t, 'plans that were made when there were all', planner, opened);
}

interface Planner {
  server: PostgresServer;
  database: string;
  log: PlanLog;
  unfinished: number;
}

type Opened = Omit<Asked, 'samples'>;

async function openAsked(t: Test, { server, database, log }: Planner): Promise<Opened> {
  const url = server.url(database);
  const store = await openPostgresStore({ url });
  const { reads, close } = openPostgresPortalReads({ url, onTrouble: (reason) => t.fail(reason) });
  const { contents } = openPostgresCourierReads(url);
  t.teardown(async () => {
    contents.close();
    await close();
    await store.close();
  });
  const bench = new Bench({ store, openContents: () => contents });
  await bench.owner();
  await log.during(database, async () => {}); // what opening it has asked
  return { bench, contents, reads };
}

async function askAll(
  planner: Planner,
  opened: Opened,
  onFailure: (reason: string) => void,
): Promise<{ name: string; plans: UsedPlan[] }[]> {
  const asked: Asked = { ...opened, samples: await takeSamples(planner) };
  const all: { name: string; plans: UsedPlan[] }[] = [];
  for (const [name, verb] of Object.entries(hotVerbs(asked))) {
    const run = () => verb().catch((error) => onFailure(`${name}: ${describeError(error)}`));
    all.push({ name, plans: await planner.log.during(planner.database, run) });
  }
  return all;
}

async function compare(t: Test, title: string, planner: Planner, opened: Opened): Promise<void> {
  const all = await askAll(planner, opened, (reason) => t.fail(reason));
  await t.test(title, async (t) => {
    for (const { name, plans } of all) {
      const beyond = plans.flatMap((plan) => beyondBounds(plan, boundsOf(name, planner)));
      t.strictSame([...new Set(beyond)], [], name);
    }
  });
}

function boundsOf(name: string, planner: Planner) {
  const { rows = MAX_ROWS, pages = MAX_PAGES, unfinished = 0, whole = [] } = OTHER_BOUNDS[name] ?? {};
  const more = unfinished * planner.unfinished;
  return { rows: rows + more, pages: pages + more, whole };
}

function beyondBounds(plan: UsedPlan, { rows, pages, whole }: ReturnType<typeof boundsOf>): string[] {
  const faults: string[] = [];
  if (plan.rows > rows) faults.push(`${plan.rows} rows`);
  if (plan.pages > pages) faults.push(`${plan.pages} pages`);
  const isScanned = ({ by, table, rows: read }: Scan) =>
    by === 'Seq Scan' && read > MAX_SCANNED_ROWS && !whole.includes(table) && !table.startsWith('pg_');
  if (plan.scans.some(isScanned)) faults.push('a whole table');
  const how = plan.scans.map(({ by, table, rows }) => `${by} of ${table}: ${rows}`).join(', ');
  return faults.length > 0 ? [`${faults.join(', ')}: ${how}: ${plan.text.replace(/\s+/g, ' ')}`] : [];
}

async function takeSamples({ server, database }: Planner): Promise<Samples> {
  const column = async (sql: string) => {
    const { rows } = await server.run(database, sql);
    return (rows as Record<string, unknown>[]).map((row) => Object.values(row)[0]);
  };
  const tenant = `'\\x${BIG_TENANT.replaceAll('-', '')}'::bytea`;
  const ids = async (text: string) => ((await column(text)) as Buffer[]).map(bytesToUuid);
  const messages = (what: string, where: string) =>
    ids(`SELECT ${what} FROM postrider.messages WHERE tenant_id = ${tenant} AND ${where} ORDER BY id LIMIT 100`);
  const lanes = `SELECT l.id FROM postrider.lanes l JOIN postrider.messages m ON m.lane = l.id WHERE l.tenant_id = ${tenant} AND l.slot = 1
    AND m.state = 'queued' AND m.parked = 0 GROUP BY l.id ORDER BY count(*) DESC, l.id`;
  return {
    lanes: (await column(lanes)).map(Number),
    delivered: await messages('id', `state = 'delivered' AND attempts = 1`),
    waiting: await messages('id', `state = 'queued'`),
    parked: await messages('id', 'parked = 1'),
    scheduled: await messages('id', `state = 'scheduled' AND due_at >= ${T0}`),
    submissions: await messages('submission_id', `state = 'scheduled' AND due_at >= ${T0}`),
    events: await ids(`SELECT e.id FROM postrider.events e JOIN postrider.webhook_deliveries d ON d.event_seq = e.seq
      WHERE e.tenant_id = ${tenant} AND d.state = 'delivered' ORDER BY e.seq LIMIT 10`),
    recipient: String(
      (await column(`SELECT recipient FROM postrider.messages WHERE tenant_id = ${tenant} ORDER BY id LIMIT 1`))[0],
    ),
  };
}

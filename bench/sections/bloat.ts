// What a reader costs that keeps its snapshot for an hour (a dump, a forgotten session): no row that was deleted or
// updated since can be removed meanwhile. End to end on PostgreSQL with one daemon: without it, beside it minute by
// minute, and after its end.
import pg from 'pg';
import { type Bloat, watchBloat } from '../bloat-watch.ts';
import { type Database, databaseMissing, withDatabaseServer } from '../postgres.ts';
import type { RunContext } from '../run-context.ts';
import type { Arrival } from '../sinks.ts';
import { atLeast, atMost, factRow, type Row, rateRow, showRate, showShare, withLimit } from '../table.ts';
import { type Call, type Cores, drain, reconcile, sendTraffic } from '../traffic.ts';
import { type Setting, withPostrider } from '../with-postrider.ts';

const MINUTE_MS = 60_000;
const WARM_UP_MS = 2000;
/** Before the reader comes, the first of them not counted, and after it has ended: autovacuum looks around once a minute. */
const MINUTES_WITHOUT = 3;
/** Beside the reader, the last ones are compared with those before it came. */
const COMPARED_MINUTES = 3;
const WANTED_SHARE = 0.8;
/** After the reader has ended, to the most before it came: between two vacuums rows die at the pace of the mail. */
const DEAD_TIMES = 2;

// What grows with dead rows, since it steps over them in an index.
const CLAIM = /ORDER BY m\.due_at/;
const CONTENT = /\bc\.html\b/;

const SHOWN_TABLES = 4;
const SHOWN_STATEMENTS = 6;
const STATEMENT_CHARS = 120;

interface Minute {
  perSecond: number;
  /** Processor time per message. */
  daemonUs: number;
  serverUs: number;
  /** Cores that other programs took. */
  elsewhere: number;
  bloat: Bloat;
}

export async function measureBloat(run: RunContext): Promise<Row[]> {
  const missing = databaseMissing();
  if (missing) return [factRow('beside a long reader', `not measured: ${missing}`, {})];
  const settings = { shared_preload_libraries: 'pg_stat_statements', track_io_timing: 'off' };
  return withDatabaseServer({ dir: run.options.dir, settings }, async (makeDatabase) => {
    const database = await makeDatabase();
    const plan = { section: 'bloat', database: database.url };
    return withPostrider(run, plan, (setting) => besideReader(run, setting, database));
  });
}

async function besideReader(run: RunContext, setting: Setting, database: Database): Promise<Row[]> {
  const watch = await watchBloat(database);
  const calls: Call[] = [];
  const arrivals: Arrival[] = [];
  const minute = async (what: string): Promise<Minute> => {
    const traffic = await sendTraffic({
      ...setting,
      folder: run.folder,
      ...{ connections: run.options.connections, inFlight: run.options.inFlight, pauseMs: 0 },
      ...{ server: database, warmUpMs: WARM_UP_MS, measuredMs: MINUTE_MS - WARM_UP_MS },
    });
    for (const call of traffic.calls) calls.push(call);
    for (const arrival of (await setting.sink.arrivals()) ?? []) arrivals.push(arrival);
    const perSecond = (traffic.arrivedWithin * 1000) / (traffic.toMs - traffic.fromMs);
    const seen = { perSecond, ...costOf(traffic.cores, perSecond), bloat: await watch.look() };
    process.stderr.write(`  ${what}: ${lineOf(seen)}\n`);
    return seen;
  };
  try {
    const before = await minutes(MINUTES_WITHOUT, 'no reader', minute);
    const reader = await holdSnapshot(database.url);
    const beside = await minutes(run.options.minutes, 'beside the reader', minute).finally(() => reader.end());
    const after = await minutes(MINUTES_WITHOUT, 'reader ended', minute);
    await drain(setting.sink, calls.length);
    for (const arrival of (await setting.sink.arrivals()) ?? []) arrivals.push(arrival);
    return [...rowsOf({ before: before.slice(1), beside, after }), reconciliationRow(calls, arrivals)];
  } finally {
    await watch.close();
  }
}

async function minutes(count: number, what: string, minute: (what: string) => Promise<Minute>): Promise<Minute[]> {
  const seen: Minute[] = [];
  for (let number = 1; number <= count; number++) seen.push(await minute(`${what}, minute ${number}`));
  return seen;
}

/** NaN where it cannot be known. */
function costOf(cores: Cores | null, perSecond: number): Pick<Minute, 'daemonUs' | 'serverUs' | 'elsewhere'> {
  if (cores === null) return { daemonUs: Number.NaN, serverUs: Number.NaN, elsewhere: Number.NaN };
  const { mainThread, otherThreads, server, elsewhere } = cores;
  return { daemonUs: ((mainThread + otherThreads) * 1e6) / perSecond, serverUs: (server * 1e6) / perSecond, elsewhere };
}

/** Its first statement takes the snapshot, and the transaction keeps it. */
async function holdSnapshot(connectionString: string): Promise<pg.Client> {
  const reader = new pg.Client({ connectionString });
  await reader.connect();
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT 1 FROM postrider.messages LIMIT 1');
  return reader;
}

function lineOf({ perSecond, daemonUs, serverUs, elsewhere, bloat }: Minute): string {
  const { deadRows, sizeMiB, statements } = bloat;
  const costs = statements.slice(0, SHOWN_STATEMENTS).map(({ text, blocks, us }) => {
    return `    ${us.toFixed(0)} µs, ${showBlocks(blocks)}: ${text.replaceAll(/\s+/g, ' ').slice(0, STATEMENT_CHARS)}`;
  });
  const dead = `${deadRows} dead rows (${mostDead(bloat)})`;
  const facts = `other programs ${elsewhere.toFixed(2)} cores, ${dead}, ${Math.round(sizeMiB)} MiB`;
  const time = `${daemonUs.toFixed(0)} µs of the daemon, ${serverUs.toFixed(0)} µs of the server`;
  return [`${showRate(perSecond)}, ${time}, ${facts}`, ...costs].join('\n');
}

function mostDead({ tables }: Bloat): string {
  return tables
    .slice(0, SHOWN_TABLES)
    .map(({ name, dead }) => `${name} ${dead}`)
    .join(', ');
}

interface Phases {
  before: Minute[];
  beside: Minute[];
  after: Minute[];
}

function rowsOf({ before, beside, after }: Phases): Row[] {
  const ending = beside.slice(-COMPARED_MINUTES);
  const [without, last] = [before, ending].map((phase) => mean(phase, 'perSecond')) as [number, number];
  const share = last / without;
  const [first, atEnd, atLast] = [before, beside, after].map((phase) => phase.at(-1)!.bloat) as [Bloat, Bloat, Bloat];
  const deadBefore = Math.max(...before.map(({ bloat }) => bloat.deadRows));
  return [
    rateRow('PostgreSQL, end to end, no reader', without, elsewhereIn(before)),
    withLimit(
      rateRow(
        `  beside a reader of ${beside.length} minutes, at its end`,
        last,
        `${showShare(share)}; ${elsewhereIn(ending)}`,
      ),
      atLeast(share, WANTED_SHARE, showShare),
    ),
    rateRow('  after it has ended', mean(after, 'perSecond'), elsewhereIn(after)),
    ...timeRows(before, ending),
    deadRow('  dead rows, no reader', deadBefore, mostDead(first)),
    deadRow('  dead rows at its end', atEnd.deadRows, mostDead(atEnd)),
    withLimit(
      deadRow('  dead rows after it has ended', atLast.deadRows, mostDead(atLast)),
      atMost(atLast.deadRows, DEAD_TIMES * deadBefore, String),
    ),
    sizeRow(first, atEnd),
    costRow('  to look for due mail', CLAIM, [first, atEnd]),
    costRow('  to read a content', CONTENT, [first, atEnd]),
  ];
}

function elsewhereIn(phase: readonly Minute[]): string {
  return `other programs took ${mean(phase, 'elsewhere').toFixed(2)} cores`;
}

/** Less affected than rates by what else the machine does. */
function timeRows(before: readonly Minute[], ending: readonly Minute[]): Row[] {
  return (['daemonUs', 'serverUs'] as const).map((part) => {
    const [without, last] = [mean(before, part), mean(ending, part)];
    const what = `  processor time of the ${part === 'daemonUs' ? 'daemon' : 'server'}, per message`;
    return factRow(what, `${last.toFixed(0)} µs`, { us: Math.round(last) }, `before ${without.toFixed(0)} µs`);
  });
}

function deadRow(what: string, deadRows: number, beside: string): Row {
  return factRow(what, String(deadRows), { dead_rows: deadRows }, beside);
}

function sizeRow({ sizeMiB: before }: Bloat, { sizeMiB }: Bloat): Row {
  const figures = { size_mib: Math.round(sizeMiB) };
  return factRow(
    '  tables and indexes at its end',
    `${Math.round(sizeMiB)} MiB`,
    figures,
    `before ${Math.round(before)} MiB`,
  );
}

/** Of all statements of that kind that took time; they differ in how many items they are for. */
function costRow(what: string, kind: RegExp, [before, atEnd]: [Bloat, Bloat]): Row {
  const blocksIn = ({ statements }: Bloat) => statements.find(({ text }) => kind.test(text))?.blocks ?? Number.NaN;
  const blocks = blocksIn(atEnd);
  return factRow(what, showBlocks(blocks), { blocks }, `before ${showBlocks(blocksIn(before))}`);
}

function showBlocks(blocks: number): string {
  return `${blocks.toFixed(0)} blocks`;
}

function mean(of: readonly Minute[], part: 'perSecond' | 'daemonUs' | 'serverUs' | 'elsewhere'): number {
  return of.reduce((sum, minute) => sum + minute[part], 0) / of.length;
}

function reconciliationRow(calls: readonly Call[], arrivals: readonly Arrival[]): Row {
  const { lost, twice } = reconcile(calls, arrivals);
  const figures = { accepted: calls.length, lost, twice };
  return factRow('  after draining: lost, twice', `${lost}, ${twice}`, figures, `of ${calls.length} answered 202`);
}

// What several machines cost: SQLite, PostgreSQL with one daemon and with two, all on the same cores, in turns. The
// processor time of daemon and server apart is the figure that lasts: on machines of their own, the rates would differ.

import { type Database, databaseMissing, withDatabaseServer } from '../postgres.ts';
import type { Committed } from '../postrider.ts';
import type { RunContext } from '../run-context.ts';
import { atMost, factRow, type Row, rateRow, showRate, showShare, withLimit } from '../table.ts';
import { answersPerSecond, type Cores, drain, reconcile, sendTraffic } from '../traffic.ts';
import { withPostrider } from '../with-postrider.ts';

// V8 compiles for longer than for rates alone: here it is processor time that is compared.
const WARM_UP_MS = 8000;
/** In turns, so that a machine that is not equally busy all the time treats all alike. */
const TURNS = 2;
/** A daemon's processor time on PostgreSQL, to that on SQLite. */
const WANTED_TIMES = 1.1;

interface Kind {
  what: string;
  section: string;
  daemons: number;
  onPostgres: boolean;
}

const SQLITE: Kind = { what: 'SQLite', section: 'sqlite', daemons: 1, onPostgres: false };
const ONE: Kind = { what: 'PostgreSQL, one daemon', section: 'postgres-one', daemons: 1, onPostgres: true };
const TWO: Kind = { what: 'PostgreSQL, two daemons', section: 'postgres-two', daemons: 2, onPostgres: true };

// Of all turns of one kind.

const NOTHING_SENT = { messages: 0, seconds: 0, daemonS: 0, serverS: 0, elsewhereS: 0 };
const NOTHING_COMMITTED: Committed = { groups: 0, verbs: 0, roundTrips: 0, statements: 0, tries: 0 };

type Sent = typeof NOTHING_SENT;

interface Measured {
  accept: Sent;
  endToEnd: Sent;
  /** Of the end-to-end traffic, warm-up included. */
  committed: Committed;
  rest: { calls: number; lost: number; twice: number };
}

function nothingMeasured(): Measured {
  const rest = { calls: 0, lost: 0, twice: 0 };
  return { accept: NOTHING_SENT, endToEnd: NOTHING_SENT, committed: NOTHING_COMMITTED, rest };
}

function added<T extends object>(one: T, other: T): T {
  const sums = Object.entries(one).map(([name, value]) => [name, value + other[name as keyof T]]);
  return Object.fromEntries(sums) as T;
}

/** NaN where it cannot be known. */
function usedOf(cores: Cores | null, seconds: number): Pick<Sent, 'daemonS' | 'serverS' | 'elsewhereS'> {
  const { mainThread, otherThreads, server, elsewhere } = cores ?? UNKNOWN;
  return {
    daemonS: (mainThread + otherThreads) * seconds,
    serverS: server * seconds,
    elsewhereS: elsewhere * seconds,
  };
}

const UNKNOWN = {
  mainThread: Number.NaN,
  otherThreads: Number.NaN,
  server: Number.NaN,
  elsewhere: Number.NaN,
};

export async function measureNodes(run: RunContext): Promise<Row[]> {
  const missing = databaseMissing();
  if (missing) return [factRow('several machines', `not measured: ${missing}`, {})];
  return withDatabaseServer({ dir: run.options.dir }, async (makeDatabase) => {
    const all = new Map([SQLITE, ONE, TWO].map((kind) => [kind, nothingMeasured()]));
    for (let turn = 0; turn < (run.options.profile ? 1 : TURNS); turn++) {
      const order = [...all.keys()];
      for (const kind of turn % 2 === 0 ? order : order.reverse()) {
        await measureKind(run, kind, { makeDatabase, measured: all.get(kind)! });
      }
    }
    const sqlite = all.get(SQLITE)!;
    return [...all].flatMap(([kind, measured]) => rowsOf(kind, measured, sqlite));
  });
}

interface Place {
  makeDatabase(): Promise<Database>;
  measured: Measured;
}

async function measureKind(run: RunContext, kind: Kind, { makeDatabase, measured }: Place): Promise<void> {
  for (const greets of [false, true]) {
    const database = kind.onPostgres ? await makeDatabase() : null;
    await measureTraffic(run, { ...kind, greets, database }, measured);
    await database?.server.dropDatabase(database.name);
  }
}

async function measureTraffic(
  run: RunContext,
  { section, daemons, greets, database }: Kind & { greets: boolean; database: Database | null },
  measured: Measured,
): Promise<void> {
  const { options, folder } = run;
  const name = `${section}-${greets ? 'sends' : 'accepts'}-${measured[greets ? 'endToEnd' : 'accept'].seconds.toFixed(0)}`;
  const plan = { section: name, greets, tellsCommits: true, daemons, ...(database && { database: database.url }) };
  await withPostrider(run, plan, async ({ postrider, others, sink }) => {
    const traffic = await sendTraffic({
      ...{ postrider, others, sink, folder, connections: options.connections, pauseMs: 0 },
      ...(database && { server: database }),
      inFlight: greets ? options.inFlight : null,
      warmUpMs: WARM_UP_MS,
      measuredMs: (options.seconds * 1000) / (greets ? TURNS : 4 * TURNS),
    });
    const seconds = (traffic.toMs - traffic.fromMs) / 1000;
    const messages = greets ? traffic.arrivedWithin : answersPerSecond(traffic) * seconds;
    const part = greets ? 'endToEnd' : 'accept';
    const sent = { messages, seconds, ...usedOf(traffic.cores, seconds) };
    process.stderr.write(`  ${name}: ${showUs(daemonUs(sent))} of the daemon, ${showRate(rateOf(sent))}\n`);
    measured[part] = added(measured[part], sent);
    if (!greets) return;
    await drain(sink, traffic.calls.length);
    const { lost, twice } = reconcile(traffic.calls, (await sink.arrivals()) ?? []);
    measured.rest = added(measured.rest, { calls: traffic.calls.length, lost, twice });
    for (const daemon of [postrider, ...others]) {
      measured.committed = added(measured.committed, await daemon.committed());
    }
  });
}

function rowsOf({ what, onPostgres }: Kind, { accept, endToEnd, committed, rest }: Measured, sqlite: Measured): Row[] {
  const lostAndTwice = `${rest.lost}, ${rest.twice}`;
  return [
    rateRow(`${what}: accept, delivery held`, rateOf(accept), besideOf(accept, sqlite.accept)),
    rateRow(`${what}: end to end`, rateOf(endToEnd), besideOf(endToEnd, sqlite.endToEnd)),
    daemonRow({ accept, endToEnd }, onPostgres ? sqlite : null),
    ...(onPostgres ? [serverRow({ accept, endToEnd }), ...commitRows(committed, rest.calls)] : []),
    factRow('  after draining: lost, twice', lostAndTwice, rest, `of ${rest.calls} answered 202`),
  ];
}

function rateOf({ messages, seconds }: Sent): number {
  return messages / seconds;
}

/** Other programs take from all of them, but not the same from each. */
function besideOf(sent: Sent, sqlite: Sent): string {
  const share = sent === sqlite ? '' : `${showShare(rateOf(sent) / rateOf(sqlite))} of SQLite; `;
  return `${share}other programs took ${(sent.elsewhereS / sent.seconds).toFixed(2)} cores`;
}

function daemonRow({ accept, endToEnd }: Pick<Measured, 'accept' | 'endToEnd'>, sqlite: Measured | null): Row {
  const [accepting, whole] = [accept, endToEnd].map(daemonUs) as [number, number];
  const figures = { us: Math.round(whole), accept_us: Math.round(accepting) };
  const of = 'processor time of the daemon, per message';
  if (sqlite === null) return factRow(`  ${of}`, showUs(whole), figures, `accepting alone ${showUs(accepting)}`);
  const times = whole / daemonUs(sqlite.endToEnd);
  const timesAccepting = accepting / daemonUs(sqlite.accept);
  const beside = `${showTimes(times)} SQLite; accepting alone ${showUs(accepting)}, ${showTimes(timesAccepting)}`;
  return withLimit(
    factRow(`  ${of}`, showUs(whole), { ...figures, times }, beside),
    atMost(times, WANTED_TIMES, showTimes),
  );
}

function serverRow({ accept, endToEnd }: Pick<Measured, 'accept' | 'endToEnd'>): Row {
  const [accepting, whole] = [accept, endToEnd].map(({ serverS, messages }) => (serverS * 1e6) / messages) as [
    number,
    number,
  ];
  const figures = { us: Math.round(whole), accept_us: Math.round(accepting) };
  return factRow('  of the database server', showUs(whole), figures, `accepting alone ${showUs(accepting)}`);
}

function commitRows({ groups, verbs, roundTrips, statements, tries }: Committed, messages: number): Row[] {
  const show = (value: number) => value.toFixed(value < 10 ? 2 : 1);
  const perMessage = `${show(roundTrips / messages)} and ${show(statements / messages)}`;
  return [
    factRow(
      '  operations per commit',
      show(verbs / groups),
      { verbs: verbs / groups, tries: tries / groups },
      `${show(groups / messages)} commits per message, ${show(tries / groups)} tries each`,
    ),
    factRow(
      '  round trips, statements per commit',
      `${show(roundTrips / groups)}, ${show(statements / groups)}`,
      { round_trips: roundTrips / groups, statements: statements / groups },
      `per message ${perMessage}`,
    ),
  ];
}

function daemonUs({ daemonS, messages }: Sent): number {
  return (daemonS * 1e6) / messages;
}

function showUs(us: number): string {
  return `${Math.round(us)} µs`;
}

function showTimes(times: number): string {
  return `${times.toFixed(2)} ×`;
}

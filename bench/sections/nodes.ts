// What several machines cost: SQLite, PostgreSQL with one daemon and with two, all on the same cores, in turns. The
// processor time of daemon and server apart is the figure that lasts: on machines of their own, the rates would differ.
import { type Database, databaseMissing, withDatabaseServer } from '../postgres.ts';
import type { RunContext } from '../run-context.ts';
import { factRow, type Row, showRate } from '../table.ts';
import { answersPerSecond, drain, reconcile, sendTraffic } from '../traffic.ts';
import { withPostrider } from '../with-postrider.ts';
import { added, daemonUs, type Measured, nothingMeasured, rateOf, rowsOf, showUs, usedOf } from './nodes-rows.ts';

// V8 compiles for longer than for rates alone: here it is processor time that is compared.
const WARM_UP_MS = 8000;
/** In turns, so that a machine that is not equally busy all the time treats all alike. */
const TURNS = 2;

interface Kind {
  what: string;
  section: string;
  daemons: number;
  onPostgres: boolean;
}

const SQLITE: Kind = { what: 'SQLite', section: 'sqlite', daemons: 1, onPostgres: false };
const ONE: Kind = { what: 'PostgreSQL, one daemon', section: 'postgres-one', daemons: 1, onPostgres: true };
const TWO: Kind = { what: 'PostgreSQL, two daemons', section: 'postgres-two', daemons: 2, onPostgres: true };

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
    return [...all].flatMap(([{ what, onPostgres }, measured]) => rowsOf(what, measured, onPostgres ? sqlite : null));
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

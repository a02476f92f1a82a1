// This checkout beside others, mostly the state before a change: all daemons are started first and then take turns, in
// reversed order every other round. A machine whose speed changes from minute to minute treats all alike that way.
import path from 'node:path';
import { PROGRAM_OF_THIS_CHECKOUT, programOf } from '../postrider.ts';
import type { RunContext } from '../run-context.ts';
import type { Row } from '../table.ts';
import { answersPerSecond, drain, sendTraffic } from '../traffic.ts';
import { type Setting, withPostrider } from '../with-postrider.ts';
import { rowsOfTurns, type Side, type Turn } from './turns-rows.ts';

/** V8 compiles, and an empty database grows, for longer than the traffic before each turn takes. */
const WARM_ROUNDS = 3;
/** In each turn: connections are opened, and a daemon that was idle has its caches again. */
const WARM_UP_MS = 700;

interface Checkout {
  name: string;
  program: string;
}

/** A checkout whose daemon runs. */
interface Running {
  setting: Setting;
  side: Side;
}

export async function measureTurns(run: RunContext): Promise<Row[]> {
  const others = run.options.against.map((dir) => ({
    name: path.basename(path.resolve(dir)),
    program: programOf(dir),
  }));
  const checkouts = [{ name: 'this checkout', program: PROGRAM_OF_THIS_CHECKOUT }, ...others];
  const { rounds } = run.options;
  const warmRounds = Math.min(WARM_ROUNDS, rounds);
  const rows: Row[] = [];
  for (const greets of [false, true]) {
    const what = greets ? 'end to end' : 'accept, delivery held';
    const sides = await withDaemons(run, { checkouts, greets }, async (running) => {
      for (let round = 0; round < warmRounds + rounds; round++) {
        for (const { setting, side } of round % 2 === 0 ? running : running.toReversed()) {
          const turn = await takeTurn(run, setting, greets);
          if (round >= warmRounds) side.turns.push(turn);
        }
      }
      return running.map(({ side }) => side);
    });
    rows.push(...rowsOfTurns(what, sides));
  }
  return rows;
}

/** Each with a sink of its own, so that what arrives is known to be its. */
function withDaemons<T>(
  run: RunContext,
  plan: { checkouts: readonly Checkout[]; greets: boolean },
  work: (running: Running[]) => Promise<T>,
  running: Running[] = [],
): Promise<T> {
  const { checkouts, greets } = plan;
  const next = checkouts[running.length];
  if (next === undefined) return work(running);
  const section = `${greets ? 'sends' : 'accepts'}-${running.length}`;
  return withPostrider(run, { section, greets, program: next.program }, (setting) =>
    withDaemons(run, plan, work, [...running, { setting, side: { name: next.name, turns: [] } }]),
  );
}

async function takeTurn({ options, folder }: RunContext, { postrider, sink }: Setting, greets: boolean): Promise<Turn> {
  const arrivedBefore = await sink.total();
  const traffic = await sendTraffic({
    ...{ postrider, sink, folder, connections: options.connections, pauseMs: 0, warmUpMs: WARM_UP_MS },
    inFlight: greets ? options.inFlight : null,
    measuredMs: (options.seconds * 1000) / options.rounds,
  });
  const perSecond = greets
    ? (traffic.arrivedWithin * 1000) / (traffic.toMs - traffic.fromMs)
    : answersPerSecond(traffic);
  if (greets) {
    // Nothing of this turn is done during the next one, and the sink forgets what is over.
    await drain(sink, arrivedBefore + traffic.calls.length);
    await sink.arrivals();
  }
  const usOf = (cores: number) => (cores * 1e6) / perSecond;
  const { mainThread = Number.NaN, otherThreads = Number.NaN } = traffic.cores ?? {};
  return { perSecond, mainUs: usOf(mainThread), othersUs: usOf(otherThreads) };
}

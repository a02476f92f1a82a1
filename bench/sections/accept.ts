// How fast calls are answered 202, each of them on disk by then. Once with delivery held, which is
// what taking in costs by itself, and once with delivery at work on the same cores.
import type { RunContext } from '../run-context.ts';
import { spreadOf } from '../spread.ts';
import { latencyRow, type Row, rateRow, showRate, showSpread } from '../table.ts';
import { answersPerSecond, answerTimes, sendTraffic, type Traffic } from '../traffic.ts';
import { withPostrider } from '../with-postrider.ts';

const WARM_UP_MS = 2000;

export async function measureAccept(run: RunContext): Promise<Row[]> {
  const held = await acceptTraffic(run, false);
  const running = await acceptTraffic(run, true);
  const { limits, options } = run;
  const delivered = (running.arrivedWithin * 1000) / (running.toMs - running.fromMs);
  const connections = `${options.connections} connections`;
  return [
    rateRow(
      'accept, delivery held',
      answersPerSecond(held),
      limits ? `bare SQLite ${showRate(limits.insertsPerS)}` : '',
    ),
    latencyRow('  202 after, p50 / p99', spreadOf(answerTimes(held)), fsyncBeside(run, connections)),
    rateRow('accept, delivery running', answersPerSecond(running), `${showRate(delivered)} delivered meanwhile`),
    latencyRow('  202 after, p50 / p99', spreadOf(answerTimes(running)), fsyncBeside(run, connections)),
  ];
}

function fsyncBeside({ limits }: RunContext, note: string): string {
  return limits ? `${note}; fsync ${showSpread(limits.fsync)}` : note;
}

function acceptTraffic(run: RunContext, greets: boolean): Promise<Traffic> {
  const section = greets ? 'accept-running' : 'accept-held';
  return withPostrider(run, { section, greets }, (setting) =>
    sendTraffic({
      ...setting,
      folder: run.folder,
      connections: run.options.connections,
      inFlight: null,
      pauseMs: 0,
      warmUpMs: WARM_UP_MS,
      measuredMs: run.options.seconds * 500,
    }),
  );
}

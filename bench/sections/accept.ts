// How fast calls are answered 202, each of them on disk by then. Once with delivery held, which is
// what taking in costs by itself, and once with delivery at work on the same cores.
import { measureBareAccept } from '../bare-accept-traffic.ts';
import type { RunContext } from '../run-context.ts';
import { spreadOf } from '../spread.ts';
import {
  atLeast,
  factRow,
  latencyRow,
  type Row,
  rateRow,
  showRate,
  showShare,
  showSpread,
  withLimit,
} from '../table.ts';
import { answersPerSecond, answerTimes, sendTraffic, type Traffic } from '../traffic.ts';
import { withPostrider } from '../with-postrider.ts';

const WARM_UP_MS = 2000;

// Of a machine with two cores, load generator and sink on them, and of the bare loop in the same run.
const WANTED_PER_S = 12_000;
const WANTED_SHARE = 0.6;

export async function measureAccept(run: RunContext): Promise<Row[]> {
  // Before and after: a machine that is not quiet is not equally fast from minute to minute.
  const before = await measureBareAccept(run);
  const held = await acceptTraffic(run, false);
  const after = await measureBareAccept(run);
  const running = await acceptTraffic(run, true);
  const { limits, options } = run;
  const [bare, accepted] = [(before.perSecond + after.perSecond) / 2, answersPerSecond(held)];
  const delivered = (running.arrivedWithin * 1000) / (running.toMs - running.fromMs);
  const connections = `${options.connections} connections`;
  const share = accepted / bare;
  return [
    rateRow(
      'bare accept loop',
      bare,
      `${showRate(before.perSecond)} before, ${showRate(after.perSecond)} after the next`,
    ),
    withLimit(
      rateRow('accept, delivery held', accepted, limits ? `bare SQLite ${showRate(limits.insertsPerS)}` : ''),
      atLeast(accepted, WANTED_PER_S),
    ),
    withLimit(
      factRow(
        '  of the bare loop',
        showShare(share),
        { share },
        cpuBeside(held, accepted, (before.cpuUs + after.cpuUs) / 2),
      ),
      atLeast(share, WANTED_SHARE, showShare),
    ),
    latencyRow('  202 after, p50 / p99', spreadOf(answerTimes(held)), fsyncBeside(run, connections)),
    rateRow('accept, delivery running', answersPerSecond(running), `${showRate(delivered)} delivered meanwhile`),
    latencyRow('  202 after, p50 / p99', spreadOf(answerTimes(running)), fsyncBeside(run, connections)),
  ];
}

/** Processor time is less shaken than rates by what else the machine does. */
function cpuBeside({ cores }: Traffic, perSecond: number, bareUs: number): string {
  if (cores === null) return '';
  const us = (cores.mainThread * 1e6) / perSecond;
  return `main thread ${us.toFixed(0)} µs a message, bare ${bareUs.toFixed(0)} µs`;
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
      measuredMs: run.options.seconds * 250,
    }),
  );
}

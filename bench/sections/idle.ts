// How long one message takes when nothing else goes on: one connection, one message at a time, and a
// pause after each, so that the daemon has also written down what became of the last one.
import type { RunContext } from '../run-context.ts';
import { type Spread, spreadOf } from '../spread.ts';
import { type Limit, latencyRow, type Row, showSpread, withLimit } from '../table.ts';
import { answerTimes, drain, sendTraffic, transitTimes } from '../traffic.ts';
import { withPostrider } from '../with-postrider.ts';

const WARM_UP_MS = 2000;
const MEASURED_MS = 6000;
const PAUSE_MS = 15;

export function measureIdle(run: RunContext): Promise<Row[]> {
  return withPostrider(run, { section: 'idle', tellsCommits: true }, async ({ postrider, sink }) => {
    const { groups } = await postrider.committed();
    const traffic = await sendTraffic({
      ...{ postrider, sink, folder: run.folder },
      connections: 1,
      inFlight: 1,
      pauseMs: PAUSE_MS,
      warmUpMs: WARM_UP_MS,
      measuredMs: MEASURED_MS,
    });
    await drain(sink, traffic.calls.length);
    const arrivals = await sink.arrivals();
    const accepted = latencyRow('idle: POST to 202, p50 / p99', spreadOf(answerTimes(traffic)), '');
    const each = ((await postrider.committed()).groups - groups) / traffic.calls.length;
    const commits = commitsRow(each, besideOf(run));
    if (arrivals === null) return [accepted, commits];
    const transit = spreadOf(transitTimes(traffic, arrivals));
    const arrived = latencyRow('idle: POST to arrival, p50 / p99', transit, `${transit.count} messages one by one`);
    return [accepted, withLimit(arrived, limitOf(run, transit)), commits];
  });
}

/** A few more than two: timers commit as well. */
function commitsRow(each: number, beside: string): Row {
  return { what: 'idle: commits per message', measured: each.toFixed(2), beside, figures: { commits: each } };
}

// On a disk whose fsync costs nothing; one lies on the way (accepted and claimed), and one behind it (recorded).
const WANTED_MS = { p50: 8, p99: 30 };
const FSYNCS = 2;

function limitOf({ limits }: RunContext, { p50, p99 }: Spread): Limit | null {
  if (limits === null) return null;
  const wanted = {
    p50: WANTED_MS.p50 + FSYNCS * limits.fsync.p50,
    p99: WANTED_MS.p99 + FSYNCS * limits.fsync.p99,
  };
  return { wanted: `≤ ${showSpread(wanted)}`, met: p50 <= wanted.p50 && p99 <= wanted.p99 };
}

function besideOf({ limits }: RunContext): string {
  return limits ? `fsync ${showSpread(limits.fsync)}` : '';
}

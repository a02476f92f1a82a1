// How long one message takes when nothing else goes on: one connection, one message at a time, and a
// pause after each, so that the daemon has also written down what became of the last one.
import type { RunContext } from '../run-context.ts';
import { spreadOf } from '../spread.ts';
import { latencyRow, type Row, showSpread } from '../table.ts';
import { answerTimes, drain, sendTraffic, transitTimes } from '../traffic.ts';
import { withPostrider } from '../with-postrider.ts';

const WARM_UP_MS = 2000;
const MEASURED_MS = 6000;
const PAUSE_MS = 15;

export function measureIdle(run: RunContext): Promise<Row[]> {
  return withPostrider(run, { section: 'idle' }, async ({ postrider, sink }) => {
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
    const accepted = latencyRow('idle: POST to 202, p50 / p99', spreadOf(answerTimes(traffic)), besideOf(run));
    if (arrivals === null) return [accepted];
    const transit = spreadOf(transitTimes(traffic, arrivals));
    return [accepted, latencyRow('idle: POST to arrival, p50 / p99', transit, `${transit.count} messages one by one`)];
  });
}

function besideOf({ limits }: RunContext): string {
  return limits ? `fsync ${showSpread(limits.fsync)}` : '';
}

// From POST to the 250 at the sink, sustained: a closed loop keeps so many messages on their way and
// no more, so that what is measured is the whole journey and not a growing queue. Afterwards the
// queue is drained, and every 202 is looked for at the sink.
import type { RunContext } from '../run-context.ts';
import type { Arrival } from '../sinks.ts';
import { spreadOf } from '../spread.ts';
import { atLeast, factRow, latencyRow, type Row, rateRow, showRate, withLimit } from '../table.ts';
import { answerTimes, drain, reconcile, sendTraffic, type Traffic, transitTimes } from '../traffic.ts';
import { withPostrider } from '../with-postrider.ts';

const WARM_UP_MS = 3000;
/** Before a profile, which is to show what V8 compiles no longer than it must. */
const PROFILE_WARM_UP_MS = 20_000;
const SIGNATURES_PER_MESSAGE = 2;

export function measureEndToEnd(run: RunContext): Promise<Row[]> {
  const { options } = run;
  return withPostrider(run, { section: 'end-to-end' }, async ({ postrider, sink }) => {
    const traffic = await sendTraffic({
      ...{ postrider, sink, folder: run.folder },
      connections: options.connections,
      inFlight: options.inFlight,
      pauseMs: 0,
      warmUpMs: options.profile ? PROFILE_WARM_UP_MS : WARM_UP_MS,
      measuredMs: options.seconds * 1000,
    });
    const arrived = await drain(sink, traffic.calls.length);
    const arrivals = await sink.arrivals();
    return [
      withLimit(
        rateRow('end to end, POST to arrival', rateOf(traffic), besideOf(run)),
        atLeast(rateOf(traffic), WANTED_PER_S),
      ),
      ...postfixRows(run, rateOf(traffic)),
      ...(arrivals ? steadinessRow(traffic, arrivals) : []),
      ...(arrivals ? [transitRow(traffic, arrivals, options.inFlight)] : []),
      latencyRow('  202 after, p50 / p99', spreadOf(answerTimes(traffic)), ''),
      ...coresRow(traffic),
      arrivals ? reconciliationRow(traffic, arrivals) : countRow(traffic, arrived),
    ];
  });
}

// On a machine with two cores, load generator and sink on them; and against Postfix in the same run.
const WANTED_PER_S = 2500;
const WANTED_TIMES_BARE = 2;
const WANTED_TIMES_SIGNING = 4;

function postfixRows({ postfix }: RunContext, perSecond: number): Row[] {
  if (postfix === null) return [];
  const times = (what: string, of: number, wanted: number) =>
    withLimit(
      factRow(what, showTimes(perSecond / of), { times: perSecond / of }, showRate(of)),
      atLeast(perSecond / of, wanted, showTimes),
    );
  return [
    times('  times a bare Postfix', postfix.bare, WANTED_TIMES_BARE),
    ...(postfix.signing === null
      ? []
      : [times('  times Postfix with OpenDKIM', postfix.signing, WANTED_TIMES_SIGNING)]),
  ];
}

function showTimes(times: number): string {
  return `${times.toFixed(1)} ×`;
}

function rateOf({ arrivedWithin, fromMs, toMs }: Traffic): number {
  return (arrivedWithin * 1000) / (toMs - fromMs);
}

function besideOf({ limits, options }: RunContext): string {
  const over = `over ${options.seconds} s`;
  return limits ? `${over}; signing alone ${showRate(limits.signaturesPerS / SIGNATURES_PER_MESSAGE)} and core` : over;
}

function transitRow(traffic: Traffic, arrivals: Arrival[], inFlight: number): Row {
  const transit = spreadOf(transitTimes(traffic, arrivals));
  return latencyRow('  arrived after, p50 / p99', transit, `${inFlight} messages on their way at once`);
}

/** Whole seconds only; a rate that is no rate would not be seen in the mean. */
function steadinessRow({ fromMs, toMs }: Traffic, arrivals: Arrival[]): Row[] {
  const perSecond = Array<number>(Math.floor((toMs - fromMs) / 1000)).fill(0);
  for (const { atMs } of arrivals) {
    const second = Math.floor((atMs - fromMs) / 1000);
    if (second >= 0 && second < perSecond.length) perSecond[second]!++;
  }
  if (perSecond.length === 0) return [];
  const [slowest, fastest] = [Math.min(...perSecond), Math.max(...perSecond)];
  const figures = { slowest_per_s: slowest, fastest_per_s: fastest };
  return [factRow('  slowest, fastest second', `${showRate(slowest)}, ${showRate(fastest)}`, figures)];
}

function coresRow({ cores, peakMemoryMiB }: Traffic): Row[] {
  if (cores === null) return [];
  const { mainThread, otherThreads, load, sink } = cores;
  const show = (value: number) => value.toFixed(2);
  const memory = peakMemoryMiB === null ? '' : `; daemon's memory at most ${Math.round(peakMemoryMiB)} MiB`;
  const figures = { main_thread: mainThread, other_threads: otherThreads, load, sink, memory_mib: peakMemoryMiB ?? 0 };
  const beside = `load generator ${show(load)}, sink ${show(sink)}${memory}`;
  return [factRow('  cores: main thread, others', `${show(mainThread)}, ${show(otherThreads)}`, figures, beside)];
}

function reconciliationRow({ calls }: Traffic, arrivals: Arrival[]): Row {
  const { lost, twice } = reconcile(calls, arrivals);
  const figures = { accepted: calls.length, lost, twice };
  return factRow('  after draining: lost, twice', `${lost}, ${twice}`, figures, `of ${calls.length} answered 202`);
}

function countRow({ calls }: Traffic, arrived: number): Row {
  const figures = { accepted: calls.length, arrived };
  return factRow('  after draining: at the sink', String(arrived), figures, `of ${calls.length} answered 202`);
}

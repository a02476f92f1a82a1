// Sends for a while and brings together what the load generator and the sink have seen: when each
// message was posted, when it was answered, when it arrived, and what the processors did meanwhile.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type CpuTime, cpuTimeOf, peakMemoryMiB } from './cpu-time.ts';
import type { LoadJob, LoadReport } from './load.ts';
import { monotonicMs } from './monotonic.ts';
import type { Postrider } from './postrider.ts';
import { startProcess } from './processes.ts';
import { type Clocks, readClocks } from './profile/clocks.ts';
import type { Arrival, Sink } from './sinks.ts';

export interface TrafficPlan {
  folder: string;
  postrider: Postrider;
  sink: Sink;
  connections: number;
  inFlight: number | null;
  /** Left out: as fast as the other limits let it. */
  perSecond?: number;
  pauseMs: number;
  /** Sent before, not measured: code gets compiled, connections get opened. */
  warmUpMs: number;
  measuredMs: number;
}

export interface Call {
  messageId: string;
  calledAtMs: number;
  answeredAtMs: number;
}

export interface Traffic {
  /** What was posted and answered 202, warm-up included. */
  calls: Call[];
  fromMs: number;
  toMs: number;
  /** Messages that reached the sink between `fromMs` and `toMs`. */
  arrivedWithin: number;
  /** Cores in use between `fromMs` and `toMs`; null where that cannot be known. */
  cores: { mainThread: number; otherThreads: number; load: number; sink: number } | null;
  peakMemoryMiB: number | null;
}

export async function sendTraffic(plan: TrafficPlan): Promise<Traffic> {
  const { postrider, sink, warmUpMs, measuredMs } = plan;
  const timesFile = path.join(plan.folder, 'calls');
  const load = startProcess<LoadJob, LoadReport>(new URL('./load.ts', import.meta.url));
  try {
    const running = load.ask({ ...jobOf(plan), timesFile });
    const early = running.then(() => null);
    await Promise.race([pause(warmUpMs), early]);
    const before = await look(postrider, sink, load.pid);
    await Promise.race([pause(measuredMs), early]);
    const after = await look(postrider, sink, load.pid);
    const report = await running;
    if (report.refused > 0) throw new Error(`${report.refused} calls were refused: ${report.firstRefusal}`);
    const traffic = {
      calls: readCalls(fs.readFileSync(timesFile, 'latin1')),
      fromMs: before.atMs,
      toMs: after.atMs,
      arrivedWithin: after.arrived - before.arrived,
      cores: coresBetween(before, after),
      peakMemoryMiB: peakMemoryMiB(postrider.pid),
    };
    // Where delivery is held, a message is one that was accepted.
    const messages = traffic.arrivedWithin || callsWithin(traffic).length;
    postrider.watch?.measure(before.clocks, after.clocks, messages);
    return traffic;
  } finally {
    await load.stop();
  }
}

function jobOf(plan: TrafficPlan): Omit<LoadJob, 'timesFile'> {
  const { postrider, sink, connections, inFlight, perSecond = null, pauseMs, warmUpMs, measuredMs } = plan;
  const { httpPort, token, from, domains } = postrider;
  const { progressPort } = sink;
  const durationMs = warmUpMs + measuredMs;
  return { httpPort, token, from, domains, progressPort, connections, inFlight, perSecond, pauseMs, durationMs };
}

interface Look {
  atMs: number;
  clocks: Clocks | null;
  arrived: number;
  daemon: CpuTime | null;
  load: CpuTime | null;
  sink: CpuTime | null;
}

async function look(postrider: Postrider, sink: Sink, loadPid: number): Promise<Look> {
  const arrived = await sink.total();
  return {
    atMs: monotonicMs(),
    clocks: readClocks(postrider.pid),
    arrived,
    daemon: cpuTimeOf(postrider.pid),
    load: cpuTimeOf(loadPid),
    sink: cpuTimeOf(sink.pid),
  };
}

function coresBetween(before: Look, after: Look): Traffic['cores'] {
  const seconds = (after.atMs - before.atMs) / 1000;
  const used = (key: 'daemon' | 'load' | 'sink', part: keyof CpuTime) =>
    ((after[key]?.[part] ?? Number.NaN) - (before[key]?.[part] ?? Number.NaN)) / seconds;
  const cores = {
    mainThread: used('daemon', 'mainThreadS'),
    otherThreads: used('daemon', 'otherThreadsS'),
    load: used('load', 'mainThreadS') + used('load', 'otherThreadsS'),
    sink: used('sink', 'mainThreadS') + used('sink', 'otherThreadsS'),
  };
  return Object.values(cores).some(Number.isNaN) ? null : cores;
}

function readCalls(text: string): Call[] {
  if (text === '') return [];
  return text.split('\n').map((line) => {
    const [messageId = '', calledAt, answeredAt] = line.split(' ');
    return { messageId, calledAtMs: Number(calledAt), answeredAtMs: Number(answeredAt) };
  });
}

const NO_PROGRESS_MS = 10_000;
const LOOK_EVERY_MS = 20;

/** Waits until the sink has so many messages, or gets no more; how many it then has. */
export async function drain(sink: Sink, wanted: number): Promise<number> {
  let total = await sink.total();
  for (let quietSince = monotonicMs(); total < wanted && monotonicMs() - quietSince < NO_PROGRESS_MS; ) {
    await pause(LOOK_EVERY_MS);
    const now = await sink.total();
    if (now > total) quietSince = monotonicMs();
    total = now;
  }
  return total;
}

/** From the call to the arrival, for the calls that began in the measured time. */
export function transitTimes({ calls, fromMs, toMs }: Traffic, arrivals: readonly Arrival[]): number[] {
  const arrivedAt = new Map(arrivals.map(({ messageId, atMs }) => [messageId, atMs]));
  return callsWithin({ calls, fromMs, toMs }).flatMap(({ messageId, calledAtMs }) => {
    const atMs = arrivedAt.get(messageId);
    return atMs === undefined ? [] : [atMs - calledAtMs];
  });
}

export function answerTimes(traffic: Traffic): number[] {
  return callsWithin(traffic).map(({ calledAtMs, answeredAtMs }) => answeredAtMs - calledAtMs);
}

function callsWithin({ calls, fromMs, toMs }: Pick<Traffic, 'calls' | 'fromMs' | 'toMs'>): Call[] {
  return calls.filter(({ calledAtMs }) => calledAtMs >= fromMs && calledAtMs < toMs);
}

export function answersPerSecond({ calls, fromMs, toMs }: Traffic): number {
  const answered = calls.filter(({ answeredAtMs }) => answeredAtMs >= fromMs && answeredAtMs < toMs).length;
  return (answered * 1000) / (toMs - fromMs);
}

export interface Reconciliation {
  lost: number;
  twice: number;
}

/** Every 202 against what arrived. */
export function reconcile(calls: readonly Call[], arrivals: readonly Arrival[]): Reconciliation {
  const times = new Map<string, number>();
  for (const { messageId } of arrivals) times.set(messageId, (times.get(messageId) ?? 0) + 1);
  const lost = calls.filter(({ messageId }) => !times.has(messageId)).length;
  const twice = [...times.values()].filter((count) => count > 1).length;
  return { lost, twice };
}

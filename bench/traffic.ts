// Sends for a while and brings together what the load generator and the sink have seen: when each
// message was posted, when it was answered, when it arrived, and what the processors did meanwhile.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { busyTimeOfMachine, type CpuTime, cpuTimeOf, peakMemoryMiB } from './cpu-time.ts';
import type { LoadJob, LoadReport } from './load.ts';
import { monotonicMs } from './monotonic.ts';
import type { Postrider } from './postrider.ts';
import { startProcess } from './processes.ts';
import { type Clocks, readClocks } from './profile/clocks.ts';
import type { Arrival, Sink } from './sinks.ts';

export interface TrafficPlan {
  folder: string;
  postrider: Postrider;
  /** More daemons on the same database: calls go to all in turn. */
  others?: readonly Postrider[];
  /** The database's server, where there is one. */
  server?: { usedS(): number | null };
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
  cores: Cores | null;
  peakMemoryMiB: number | null;
}

export interface Cores {
  /** Of all daemons. */
  mainThread: number;
  otherThreads: number;
  server: number;
  load: number;
  sink: number;
  /** Programs that are no part of the run. */
  elsewhere: number;
}

export async function sendTraffic(plan: TrafficPlan): Promise<Traffic> {
  const { postrider, others = [], warmUpMs, measuredMs } = plan;
  const timesFile = path.join(plan.folder, 'calls');
  const load = startProcess<LoadJob, LoadReport>(new URL('./load.ts', import.meta.url));
  try {
    const running = load.ask({ ...jobOf(plan), timesFile });
    const early = running.then(() => null);
    await Promise.race([pause(warmUpMs), early]);
    const before = await look(plan, load.pid);
    await Promise.race([pause(measuredMs), early]);
    const after = await look(plan, load.pid);
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
    postrider.watch?.measure(before.clocks, after.clocks, messages / (1 + others.length));
    return traffic;
  } finally {
    await load.stop();
  }
}

function jobOf(plan: TrafficPlan): Omit<LoadJob, 'timesFile'> {
  const { postrider, others = [], sink, connections, inFlight, perSecond = null, pauseMs } = plan;
  const { token, from, domains } = postrider;
  const httpPorts = [postrider, ...others].map(({ httpPort }) => httpPort);
  const { progressPort } = sink;
  const durationMs = plan.warmUpMs + plan.measuredMs;
  return { httpPorts, token, from, domains, progressPort, connections, inFlight, perSecond, pauseMs, durationMs };
}

interface Look {
  atMs: number;
  clocks: Clocks | null;
  arrived: number;
  /** Processor time so far, in seconds; NaN where it cannot be known. */
  used: Cores;
}

async function look({ postrider, others = [], server, sink }: TrafficPlan, loadPid: number): Promise<Look> {
  const arrived = await sink.total();
  const daemons = [postrider, ...others].map(({ pid }) => cpuTimeOf(pid) ?? UNKNOWN);
  const sum = (times: readonly number[]) => times.reduce((one, other) => one + other, 0);
  const mainThread = sum(daemons.map(({ mainThreadS }) => mainThreadS));
  const otherThreads = sum(daemons.map(({ otherThreadsS }) => otherThreadsS));
  const [load, sinkS, bench] = [loadPid, sink.pid, process.pid].map((pid) => {
    const { mainThreadS, otherThreadsS } = cpuTimeOf(pid) ?? UNKNOWN;
    return mainThreadS + otherThreadsS;
  }) as [number, number, number];
  const serverS = server ? (server.usedS() ?? Number.NaN) : 0;
  const ours = mainThread + otherThreads + serverS + load + sinkS + bench;
  const elsewhere = (busyTimeOfMachine() ?? Number.NaN) - ours;
  return {
    atMs: monotonicMs(),
    clocks: readClocks(postrider.pid),
    arrived,
    used: { mainThread, otherThreads, server: serverS, load, sink: sinkS, elsewhere },
  };
}

const UNKNOWN: CpuTime = { mainThreadS: Number.NaN, otherThreadsS: Number.NaN };

function coresBetween(before: Look, after: Look): Cores | null {
  const seconds = (after.atMs - before.atMs) / 1000;
  const between = (part: keyof Cores) => (after.used[part] - before.used[part]) / seconds;
  const cores: Cores = {
    mainThread: between('mainThread'),
    otherThreads: between('otherThreads'),
    server: between('server'),
    load: between('load'),
    sink: between('sink'),
    elsewhere: Math.max(0, between('elsewhere')),
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

/** Waits until the sink has so many messages, or gets no more for so long; how many it then has. */
export async function drain(sink: Sink, wanted: number, noProgressMs = NO_PROGRESS_MS): Promise<number> {
  let total = await sink.total();
  for (let quietSince = monotonicMs(); total < wanted && monotonicMs() - quietSince < noProgressMs; ) {
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

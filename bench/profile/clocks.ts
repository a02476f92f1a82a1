// What the kernel says about the processor time of a process: of all of it, and of each thread. Linux only.
import fs from 'node:fs';
import { cpuTimeOf } from '../cpu-time.ts';
import { monotonicMs } from '../monotonic.ts';

export interface ThreadClock {
  /** As the kernel has it, at most 15 characters. */
  name: string;
  us: number;
}

export interface Clocks {
  atUs: number;
  /** Of the whole process, threads that have ended included. */
  processUs: number;
  /** By the system's number of the thread. */
  threads: Map<number, ThreadClock>;
}

/** Null where it cannot be known. */
export function readClocks(pid: number): Clocks | null {
  const cpu = cpuTimeOf(pid);
  if (cpu === null) return null;
  const threads = fs.readdirSync(`/proc/${pid}/task`).flatMap((id) => {
    const clock = threadClock(`/proc/${pid}/task/${id}`);
    return clock === null ? [] : [[Number(id), clock] as const];
  });
  const processUs = (cpu.mainThreadS + cpu.otherThreadsS) * 1e6;
  return { atUs: monotonicMs() * 1000, processUs, threads: new Map(threads) };
}

/** Null when it has ended meanwhile. The first number of schedstat is its time on a processor, in nanoseconds. */
function threadClock(folder: string): ThreadClock | null {
  try {
    const [onProcessorNs] = fs.readFileSync(`${folder}/schedstat`, 'latin1').split(' ');
    return { name: fs.readFileSync(`${folder}/comm`, 'latin1').trim(), us: Number(onProcessorNs) / 1000 };
  } catch {
    return null;
  }
}

export interface UsedTime {
  fromUs: number;
  toUs: number;
  processUs: number;
  threads: Map<number, ThreadClock>;
}

export function usedBetween(before: Clocks, after: Clocks): UsedTime {
  const threads = [...after.threads].map(([id, { name, us }]) => {
    return [id, { name, us: us - (before.threads.get(id)?.us ?? 0) }] as const;
  });
  return {
    fromUs: before.atUs,
    toUs: after.atUs,
    processUs: after.processUs - before.processUs,
    threads: new Map(threads),
  };
}

// How much processor time a process has used, its main thread apart from the others: tells what a
// figure is limited by. Linux only; elsewhere it is not known.
import fs from 'node:fs';

export interface CpuTime {
  mainThreadS: number;
  otherThreadsS: number;
}

// USER_HZ: what /proc counts in. It is 100 on every architecture that Node runs on.
const TICKS_PER_S = 100;

// Places behind the name, which may hold blanks, in /proc/PID/stat: proc(5) counts from the process number on.
const [UTIME, STIME, ENDED_UTIME, ENDED_STIME] = [11, 12, 13, 14] as const;

export function cpuTimeOf(pid: number): CpuTime | null {
  try {
    const all = ticksIn(`/proc/${pid}/stat`, [UTIME, STIME]) / TICKS_PER_S;
    const mainThreadS = ticksIn(`/proc/${pid}/task/${pid}/stat`, [UTIME, STIME]) / TICKS_PER_S;
    return { mainThreadS, otherThreadsS: Math.max(0, all - mainThreadS) };
  } catch {
    return null;
  }
}

function ticksIn(file: string, places: readonly number[]): number {
  const text = fs.readFileSync(file, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return places.reduce((sum, place) => sum + Number(fields[place]), 0);
}

/** Of a process and its children, those that have ended included: a PostgreSQL server has one for each connection. */
export function cpuTimeWithChildren(pid: number): number | null {
  try {
    const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);
    const running = children.reduce((sum, child) => sum + secondsOf(cpuTimeOf(Number(child))), 0);
    return running + ticksIn(`/proc/${pid}/stat`, [UTIME, STIME, ENDED_UTIME, ENDED_STIME]) / TICKS_PER_S;
  } catch {
    return null;
  }
}

/** 0 for a process that has ended meanwhile: its parent has its time by then. */
function secondsOf(time: CpuTime | null): number {
  return time === null ? 0 : time.mainThreadS + time.otherThreadsS;
}

/** How long the machine's processors were busy, for whomever: how much of that was other programs' tells how to read a figure. */
export function busyTimeOfMachine(): number | null {
  try {
    const [line = ''] = fs.readFileSync('/proc/stat', 'latin1').split('\n');
    const [user, nice, system, , , irq, softIrq, steal] = line.trim().split(/ +/).slice(1).map(Number);
    return (user! + nice! + system! + irq! + softIrq! + steal!) / TICKS_PER_S;
  } catch {
    return null;
  }
}

/** Resident memory of the process at its highest. */
export function peakMemoryMiB(pid: number): number | null {
  return memoryMiB(pid, 'VmHWM');
}

/** Resident memory of the process, now; without the pages of files that it has mapped. */
export function ownMemoryMiB(pid: number): number | null {
  return memoryMiB(pid, 'RssAnon');
}

function memoryMiB(pid: number, field: string): number | null {
  try {
    const status = fs.readFileSync(`/proc/${pid}/status`, 'latin1');
    const kib = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    return kib === undefined ? null : Number(kib) / 1024;
  } catch {
    return null;
  }
}

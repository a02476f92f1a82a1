// How much processor time a process has used, its main thread apart from the others: tells what a
// figure is limited by. Linux only; elsewhere it is not known.
import fs from 'node:fs';

export interface CpuTime {
  mainThreadS: number;
  otherThreadsS: number;
}

// USER_HZ: what /proc counts in. It is 100 on every architecture that Node runs on.
const TICKS_PER_S = 100;

export function cpuTimeOf(pid: number): CpuTime | null {
  try {
    const all = secondsIn(`/proc/${pid}/stat`);
    const mainThreadS = secondsIn(`/proc/${pid}/task/${pid}/stat`);
    return { mainThreadS, otherThreadsS: Math.max(0, all - mainThreadS) };
  } catch {
    return null;
  }
}

/** proc(5): fields 14 and 15, utime and stime; the second field may hold blanks. */
function secondsIn(file: string): number {
  const text = fs.readFileSync(file, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S;
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

// How much memory another process holds, as Linux tells it under /proc.
import fs from 'node:fs';

const BYTES_PER_KIB = 1024;

/** The process that was started with this among its arguments. */
export function pidByArgument(argument: string): number {
  for (const entry of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (fs.readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0').includes(argument)) return Number(entry);
    } catch {
      // It has ended since the folder was read.
    }
  }
  throw new Error(`no process has the argument ${argument}`);
}

export interface ProcessMemory {
  nowBytes: number;
  /** The most that it ever was. */
  peakBytes: number;
}

export function memoryOf(pid: number): ProcessMemory {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * BYTES_PER_KIB;
  return { nowBytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') };
}

export function inMib(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

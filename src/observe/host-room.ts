// The machine's resources: free disk space of a folder, and the memory that this process may use.

import fs from 'node:fs';
import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { Fault } from '../base/errors.ts';

/** As `df` counts, without the blocks reserved for root; null when it is unknown. */
export async function diskFreeShare(folder: string): Promise<number | null> {
  try {
    const { blocks, bfree, bavail } = await statfs(folder);
    const usable = blocks - bfree + bavail;
    return usable > 0 ? bavail / usable : null;
  } catch {
    return null;
  }
}

/** What this process may still write there; null when it is unknown. */
export async function diskFreeBytes(folder: string): Promise<number | null> {
  try {
    const { bsize, bavail } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** A number of bytes as a share of what `diskFreeShare` counts; 0 when that is unknown. */
export async function shareOfDisk(folder: string, bytes: number): Promise<number> {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(folder);
    const usable = (blocks - bfree + bavail) * bsize;
    return usable > 0 ? bytes / usable : 0;
  } catch {
    return 0;
  }
}

/** The machine's memory, or less if a cgroup (a container, systemd's MemoryMax) limits it. */
export function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  // Without a limit the kernel returns 0 or a number beyond all memory.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * The memory in use by this process. On Linux it is read from a file, which cannot be opened when file descriptors run
 * out: then the last value is returned. Callers decide about new mail, and must not fail because of that.
 */
export function residentMemory(read: () => number = () => process.memoryUsage.rss()): () => number {
  let last = 0;
  return () => {
    try {
      last = read();
    } catch {
      // The parts that need descriptors report this fault.
    }
    return last;
  };
}

// How many files the daemon may open, and how many it needs. Linux shows the limit in /proc; Node has already raised
// the soft limit to the hard one.

// Listeners, log, locks, the database over four connections of three files each, and the channels of all threads but
// couriers take about 60; the rest is for a few sessions, calls and the reading process.
const BASE = 128;
const PER_WORKER = 16;

/** Null where the system does not show it. */
function descriptorLimit(): number | null {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'utf8'));
    return found ? Number(found[1]) : null;
  } catch {
    return null;
  }
}

/** At start: with fewer, threads could not start, and mail would be accepted but not delivered. */
export function requireDescriptors(workers: number, limit: number | null = descriptorLimit()): void {
  const needed = BASE + workers * PER_WORKER;
  if (limit === null || limit >= needed) return;
  throw new Fault(
    `the open-file limit is ${limit}, but with delivery.workers = ${workers} Postrider needs at least ${needed}: raise it with LimitNOFILE=65536 in the systemd unit (systemd/postrider.service has it), or with ulimit -n 65536 in a shell`,
    { permanence: 'permanent' },
  );
}

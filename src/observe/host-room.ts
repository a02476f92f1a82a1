// What the machine has left: free disk below a folder, and the memory that this process may take.

import fs from 'node:fs';
import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { Fault } from '../base/errors.ts';

/** As `df` counts it, without the blocks that are reserved for root; null when it cannot be told. */
export async function diskFreeShare(folder: string): Promise<number | null> {
  try {
    const { blocks, bfree, bavail } = await statfs(folder);
    const usable = blocks - bfree + bavail;
    return usable > 0 ? bavail / usable : null;
  } catch {
    return null;
  }
}

/** So many bytes as a part of what `diskFreeShare` counts; 0 when that cannot be told. */
export async function shareOfDisk(folder: string, bytes: number): Promise<number> {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(folder);
    const usable = (blocks - bfree + bavail) * bsize;
    return usable > 0 ? bytes / usable : 0;
  } catch {
    return 0;
  }
}

/** The machine's memory, or less where a cgroup (a container, MemoryMax of systemd) says so. */
export function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  // Without a limit the kernel answers 0 or a number beyond all memory.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * The memory that this process has in use. Linux tells it by a file, which cannot be opened while file descriptors
 * run out: then it is what it was last. Whoever asks decides about new mail, and must not fail for that.
 */
export function residentMemory(read: () => number = () => process.memoryUsage.rss()): () => number {
  let last = 0;
  return () => {
    try {
      last = read();
    } catch {
      // The fault of the descriptors is told by what needs them; here there is nothing to add.
    }
    return last;
  };
}

// How many files the daemon may have open, and how many it needs. Linux tells the limit in /proc; Node has raised the
// soft one to the hard one by the time anything of ours runs.

// Listeners, log, locks, the database over four connections of three files each, and the channels of the threads that
// are not couriers hold about 60; the rest is for a few sessions, calls and the process that reads lists.
const BASE = 128;
const PER_WORKER = 16;

/** Null where the system does not tell. */
function descriptorLimit(): number | null {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'utf8'));
    return found ? Number(found[1]) : null;
  } catch {
    return null;
  }
}

/** At the start: with fewer, threads could not be started and mail would be taken that nobody delivers. */
export function refuseFewDescriptors(workers: number, limit: number | null = descriptorLimit()): void {
  const needed = BASE + workers * PER_WORKER;
  if (limit === null || limit >= needed) return;
  throw new Fault(
    `the open-file limit is ${limit}, but with delivery.workers = ${workers} Postrider needs at least ${needed}: raise it with LimitNOFILE=65536 in the systemd unit (systemd/postrider.service has it), or with ulimit -n 65536 in a shell`,
    { permanence: 'permanent' },
  );
}

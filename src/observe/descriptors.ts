// How many files the daemon may have open, and how many it needs. Linux tells the limit in /proc; Node has raised the
// soft one to the hard one by the time anything of ours runs.
import fs from 'node:fs';
import { Fault } from '../base/errors.ts';

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
    `the limit of open files is ${limit}, and with delivery.workers = ${workers} Postrider needs at least ${needed}: raise it with LimitNOFILE=65536 in the systemd unit (systemd/postrider.service has it), or with ulimit -n 65536 in a shell`,
    { permanence: 'permanent' },
  );
}

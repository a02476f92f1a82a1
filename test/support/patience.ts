// The one place that says how long a test may wait. A limit on waiting is a fence against hanging, never a verdict on
// speed: it is multiplied by how slow the machine is right now, as scripts/test-pace.ts measures it.
// `ProcessorTime` is for verdicts on cost: other programs do not change it as they change the time on the clock.
import fs from 'node:fs';
import os from 'node:os';
import { boundPace, RUN_FOLDER_VARIABLE, readPace } from '../../scripts/test-pace.ts';

/** At least 1: how many times slower than a quiet machine. Changes while a test runs. */
export function pace(): number {
  const folder = process.env[RUN_FOLDER_VARIABLE];
  const measured = folder === undefined ? null : readPace(folder);
  return boundPace(Math.max(measured ?? 1, os.loadavg()[0]! / os.availableParallelism()));
}

/** A limit that suits a quiet machine, for this one as it is now. Also for the product's limits that a test shortens. */
export function patience(quietMs: number): number {
  return Math.ceil(quietMs * pace());
}

/** Rejects when the promise takes longer than that. */
export async function within<T>(quietMs: number, what: string, promise: Promise<T>): Promise<T> {
  const limitMs = patience(quietMs);
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${limitMs / 1000} s: ${what}`)), limitMs);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Milliseconds of processor time of the main thread alone, since it began; elsewhere than on Linux the time of the clock. */
export function mainThreadMs(): number {
  try {
    return Number(fs.readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

/** Milliseconds of processor time, user and system, that this whole process (all its threads) has used since then. */
export class ProcessorTime {
  readonly #since = process.cpuUsage();

  get usedMs(): number {
    const { user, system } = process.cpuUsage(this.#since);
    return (user + system) / 1000;
  }
}

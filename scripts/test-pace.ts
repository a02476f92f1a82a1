// How much slower than a quiet machine this one is right now, for what tests typically wait for: a process that
// starts, a burst of processor work, a timer. `run-tests.ts` measures at its start and keeps measuring, and leaves the
// figure where test/support/patience.ts reads it: every limit on waiting in a test is multiplied by it.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The folder of one run of the tests: the pace, and what each file is doing (`test-whereabouts.ts`). */
export const RUN_FOLDER_VARIABLE = 'POSTRIDER_TEST_RUN';
/** Where tests wait for a hang, a limit must still end it. */
export const MAX_PACE = 10;

/** What these take on the quiet two-core machine for which the limits in the tests were chosen. */
const QUIET = { processMs: 60, burstMs: 25, timerMs: 10 };
/** 25 ms of SHA-256. */
const BURST_BYTES = 16 * 1024 * 1024;
/** A timer that is late by a few milliseconds slows nothing down. */
const LATE_MS = 15;
const REMEASURE_MS = 5000;
/** Load comes in gusts: the worst of the last measurements counts. */
const REMEMBERED = 6;

export interface Pace {
  factor: number;
  /** For people. */
  reason: string;
}

/** About a third of a second on a quiet machine. */
export async function measurePace(): Promise<Pace> {
  const burst = Buffer.alloc(BURST_BYTES, 7);
  const took = {
    process: (await elapsed(startProcess)) / QUIET.processMs,
    'a burst of work': (await elapsed(async () => createHash('sha256').update(burst).digest())) / QUIET.burstMs,
    'a timer': (await elapsed(() => sleep(QUIET.timerMs))) / (QUIET.timerMs + LATE_MS),
    'the load average': os.loadavg()[0]! / os.availableParallelism(),
  };
  const [what, most] = Object.entries(took).reduce((worst, one) => (one[1] > worst[1] ? one : worst));
  return { factor: boundPace(most), reason: what };
}

export function boundPace(factor: number): number {
  return Number.isFinite(factor) ? Math.min(MAX_PACE, Math.max(1, factor)) : 1;
}

/** Null where no run of the tests has left one. */
export function readPace(folder: string): number | null {
  try {
    return boundPace(Number(fs.readFileSync(paceFile(folder), 'utf8')));
  } catch {
    return null;
  }
}

/** Measures again every few seconds until it is stopped. The first measurement is over when this resolves. */
export async function keepPace(folder: string, measure = measurePace): Promise<{ first: Pace; stop(): void }> {
  const recent: number[] = [];
  const look = async () => {
    const pace = await measure();
    recent.push(pace.factor);
    if (recent.length > REMEMBERED) recent.shift();
    // A reader must never find half a number.
    fs.writeFileSync(`${paceFile(folder)}.new`, String(Math.max(...recent)));
    fs.renameSync(`${paceFile(folder)}.new`, paceFile(folder));
    return pace;
  };
  const first = await look();
  let isOver = false;
  const again = async () => {
    await look().catch(() => {}); // no process could be started, for instance: the last figure stays
    if (!isOver) timer = setTimeout(again, REMEASURE_MS);
  };
  let timer = setTimeout(again, REMEASURE_MS);
  return {
    first,
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

const paceFile = (folder: string) => path.join(folder, 'pace');

async function startProcess(): Promise<void> {
  const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore', env: { PATH: process.env.PATH } });
  await once(child, 'exit');
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

// Runs in the threads of job-pool.test.ts: starts as the test wants it to, and does jobs that go well or wrong.
import { workerData } from 'node:worker_threads';
import { startJobThread } from '../../src/threads/job-thread.ts';

export const START = { well: 0, dies: 1, hangs: 2 } as const;

export type TestJob = { do: 'echo'; value: string } | { do: 'spin' | 'exit' | 'fill' | 'throw' };

/** How threads start now, and how many have begun to. */
const control = workerData as Int32Array;
if (control instanceof Int32Array) {
  Atomics.add(control, 1, 1);
  Atomics.notify(control, 1);
  if (control[0] === START.dies) throw new Error('died at its start');
  while (control[0] === START.hangs) Atomics.wait(control, 0, START.hangs);
  startJobThread();
}

export function runJob(job: TestJob): string {
  switch (job.do) {
    case 'echo':
      return job.value;
    case 'spin':
      for (;;);
    case 'exit':
      return process.exit(3);
    case 'fill': {
      const kept: string[][] = [];
      for (;;) kept.push(Array.from({ length: 10_000 }, (_, n) => `${n} ${kept.length}`));
    }
    case 'throw':
      throw new Error('not well made');
  }
}

// One thread that renders: what it is started with, and what is said of a job that had to be killed.
import { Worker } from 'node:worker_threads';
import { type Exceeded, KillableThread } from '../base/killable-thread.ts';
import { createProgressMemory, Progress } from './progress.ts';
import type { RenderJob, RenderResult, ThreadSettings } from './render-job.ts';
import type { RenderLimits } from './render-limits.ts';

export interface RenderThreadOptions {
  limits: RenderLimits;
  onIdle(): void;
  onTrouble(error: unknown): void;
}

export function startRenderThread({ limits, onIdle, onTrouble }: RenderThreadOptions) {
  let progress = new Progress(createProgressMemory());

  const startWorker = () => {
    const memory = createProgressMemory();
    progress = new Progress(memory);
    return new Worker(new URL('./render-worker.ts', import.meta.url), {
      workerData: { limits, progress: memory } satisfies ThreadSettings,
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb },
      name: 'render',
    });
  };

  const exceeded = ({ source }: RenderJob, what: Exceeded): RenderResult => {
    const problem =
      what === 'time' ? `takes longer than ${limits.jobMs} ms` : `needs more than ${limits.memoryMb} MB of memory`;
    return { kind: 'flawed', flaw: { problem, ...progress.read(source) } };
  };

  const thread = new KillableThread<RenderJob, RenderResult>({
    ...{ startWorker, exceeded, onIdle, onTrouble },
    jobMs: limits.jobMs,
  });
  return {
    get state() {
      return thread.state;
    },
    run(job: RenderJob) {
      progress.reset();
      return thread.run(job);
    },
    close: () => thread.close(),
  };
}

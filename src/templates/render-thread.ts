// The main thread's hold on one render thread: starts it, gives it one job at a time, kills it
// when the job does not end, and starts another in its place.
import { Worker } from 'node:worker_threads';
import { Fault } from '../base/errors.ts';
import { RestartPauses } from '../base/restart-pauses.ts';
import { createProgressMemory, Progress } from './progress.ts';
import type { RenderJob, RenderResult, ThreadReport, ThreadSettings } from './render-job.ts';
import type { RenderLimits } from './render-limits.ts';

/** Only an idle thread takes a job. A busy one that is killed goes back to starting. */
export type ThreadState = 'starting' | 'idle' | 'busy' | 'closed';

interface RunningJob {
  job: RenderJob;
  resolve(result: RenderResult): void;
  reject(reason: unknown): void;
  timer: NodeJS.Timeout;
}

export interface RenderThreadOptions {
  limits: RenderLimits;
  /** It can take a job. */
  onIdle(): void;
  /** It died of itself, and not of a job's limits: somebody should know. */
  onTrouble(error: unknown): void;
}

export class RenderThread {
  readonly #options: RenderThreadOptions;
  #worker: Worker;
  #progress: Progress;
  #state: ThreadState = 'starting';
  /** Whether the present worker ever was. */
  #everReady = false;
  /** One that cannot even start is tried again, but not as fast as the machine can. */
  readonly #pauses = new RestartPauses();
  #running: RunningJob | null = null;
  #restart: NodeJS.Timeout | null = null;

  constructor(options: RenderThreadOptions) {
    this.#options = options;
    [this.#worker, this.#progress] = this.#start();
  }

  get state(): ThreadState {
    return this.#state;
  }

  /** A job that exceeds its limits has a result as well. Rejects when the thread dies of anything else. */
  run(job: RenderJob): Promise<RenderResult> {
    const { promise, resolve, reject } = Promise.withResolvers<RenderResult>();
    const { jobMs } = this.#options.limits;
    const timer = setTimeout(() => this.#kill(`takes longer than ${jobMs} ms`), jobMs);
    this.#running = { job, resolve, reject, timer };
    this.#state = 'busy';
    this.#progress.reset();
    this.#worker.postMessage(job);
    return promise;
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    if (this.#restart) clearTimeout(this.#restart);
    this.#takeRunning()?.reject(new Fault('the daemon is stopping'));
    await this.#worker.terminate();
  }

  #start(): [Worker, Progress] {
    const { limits } = this.#options;
    const progress = createProgressMemory();
    const worker = new Worker(new URL('./render-worker.ts', import.meta.url), {
      workerData: { limits, progress } satisfies ThreadSettings,
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb },
      name: 'render',
    });
    worker.on('message', (report: ThreadReport) => this.#onReport(report));
    worker.on('error', (error) => this.#onDeath(error));
    // Only now: a thread that is being killed still uses a processor.
    worker.on('exit', () => this.#replace());
    return [worker, new Progress(progress)];
  }

  #onReport(report: ThreadReport): void {
    // Killed just as it came to an end, or closed.
    if (this.#state === 'closed' || (report.kind !== 'ready' && !this.#running)) return;
    this.#state = 'idle';
    this.#everReady = true;
    this.#pauses.reset();
    if (report.kind !== 'ready') this.#takeRunning()?.resolve(report);
    this.#options.onIdle();
  }

  #onDeath(error: unknown): void {
    if (this.#running && isOutOfMemory(error)) {
      this.#endAsFlawed(`needs more than ${this.#options.limits.memoryMb} MB of memory`);
    } else {
      this.#takeRunning()?.reject(new Fault('the render thread died', { cause: error }));
      this.#options.onTrouble(error);
    }
    this.#state = 'starting';
  }

  #kill(problem: string): void {
    this.#endAsFlawed(problem);
    this.#state = 'starting';
    void this.#worker.terminate();
  }

  #endAsFlawed(problem: string): void {
    const running = this.#takeRunning();
    running?.resolve({ kind: 'flawed', flaw: { problem, ...this.#progress.read(running.job.source) } });
  }

  #takeRunning(): RunningJob | null {
    const running = this.#running;
    this.#running = null;
    if (running) clearTimeout(running.timer);
    return running;
  }

  #replace(): void {
    if (this.#state === 'closed') return;
    const pauseMs = this.#everReady ? 0 : this.#pauses.next(0);
    this.#everReady = false;
    this.#state = 'starting';
    this.#restart = setTimeout(() => {
      [this.#worker, this.#progress] = this.#start();
    }, pauseMs);
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

// The main thread's hold on one worker thread whose jobs may go on for ever: starts it, gives it one
// job at a time, kills it when the job does not end, and starts another in its place. The worker
// sends `{kind: 'ready'}` when it can take jobs, and then one report for each.
import type { Transferable, Worker } from 'node:worker_threads';
import { Fault } from './errors.ts';
import { RestartPauses } from './restart-pauses.ts';

/** Only an idle thread takes a job. A busy one that is killed goes back to starting. */
export type ThreadState = 'starting' | 'idle' | 'busy' | 'closed';

export type ThreadReport<Result> = { kind: 'ready' } | Result;

/** What a job had too little of. */
export type Exceeded = 'time' | 'memory';

interface RunningJob<Job, Result> {
  job: Job;
  resolve(result: Result): void;
  reject(reason: unknown): void;
  timer: NodeJS.Timeout;
}

export interface KillableThreadOptions<Job, Result> {
  startWorker(): Worker;
  jobMs: number;
  /** What comes of a job that had to be killed. */
  exceeded(job: Job, what: Exceeded): Result;
  /** What goes over to the worker, and is gone here. */
  transfers?(job: Job): Transferable[];
  /** It can take a job. */
  onIdle(): void;
  /** It died of itself, and not of a job's limits: somebody should know. */
  onTrouble(error: unknown): void;
}

export class KillableThread<Job, Result extends { kind: string }> {
  readonly #options: KillableThreadOptions<Job, Result>;
  #worker: Worker;
  #state: ThreadState = 'starting';
  /** Whether the present worker ever was. */
  #everReady = false;
  /** One that cannot even start is tried again, but not as fast as the machine can. */
  readonly #pauses = new RestartPauses();
  #running: RunningJob<Job, Result> | null = null;
  #restart: NodeJS.Timeout | null = null;

  constructor(options: KillableThreadOptions<Job, Result>) {
    this.#options = options;
    this.#worker = this.#start();
  }

  get state(): ThreadState {
    return this.#state;
  }

  /** A job that exceeds its limits has a result as well. Rejects when the thread dies of anything else. */
  run(job: Job): Promise<Result> {
    const { jobMs, transfers } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const timer = setTimeout(() => this.#kill(), jobMs);
    this.#running = { job, resolve, reject, timer };
    this.#state = 'busy';
    this.#worker.postMessage(job, transfers?.(job) ?? []);
    return promise;
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    if (this.#restart) clearTimeout(this.#restart);
    this.#takeRunning()?.reject(new Fault('the daemon is stopping'));
    await this.#worker.terminate();
  }

  #start(): Worker {
    const worker = this.#options.startWorker();
    worker.on('message', (report: ThreadReport<Result>) => this.#onReport(report));
    worker.on('error', (error) => this.#onDeath(error));
    // Only now: a thread that is being killed still uses a processor.
    worker.on('exit', () => this.#replace());
    return worker;
  }

  #onReport(report: ThreadReport<Result>): void {
    // Killed just as it came to an end, or closed.
    if (this.#state === 'closed' || (!isReady(report) && !this.#running)) return;
    this.#state = 'idle';
    this.#everReady = true;
    this.#pauses.reset();
    if (!isReady(report)) this.#takeRunning()?.resolve(report);
    this.#options.onIdle();
  }

  #onDeath(error: unknown): void {
    if (this.#running && isOutOfMemory(error)) {
      this.#endAsExceeded('memory');
    } else {
      this.#takeRunning()?.reject(new Fault('the thread died', { cause: error }));
      this.#options.onTrouble(error);
    }
    this.#state = 'starting';
  }

  #kill(): void {
    this.#endAsExceeded('time');
    this.#state = 'starting';
    void this.#worker.terminate();
  }

  #endAsExceeded(what: Exceeded): void {
    const running = this.#takeRunning();
    running?.resolve(this.#options.exceeded(running.job, what));
  }

  #takeRunning(): RunningJob<Job, Result> | null {
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
      this.#worker = this.#start();
    }, pauseMs);
  }
}

function isReady<Result extends { kind: string }>(report: ThreadReport<Result>): report is { kind: 'ready' } {
  return report.kind === 'ready';
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

// Threads for tenants' jobs: one job per tenant at a time, and tenants take turns, so that no tenant's job delays
// another's for longer than a turn. Threads start with the first job, and may end after a while without jobs.
import { performance } from 'node:perf_hooks';
import { Fault } from '../base/errors.ts';
import { FairQueue } from '../base/fair-queue.ts';

/** The threads. They get a job only when one is idle. */
export interface JobThreads<Job, Result> {
  readonly size: number;
  readonly idle: number;
  /** Threads that are starting. */
  readonly starting: number;
  run(job: Job): Promise<Result>;
  close(): Promise<void>;
}

/** Overloaded: it waited too long for its turn, or too many of the tenant's jobs are waiting. */
export type PoolOutcome<Result> = Result | { kind: 'overloaded' };

export interface FairPoolOptions<Job, Result> {
  startThreads(onIdle: () => void): JobThreads<Job, Result>;
  /** 1 by default: jobs are counted. */
  sizeOf?(job: Job): number;
  /** How long a job waits for its turn. */
  waitMs: number;
  /** Of one tenant's waiting jobs. A single job may be larger: it has its own limits. */
  sizePerTenant: number;
  /** The threads end after so long without a job. */
  idleMs?: number;
  /** Whether a tenant may have a thread now, given that it has none. */
  mayStart?(tenantId: string, threads: JobThreads<Job, Result>): boolean;
  onStart?(tenantId: string): void;
  /** `result` is null when the job has failed. */
  onEnd?(tenantId: string, ended: { elapsedMs: number; result: Result | null }): void;
}

interface WaitingJob<Job, Result> {
  job: Job;
  timer: NodeJS.Timeout;
  resolve(outcome: PoolOutcome<Result>): void;
  reject(reason: unknown): void;
}

export class FairPool<Job, Result> {
  readonly #options: FairPoolOptions<Job, Result>;
  readonly #queue: FairQueue<WaitingJob<Job, Result>>;
  readonly #running = new Set<string>();
  #threads: JobThreads<Job, Result> | null = null;
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: FairPoolOptions<Job, Result>) {
    this.#options = options;
    this.#queue = new FairQueue({
      perKey: options.sizePerTenant,
      sizeOf: ({ job }) => options.sizeOf?.(job) ?? 1,
    });
  }

  run(tenantId: string, job: Job): Promise<PoolOutcome<Result>> {
    if (this.#closed) return Promise.reject(new Fault('the daemon is stopping'));
    clearTimeout(this.#idleTimer);
    this.#threads ??= this.#options.startThreads(() => this.#dispatch());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(tenantId, waiting), this.#options.waitMs);
      const waiting: WaitingJob<Job, Result> = { job, timer, resolve, reject };
      if (this.#queue.add(tenantId, waiting)) this.#dispatch();
      else this.#giveUp(tenantId, waiting);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { timer, reject } of this.#queue.clear()) {
      clearTimeout(timer);
      reject(new Fault('the daemon is stopping'));
    }
    await this.#endThreads();
  }

  #dispatch(): void {
    const threads = this.#threads;
    while (threads && threads.idle > 0) {
      const next = this.#queue.take((tenantId) => this.#mayStart(tenantId, threads));
      if (!next) {
        this.#endWhenIdle();
        return;
      }
      clearTimeout(next.job.timer);
      void this.#runOn(threads, next.key, next.job);
    }
  }

  #mayStart(tenantId: string, threads: JobThreads<Job, Result>): boolean {
    if (this.#running.has(tenantId)) return false;
    return this.#options.mayStart?.(tenantId, threads) ?? true;
  }

  async #runOn(
    threads: JobThreads<Job, Result>,
    tenantId: string,
    { job, resolve, reject }: WaitingJob<Job, Result>,
  ): Promise<void> {
    const startedAt = performance.now();
    this.#running.add(tenantId);
    this.#options.onStart?.(tenantId);
    let result: Result | null = null;
    try {
      result = await threads.run(job);
      resolve(result);
    } catch (error) {
      reject(error);
    } finally {
      this.#running.delete(tenantId);
      this.#options.onEnd?.(tenantId, { elapsedMs: performance.now() - startedAt, result });
      this.#dispatch();
    }
  }

  #giveUp(tenantId: string, waiting: WaitingJob<Job, Result>): void {
    clearTimeout(waiting.timer);
    this.#queue.remove(tenantId, waiting);
    waiting.resolve({ kind: 'overloaded' });
  }

  #endWhenIdle(): void {
    const { idleMs } = this.#options;
    if (idleMs === undefined || this.#running.size > 0 || !this.#queue.isEmpty) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#endThreads(), idleMs).unref();
  }

  async #endThreads(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const threads = this.#threads;
    this.#threads = null;
    await threads?.close();
  }
}

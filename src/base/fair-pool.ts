// Threads for the tenants' jobs: one job per tenant at a time, and tenants take turns, so that no
// tenant's job holds up another's for longer than a turn. Threads start with the first job. Not
// piscina: which thread is ready, and whose job cost one, decides here who goes next.
import { performance } from 'node:perf_hooks';
import { Fault } from './errors.ts';
import { FairQueue } from './fair-queue.ts';
import type { ThreadState } from './killable-thread.ts';

export interface PoolThread<Job, Result> {
  readonly state: ThreadState;
  run(job: Job): Promise<Result>;
  close(): Promise<void>;
}

/** Overloaded: it waited for its turn in vain, or too much of the tenant waits already. */
export type PoolOutcome<Result> = Result | { kind: 'overloaded' };

export interface FairPoolOptions<Job, Result> {
  threads: number;
  startThread(onIdle: () => void): PoolThread<Job, Result>;
  sizeOf(job: Job): number;
  /** How long a job waits for its turn. */
  waitMs: number;
  /** Of the jobs of one tenant that wait. A single one may be larger: it has limits of its own. */
  sizePerTenant: number;
  /** Whether a tenant may have a thread now, besides having none already. */
  mayGo?(tenantId: string, threads: readonly PoolThread<Job, Result>[]): boolean;
  onStart?(tenantId: string): void;
  onEnd?(tenantId: string, elapsedMs: number): void;
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
  readonly #threads: PoolThread<Job, Result>[] = [];
  #closed = false;

  constructor(options: FairPoolOptions<Job, Result>) {
    this.#options = options;
    this.#queue = new FairQueue({ perKey: options.sizePerTenant, sizeOf: ({ job }) => options.sizeOf(job) });
  }

  run(tenantId: string, job: Job): Promise<PoolOutcome<Result>> {
    if (this.#closed) return Promise.reject(new Fault('the daemon is stopping'));
    this.#startThreads();
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
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #startThreads(): void {
    if (this.#threads.length > 0) return;
    const { threads, startThread } = this.#options;
    for (let count = 0; count < threads; count++) this.#threads.push(startThread(() => this.#dispatch()));
  }

  #dispatch(): void {
    for (const thread of this.#threads) {
      if (thread.state !== 'idle') continue;
      const next = this.#queue.take((tenantId) => this.#mayGo(tenantId));
      if (!next) return;
      clearTimeout(next.job.timer);
      void this.#runOn(thread, next.key, next.job);
    }
  }

  #mayGo(tenantId: string): boolean {
    if (this.#running.has(tenantId)) return false;
    return this.#options.mayGo?.(tenantId, this.#threads) ?? true;
  }

  async #runOn(
    thread: PoolThread<Job, Result>,
    tenantId: string,
    { job, resolve, reject }: WaitingJob<Job, Result>,
  ): Promise<void> {
    const startedAt = performance.now();
    this.#running.add(tenantId);
    this.#options.onStart?.(tenantId);
    try {
      resolve(await thread.run(job));
    } catch (error) {
      reject(error);
    } finally {
      this.#running.delete(tenantId);
      this.#options.onEnd?.(tenantId, performance.now() - startedAt);
      this.#dispatch();
    }
  }

  #giveUp(tenantId: string, waiting: WaitingJob<Job, Result>): void {
    clearTimeout(waiting.timer);
    this.#queue.remove(tenantId, waiting);
    waiting.resolve({ kind: 'overloaded' });
  }
}

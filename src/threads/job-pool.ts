// Threads that can be killed, for jobs that may run forever: piscina runs them, one job per thread. threads/fair-pool.ts
// decides whose job is next, so a job comes here only when a thread is idle. Piscina stops starting threads once one
// has died at its start; then, and when threads do not get ready, the whole pool is replaced.
import type { Transferable } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { MINUTE_MS } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import { OncePerTick } from '../base/per-tick.ts';
import type { JobThreads } from './fair-pool.ts';
import type { ThreadReady } from './job-thread.ts';
import { type Hosted, type Life, WorkerHost } from './worker-host.ts';

/** Which limit a job exceeded. */
export type Exceeded = 'time' | 'memory';

export interface JobPoolOptions<Job, Result> {
  /** The threads' name in faults. */
  name: string;
  /** A module that calls `startJobThread`, and exports `runJob`. */
  entry: URL;
  threads: number;
  workerData?: unknown;
  /** Heap of one thread. */
  memoryMb: number;
  jobMs: number;
  /** The result of a job that had to be killed. */
  exceeded(job: Job, what: Exceeded): Result;
  /** What is transferred to the thread, and no longer usable here. */
  transfers?(job: Job): Transferable[];
  /** A thread can take a job. */
  onIdle(): void;
  /** Threads died, and not because of a job's limits: for the log. */
  onTrouble(error: unknown): void;
  /** How long a thread may take to get ready. */
  startMs?: number;
}

/** Enough even for a machine that is out of memory and swaps. */
const START_MS = MINUTE_MS;

export class JobPool<Job, Result> implements JobThreads<Job, Result> {
  readonly #options: JobPoolOptions<Job, Result>;
  readonly #host: WorkerHost<PiscinaLife<Job, Result>>;
  /** The last life, also until the next one starts: its remaining threads still take jobs. */
  #serving: PiscinaLife<Job, Result> | null = null;
  #closed = false;

  constructor(options: JobPoolOptions<Job, Result>) {
    this.#options = options;
    this.#host = new WorkerHost({
      name: `the pool of ${options.name} threads`,
      start: (life) => this.#start(life),
      silence: { limitMs: options.startMs ?? START_MS, hasWork: (pool) => pool.starting > 0 },
      onLost: (fault) => options.onTrouble(fault),
    });
  }

  get size(): number {
    return this.#options.threads;
  }

  get idle(): number {
    return this.#serving?.idle ?? 0;
  }

  get starting(): number {
    return this.size - (this.#serving?.ready ?? 0);
  }

  /** How often the whole pool was replaced. */
  get replacements(): number {
    return this.#host.losses;
  }

  /** A job that exceeds its limits has a result as well. Rejects when its thread dies for another reason. */
  run(job: Job): Promise<Result> {
    if (this.#closed || !this.#serving) return Promise.reject(new Fault('the daemon is stopping'));
    return this.#serving.run(job).catch((error) => {
      throw this.#closed ? new Fault('the daemon is stopping') : error;
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const last = this.#serving;
    await Promise.all([this.#host.end(), last?.end()]);
  }

  #start(life: Life): PiscinaLife<Job, Result> {
    void this.#serving?.retire();
    this.#serving = new PiscinaLife(this.#options, life);
    return this.#serving;
  }
}

/** One piscina, until it stops starting threads. */
class PiscinaLife<Job, Result> implements Hosted {
  readonly #options: JobPoolOptions<Job, Result>;
  readonly #life: Life;
  readonly #pool: Piscina<Job, Result>;
  /** By thread ID, since piscina considers the first threads ready before they are. */
  readonly #readyIds = new Set<number>();
  #ready: number | null = null;
  readonly #running = new Set<Promise<unknown>>();
  readonly #count = new OncePerTick(() => this.#countThreads());
  #ended: Promise<void> | null = null;

  constructor(options: JobPoolOptions<Job, Result>, life: Life) {
    this.#options = options;
    this.#life = life;
    const { entry, threads, workerData, memoryMb } = options;
    this.#pool = new Piscina<Job, Result>({
      filename: entry.href,
      name: 'runJob',
      minThreads: threads,
      maxThreads: threads,
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      recordTiming: false,
      // Waiting in Atomics.wait costs a thread as much processor time as its event loop, and delays its other work.
      atomics: 'disabled',
      loadBalancer: (_task, workers) =>
        workers.find(({ id, currentUsage }) => currentUsage === 0 && this.#readyIds.has(id)) ?? null,
    });
    this.#pool.on('message', (said: ThreadReady) => this.#onReady(said));
    this.#pool.on('workerDestroy', () => {
      this.#ready = null;
      this.#count.request();
    });
    // From threads without a job; other errors reject their jobs.
    this.#pool.on('error', (error) => this.#onTrouble(error));
  }

  /** Threads that have become ready and still run. */
  get ready(): number {
    // Counted only after a change, since it is read for every job.
    this.#ready ??= this.#pool.threads.filter(({ threadId }) => this.#readyIds.has(threadId)).length;
    return this.#ready;
  }

  get starting(): number {
    return this.#options.threads - this.ready;
  }

  get idle(): number {
    return this.#ended ? 0 : this.ready - this.#running.size;
  }

  run(job: Job): Promise<Result> {
    const running = this.#run(job).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  /** Ends when its jobs have finished. */
  async retire(): Promise<void> {
    await Promise.allSettled(this.#running);
    await this.end();
  }

  end(): Promise<void> {
    this.#count.cancel();
    // A thread that was killed before, and exits only now, would make piscina start another in a destroyed pool.
    Object.assign(this.#pool.options, { minThreads: 0 });
    this.#ended ??= this.#pool.destroy();
    return this.#ended;
  }

  async #run(job: Job): Promise<Result> {
    const { jobMs, transfers, exceeded } = this.#options;
    const killer = new AbortController();
    // Ends the thread; piscina starts another.
    const timer = setTimeout(() => killer.abort(), jobMs);
    try {
      return await this.#pool.run(job, { signal: killer.signal, transferList: transfers?.(job) });
    } catch (error) {
      if (killer.signal.aborted) return exceeded(job, 'time');
      if (isOutOfMemory(error)) return exceeded(job, 'memory');
      this.#onTrouble(error);
      throw new Fault('the job failed in its thread', { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  #onReady({ threadId }: ThreadReady): void {
    const alive = new Set(this.#pool.threads.map((thread) => thread.threadId));
    for (const id of this.#readyIds) if (!alive.has(id)) this.#readyIds.delete(id);
    if (!alive.has(threadId)) return;
    this.#readyIds.add(threadId);
    this.#ready = null;
    this.#life.works();
    this.#options.onIdle();
  }

  #countThreads(): void {
    const missing = this.#options.threads - this.#pool.threads.length;
    if (missing > 0 && !this.#ended) this.#life.lost(new Fault('a thread died at its start'));
  }

  #onTrouble(error: unknown): void {
    if (!this.#ended) this.#options.onTrouble(error);
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

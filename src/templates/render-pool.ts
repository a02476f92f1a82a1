// Renders templates in threads that can be killed, so that no tenant's template delays another's: tenants take turns
// (threads/fair-pool.ts), and one thread is reserved for tenants that are known to be quick.
import { availableParallelism } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import { FairPool, type JobThreads, type PoolOutcome } from '../threads/fair-pool.ts';
import { type Exceeded, JobPool } from '../threads/job-pool.ts';
import { createProgressMemory, Progress } from './progress.ts';
import type { RenderJob, RenderResult, ThreadAnswer, ThreadJob, ThreadSettings } from './render-job.ts';
import { RENDER_LIMITS, type RenderLimits, WAITING_LIMITS, type WaitingLimits } from './render-limits.ts';
import { RenderTrust } from './render-trust.ts';

export type RenderOutcome = PoolOutcome<RenderResult>;

export interface Renderer {
  run(tenantId: string, job: RenderJob): Promise<RenderOutcome>;
}

export interface RenderPoolOptions {
  clock: Clock;
  log: Logger;
  /** At least two. */
  threads?: number;
  limits?: RenderLimits;
  waiting?: WaitingLimits;
}

const MIN_THREADS = 2;
/** Each may take RENDER_LIMITS.memoryMb. */
const MAX_THREADS = 4;

export class RenderPool implements Renderer {
  readonly #trust: RenderTrust;
  readonly #pool: FairPool<ThreadJob, ThreadAnswer>;
  /** By tenant: the running job, and whether the tenant was trusted at its start. */
  readonly #running = new Map<string, { trusted: boolean }>();

  constructor({ clock, log, threads, limits = RENDER_LIMITS, waiting = WAITING_LIMITS }: RenderPoolOptions) {
    this.#trust = new RenderTrust(clock);
    this.#pool = new FairPool<ThreadJob, ThreadAnswer>({
      startThreads: (onIdle) =>
        new JobPool<ThreadJob, ThreadAnswer>({
          name: 'template render',
          memoryMb: limits.memoryMb,
          jobMs: limits.jobMs,
          onIdle,
          entry: new URL('./render-worker.ts', import.meta.url),
          threads: Math.max(MIN_THREADS, threads ?? Math.min(MAX_THREADS, availableParallelism())),
          workerData: { limits } satisfies ThreadSettings,
          onTrouble: (error) => log.error({ error, reason: describeError(error) }, 'a template render thread died'),
          exceeded: (job, what) => ({ result: exceededResult(job, what, limits), processorMs: null }),
        }),
      sizeOf,
      waitMs: waiting.waitMs,
      sizePerTenant: waiting.charsPerTenant,
      mayStart: (tenantId, started) => this.#mayStart(tenantId, started),
      onStart: (tenantId) => this.#running.set(tenantId, { trusted: this.#trust.isTrusted(tenantId) }),
      onEnd: (tenantId, { elapsedMs, result }) => {
        this.#running.delete(tenantId);
        this.#trust.note(tenantId, result?.processorMs ?? elapsedMs);
      },
    });
  }

  async run(tenantId: string, job: RenderJob): Promise<RenderOutcome> {
    const outcome = await this.#pool.run(tenantId, { ...job, progress: createProgressMemory() });
    return 'result' in outcome ? outcome.result : outcome;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #mayStart(tenantId: string, { size, starting }: JobThreads<ThreadJob, ThreadAnswer>): boolean {
    if (this.#trust.isTrusted(tenantId)) return true;
    // One thread stays free for trusted tenants; threads that are being replaced do not count as free.
    let slow = 0;
    for (const { trusted } of this.#running.values()) if (!trusted) slow++;
    return starting + slow + 1 < size;
  }
}

function exceededResult({ source, progress }: ThreadJob, what: Exceeded, limits: RenderLimits): RenderResult {
  const problem =
    what === 'time' ? `takes longer than ${limits.jobMs} ms` : `needs more than ${limits.memoryMb} MB of memory`;
  return { kind: 'flawed', flaw: { problem, ...new Progress(progress).read(source) } };
}

function sizeOf({ source, data }: RenderJob): number {
  return (source.html?.length ?? 0) + (source.text?.length ?? 0) + (source.subject?.length ?? 0) + (data?.length ?? 0);
}

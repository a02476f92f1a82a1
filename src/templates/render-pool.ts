// Renders templates in threads that can be killed, so that no tenant's template holds up anybody
// else: one job per tenant at a time, tenants take turns, and one thread is kept for those that
// are known to be quick. Not piscina: which thread is ready, and whose job cost one, decides
// here who goes next, and its queue knows neither. Threads start with the first job.
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../base/clock.ts';
import { describeError, Fault } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';
import { FairLines } from './fair-lines.ts';
import type { RenderJob, RenderResult } from './render-job.ts';
import { RENDER_LIMITS, type RenderLimits, WAITING_LIMITS, type WaitingLimits } from './render-limits.ts';
import { RenderThread } from './render-thread.ts';
import { Standing } from './standing.ts';

/** Overloaded: it waited for its turn in vain, or too much of the tenant waits already. */
export type RenderOutcome = RenderResult | { kind: 'overloaded' };

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

interface WaitingJob {
  job: RenderJob;
  chars: number;
  timer: NodeJS.Timeout;
  resolve(outcome: RenderOutcome): void;
  reject(reason: unknown): void;
}

const MIN_THREADS = 2;
/** Each may take RENDER_LIMITS.memoryMb. */
const MAX_THREADS = 4;

export class RenderPool implements Renderer {
  readonly #options: Required<RenderPoolOptions>;
  readonly #standing: Standing;
  readonly #lines = new FairLines<WaitingJob>();
  readonly #waitingChars = new Map<string, number>();
  /** By tenant: what runs right now, and whether it counts as slow. */
  readonly #running = new Map<string, { trusted: boolean }>();
  readonly #threads: RenderThread[] = [];
  #closed = false;

  constructor(options: RenderPoolOptions) {
    const threads = Math.min(MAX_THREADS, availableParallelism());
    this.#options = { threads, limits: RENDER_LIMITS, waiting: WAITING_LIMITS, ...options };
    this.#standing = new Standing(options.clock);
  }

  run(tenantId: string, job: RenderJob): Promise<RenderOutcome> {
    if (this.#closed) return Promise.reject(new Fault('the daemon is stopping'));
    const { waitMs, charsPerTenant } = this.#options.waiting;
    const chars = sizeOf(job);
    const waitingChars = this.#waitingChars.get(tenantId) ?? 0;
    // A single job may be as large as it likes: calls and templates have limits of their own.
    if (waitingChars > 0 && waitingChars + chars > charsPerTenant) return Promise.resolve({ kind: 'overloaded' });
    this.#startThreads();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#giveUp(tenantId, waiting), waitMs);
      const waiting: WaitingJob = { job, chars, timer, resolve, reject };
      this.#lines.add(tenantId, waiting);
      this.#waitingChars.set(tenantId, waitingChars + chars);
      this.#dispatch();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { timer, reject } of this.#lines.clear()) {
      clearTimeout(timer);
      reject(new Fault('the daemon is stopping'));
    }
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #startThreads(): void {
    if (this.#threads.length > 0) return;
    const { limits, log, threads } = this.#options;
    const onTrouble = (error: unknown) => log.error({ error, reason: describeError(error) }, 'a render thread died');
    const options = { limits, onTrouble, onIdle: () => this.#dispatch() };
    for (let count = 0; count < Math.max(MIN_THREADS, threads); count++) this.#threads.push(new RenderThread(options));
  }

  #dispatch(): void {
    for (const thread of this.#threads) {
      if (thread.state !== 'idle') continue;
      const next = this.#lines.take((tenantId) => this.#mayGo(tenantId));
      if (!next) return;
      clearTimeout(next.job.timer);
      this.#forgetWaiting(next.tenantId, next.job);
      void this.#runOn(thread, next.tenantId, next.job);
    }
  }

  #mayGo(tenantId: string): boolean {
    if (this.#running.has(tenantId)) return false;
    if (this.#standing.isTrusted(tenantId)) return true;
    // One thread stays with the quick: threads that are being replaced are no use to them.
    const starting = this.#threads.filter(({ state }) => state === 'starting').length;
    const slow = [...this.#running.values()].filter(({ trusted }) => !trusted).length;
    return starting + slow + 1 < this.#threads.length;
  }

  async #runOn(thread: RenderThread, tenantId: string, { job, resolve, reject }: WaitingJob): Promise<void> {
    const startedAt = performance.now();
    this.#running.set(tenantId, { trusted: this.#standing.isTrusted(tenantId) });
    try {
      resolve(await thread.run(job));
    } catch (error) {
      reject(error);
    } finally {
      this.#running.delete(tenantId);
      this.#standing.note(tenantId, performance.now() - startedAt);
      this.#dispatch();
    }
  }

  #giveUp(tenantId: string, waiting: WaitingJob): void {
    this.#lines.remove(tenantId, waiting);
    this.#forgetWaiting(tenantId, waiting);
    waiting.resolve({ kind: 'overloaded' });
  }

  #forgetWaiting(tenantId: string, { chars }: WaitingJob): void {
    const left = (this.#waitingChars.get(tenantId) ?? 0) - chars;
    if (left > 0) this.#waitingChars.set(tenantId, left);
    else this.#waitingChars.delete(tenantId);
  }
}

function sizeOf({ source, data }: RenderJob): number {
  return (source.html?.length ?? 0) + (source.text?.length ?? 0) + (data?.length ?? 0);
}

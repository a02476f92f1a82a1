// Renders templates in threads that can be killed, so that no tenant's template holds up anybody
// else: tenants take turns (base/fair-pool.ts), and one thread is kept for those that are known
// to be quick.
import { availableParallelism } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { FairPool, type PoolOutcome, type PoolThread } from '../base/fair-pool.ts';
import type { Logger } from '../observe/log.ts';
import type { RenderJob, RenderResult } from './render-job.ts';
import { RENDER_LIMITS, type RenderLimits, WAITING_LIMITS, type WaitingLimits } from './render-limits.ts';
import { startRenderThread } from './render-thread.ts';
import { Standing } from './standing.ts';

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
  readonly #standing: Standing;
  readonly #pool: FairPool<RenderJob, RenderResult>;
  /** By tenant: what runs right now, and whether it counts as slow. */
  readonly #running = new Map<string, { trusted: boolean }>();

  constructor({ clock, log, threads, limits = RENDER_LIMITS, waiting = WAITING_LIMITS }: RenderPoolOptions) {
    this.#standing = new Standing(clock);
    const onTrouble = (error: unknown) =>
      log.error({ error, reason: describeError(error) }, 'a template render thread died');
    this.#pool = new FairPool({
      threads: Math.max(MIN_THREADS, threads ?? Math.min(MAX_THREADS, availableParallelism())),
      startThread: (onIdle) => startRenderThread({ limits, onIdle, onTrouble }),
      sizeOf,
      waitMs: waiting.waitMs,
      sizePerTenant: waiting.charsPerTenant,
      mayGo: (tenantId, started) => this.#mayGo(tenantId, started),
      onStart: (tenantId) => this.#running.set(tenantId, { trusted: this.#standing.isTrusted(tenantId) }),
      onEnd: (tenantId, elapsedMs) => {
        this.#running.delete(tenantId);
        this.#standing.note(tenantId, elapsedMs);
      },
    });
  }

  run(tenantId: string, job: RenderJob): Promise<RenderOutcome> {
    return this.#pool.run(tenantId, job);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  #mayGo(tenantId: string, threads: readonly PoolThread<RenderJob, RenderResult>[]): boolean {
    if (this.#standing.isTrusted(tenantId)) return true;
    // One thread stays with the quick: threads that are being replaced are no use to them.
    const starting = threads.filter(({ state }) => state === 'starting').length;
    let slow = 0;
    for (const { trusted } of this.#running.values()) if (!trusted) slow++;
    return starting + slow + 1 < threads.length;
  }
}

function sizeOf({ source, data }: RenderJob): number {
  return (source.html?.length ?? 0) + (source.text?.length ?? 0) + (data?.length ?? 0);
}

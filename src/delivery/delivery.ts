// The delivery engine, put together: recorder, scheduler, courier threads, expiry.
import { pauseAfterAttempt } from '../base/backoff.ts';
import { type Clock, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { BounceRules } from '../classify/classify-reply.ts';
import type { Logger } from '../observe/log.ts';
import type { Resolver } from '../protocol/dns/resolver.ts';
import type { QueueStore } from '../store/queue.ts';
import type { LaneNotice } from '../store/submissions.ts';
import type { CourierSettings } from './courier/messages.ts';
import { openCourierPool } from './courier-pool.ts';
import type { RetryPolicy } from './decide.ts';
import { startExpirySweeper } from './expiry.ts';
import { Recorder } from './recorder.ts';
import { createRoutes } from './routes.ts';
import { Scheduler, type SchedulerKit } from './scheduler.ts';

export interface DeliveryKit {
  store: QueueStore;
  resolver: Resolver;
  clock: Clock;
  ids: IdSource;
  random: () => number;
  log: Logger;
  courier: CourierSettings;
  /** What the replies of receiving servers mean. */
  bounceRules: BounceRules;
  threads: number;
  allowPrivate: boolean;
  policy: RetryPolicy;
  limits: SchedulerKit['limits'];
  expiryPeriodMs: number;
}

export interface Delivery {
  /** There is mail, or there may be. */
  notice(lanes: LaneNotice[]): void;
  /** Looks at the whole queue again: after a tenant became active, for example. */
  reconcile(): Promise<void>;
  /** Nothing new starts, sessions finish, results are on disk; what is on the wire after `graceMs` is cut off. */
  close(graceMs: number): Promise<void>;
}

// For the results of what was cut off at the end of the grace period: they are known at once,
// and only the disk is waited for.
const LAST_WRITES_MS = 2 * SECOND_MS;

export async function startDelivery(kit: DeliveryKit): Promise<Delivery> {
  const { store, clock, random, log, policy } = kit;
  const pool = openCourierPool(kit.courier, {
    threads: kit.threads,
    onThreadLost: (error) => log.error({ error }, `a courier thread died: ${describeError(error)}`),
  });
  const recorder = new Recorder({ ...kit, onLanes: (lanes) => scheduler.notice(lanes) });
  const routes = createRoutes(kit);
  const pauseAfter = (attempt: number) => pauseAfterAttempt(policy.ladder, attempt, random);
  const scheduler = new Scheduler({ ...kit, routes, pool, recorder, pauseAfter });

  const interrupted = await store.recoverInterrupted(clock.now());
  if (interrupted > 0) log.warn({ messages: interrupted }, 'messages whose attempt was cut off will be tried again');
  await scheduler.start();
  const sweeper = startExpirySweeper({ store, clock, ids: kit.ids, log, periodMs: kit.expiryPeriodMs });

  return {
    notice: (lanes) => scheduler.notice(lanes),
    reconcile: () => scheduler.reconcile(),
    async close(graceMs) {
      const deadline = performance.now() + graceMs;
      const stopped = Promise.all([scheduler.stop(), sweeper.stop()]);
      await within(graceMs, stopped);
      await pool.close();
      const leftMs = Math.max(deadline - performance.now(), LAST_WRITES_MS);
      await within(
        leftMs,
        stopped.then(() => recorder.flush()),
      );
      recorder.stop();
    },
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

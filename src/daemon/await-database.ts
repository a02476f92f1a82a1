// A database on another machine can be away when a daemon starts: after a power cut each comes back at its own pace, and after
// the loss of a primary somebody has to promote its standby. The start waits for it, longer than the time over which systemd
// counts failed starts; what waiting does not mend ends it at once.
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { Fault, Unavailable } from '../base/errors.ts';
import type { Logger } from '../observe/log.ts';

export interface AwaitTerms {
  log: Logger;
  /** Settles when the daemon should stop. */
  stop: Promise<unknown>;
}

/** StartLimitIntervalSec of the unit, and a little. */
const WAIT_MS = 5.5 * MINUTE_MS;
const LOOK_AGAIN_MS = SECOND_MS;
const LOG_EVERY_MS = MINUTE_MS;

export async function awaitDatabase<T>(open: () => Promise<T>, { log, stop }: AwaitTerms): Promise<T> {
  const until = performance.now() + WAIT_MS;
  const stopped = stop.then(() => true);
  for (let tellAt = 0; ; ) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() >= until) throw error;
      if (performance.now() >= tellAt) {
        log.error({ reason: error.detail }, `the start waits for the database: ${error.detail ?? error.message}`);
        tellAt = performance.now() + LOG_EVERY_MS;
      }
    }
    if (await Promise.race([stopped, pause(LOOK_AGAIN_MS, false)])) {
      throw new Fault('stopped before the database could be used', { permanence: 'permanent' });
    }
  }
}

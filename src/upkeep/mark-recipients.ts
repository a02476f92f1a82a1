// Keeps the marks for the search by recipient up to date, some minutes behind the mail: in slices with pauses between
// them, so that accepting mail never waits for it.

import { type Clock, MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { StoreVerbs } from '../store/store.ts';

export interface MarkingKit {
  store: StoreVerbs<{ upkeep: 'markRecipients' | 'forgetRecipientMarks' }>;
  clock: Clock;
  pause(ms: number): Promise<unknown>;
}

const PERIOD_MS = MINUTE_MS;
/** An ID is created before its message is committed; after this time it is, however slow the disk was. */
const SETTLED_AFTER_MS = 10 * MINUTE_MS;
/** A slice takes some 2 ms: at most a tenth of the writer's time. */
const PAUSE_MS = 20;
/** The next run continues; the daemon waits for a run when it stops. */
const RUN_MS = 20 * SECOND_MS;
const ERASE_BATCH = 1000;

export function recipientMarksTimer(kit: MarkingKit): TimerSpec {
  return {
    name: 'marks of recipients',
    periodMs: PERIOD_MS,
    byLeader: true,
    run: (stopped) => markRecipients(kit, stopped),
  };
}

/** Once `stopped` is aborted, it ends after its slice. */
export async function markRecipients({ store, clock, pause }: MarkingKit, stopped: AbortSignal): Promise<string> {
  const startedAt = clock.now();
  let made = 0;
  while (!stopped.aborted && clock.now() < startedAt + RUN_MS) {
    if (!(await store.upkeep.markRecipients(startedAt - SETTLED_AFTER_MS))) break;
    made++;
    await pause(PAUSE_MS);
  }
  const forgotten = await store.upkeep.forgetRecipientMarks(ERASE_BATCH);
  return `${made} blocks of messages marked, ${forgotten} forgotten`;
}

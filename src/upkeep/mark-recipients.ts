// Keeps the marks for the search by recipient up to date, some minutes behind the mail: in slices with
// pauses between them, so that taking mail in never waits for it.

import { type Clock, MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { StoreVerbs } from '../store/store.ts';

export interface MarkingKit {
  store: StoreVerbs<{ upkeep: 'markRecipients' | 'forgetRecipientMarks' }>;
  clock: Clock;
  pause(ms: number): Promise<unknown>;
}

const PERIOD_MS = MINUTE_MS;
/** An id is given out before its message is committed; by then it is, whatever the disk was doing. */
const SETTLED_AFTER_MS = 10 * MINUTE_MS;
/** A slice takes some 2 ms: a tenth of the writer's time at most. */
const PAUSE_MS = 20;
/** The rest is for the next run; the daemon's end waits for a run. */
const RUN_MS = 20 * SECOND_MS;
const FORGOTTEN_AT_ONCE = 1000;

export function recipientMarksTimer(kit: MarkingKit): TimerSpec {
  return { name: 'marks of recipients', periodMs: PERIOD_MS, run: (stopped) => markRecipients(kit, stopped) };
}

/** Once `stopped` is aborted it ends after its slice. */
export async function markRecipients({ store, clock, pause }: MarkingKit, stopped: AbortSignal): Promise<string> {
  const startedAt = clock.now();
  let made = 0;
  while (!stopped.aborted && clock.now() < startedAt + RUN_MS) {
    if (!(await store.upkeep.markRecipients(startedAt - SETTLED_AFTER_MS))) break;
    made++;
    await pause(PAUSE_MS);
  }
  const forgotten = await store.upkeep.forgetRecipientMarks(FORGOTTEN_AT_ONCE);
  return `${made} blocks of messages marked, ${forgotten} forgotten`;
}

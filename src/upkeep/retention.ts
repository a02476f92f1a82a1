// Erases data past its retention: audit entries, contents of finished messages, and later their records and events.
// It works in slices of a few milliseconds with pauses between them, so that it takes a small share of the writer and
// delays nothing.

import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { Store, StoreVerbs } from '../store/store.ts';
import type { RetentionSlice } from '../store/upkeep.ts';

export interface RetentionKit {
  store: Pick<Store, 'upkeep'> & StoreVerbs<{ audit: 'eraseAudit'; writtenMails: 'sweep' }>;
  clock: Clock;
  contentDays: number;
  recordsDays: number;
  auditDays: number;
  pause(ms: number): Promise<unknown>;
}

const PERIOD_MS = MINUTE_MS;
/** For one slice, without its commit: blocking the event loop for 20 ms would be noticeable. */
const SLICE_BUDGET_MS = 8;
/** Small rows without references: far below that. */
const AUDIT_BATCH = 200;
/** Pieces of written mail, each up to 256 KiB: overwriting four of them takes 2 ms. */
export const PIECES_AT_ONCE = 4;
/** No mail is in reception for so long. */
export const LEFTOVER_AFTER_MS = HOUR_MS;
/** Four times as long as a slice: at most a fifth of the writer's time. */
const PAUSE_MS = 40;
/** The walk over contents goes by the time when a message finished, which is set shortly before its commit. */
export const SETTLED_MS = 10 * SECOND_MS;
/** The next run continues; the daemon waits for a run when it stops. */
const RUN_MS = 20 * SECOND_MS;

export function retentionTimer(kit: RetentionKit): TimerSpec {
  return { name: 'retention', periodMs: PERIOD_MS, run: (stopped) => eraseOld(kit, stopped) };
}

/** Once `stopped` is aborted, it ends after its slice. */
export async function eraseOld(kit: RetentionKit, stopped: AbortSignal): Promise<string> {
  const { store, clock, contentDays, recordsDays, auditDays } = kit;
  const now = clock.now();
  const run = { endsAt: now + RUN_MS, stopped };
  // Audit entries are few; after a backlog of messages their turn might not come for a long time.
  const entries = await inSlices(kit, run, () => eraseAudit(kit, now - auditDays * DAY_MS));
  let contents = 0;
  for (const days of [null, ...(await store.upkeep.contentDaysInUse())]) {
    const before = now - Math.max((days ?? contentDays) * DAY_MS, SETTLED_MS);
    contents += await inSlices(kit, run, () => store.upkeep.eraseContents({ days, before, budgetMs: SLICE_BUDGET_MS }));
  }
  await inSlices(kit, run, () => sweepPieces(kit, now - LEFTOVER_AFTER_MS));
  const before = now - recordsDays * DAY_MS;
  const records = await inSlices(kit, run, () => store.upkeep.eraseRecords(before, SLICE_BUDGET_MS));
  return `${contents} contents, ${records} messages and ${entries} entries of the audit log erased`;
}

async function eraseAudit({ store }: RetentionKit, upTo: number): Promise<Pick<RetentionSlice, 'erased' | 'more'>> {
  const erased = await store.audit.eraseAudit(upTo, AUDIT_BATCH);
  return { erased, more: erased === AUDIT_BATCH };
}

/** Of written mail: what erased contents leave behind, and mails that were never accepted. */
async function sweepPieces({ store }: RetentionKit, before: number): Promise<Pick<RetentionSlice, 'erased' | 'more'>> {
  const erased = await store.writtenMails.sweep({ before, limit: PIECES_AT_ONCE });
  return { erased, more: erased > 0 };
}

interface Run {
  endsAt: number;
  stopped: AbortSignal;
}

async function inSlices(
  { clock, pause }: RetentionKit,
  run: Run,
  slice: () => Promise<Pick<RetentionSlice, 'erased' | 'more'>>,
): Promise<number> {
  let erased = 0;
  while (!run.stopped.aborted && clock.now() < run.endsAt) {
    const done = await slice();
    erased += done.erased;
    if (!done.more) break;
    await pause(PAUSE_MS);
  }
  return erased;
}

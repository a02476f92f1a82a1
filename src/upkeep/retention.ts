// Erases data past its retention: audit entries, contents of finished messages, and later their records and events.
// It works in short slices with longer pauses between them, so that it takes a small share of the writer and delays
// nothing. What is erased takes turns, slice by slice: a backlog of one kind holds up no other.

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
  /** Has the next run begin at once, and not a period later. */
  again(): void;
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
/** Times as long as the slice before: at most a fifth of the writer's time. */
const PAUSES = 4;
/** Of a slice that waits for others. The daemon waits for it when it stops. */
const MAX_PAUSE_MS = SECOND_MS;
/** The walk over contents goes by the time when a message finished, which is set shortly before its commit. */
export const SETTLED_MS = 10 * SECOND_MS;
/** The next run goes on, if this node still leads the timer, and by the settings of that time. */
const RUN_MS = 20 * SECOND_MS;
export const RETENTION_TIMER = 'retention';

export function retentionTimer(kit: RetentionKit): TimerSpec {
  return { name: RETENTION_TIMER, periodMs: PERIOD_MS, byLeader: true, run: (stopped) => eraseOld(kit, stopped) };
}

type Slice = Pick<RetentionSlice, 'erased' | 'more'>;

interface Walk {
  of: 'contents' | 'messages' | 'entries' | 'pieces';
  slice(): Promise<Slice>;
}

/** Once `stopped` is aborted, it ends after its slice. */
export async function eraseOld(kit: RetentionKit, stopped: AbortSignal): Promise<string> {
  const { clock, pause } = kit;
  const endsAt = clock.now() + RUN_MS;
  const erased: Record<Walk['of'], number> = { contents: 0, messages: 0, entries: 0, pieces: 0 };
  const waiting = await walksOf(kit);
  while (waiting.length > 0 && !stopped.aborted && clock.now() < endsAt) {
    const walk = waiting.shift()!;
    const beganAt = clock.now();
    const slice = await walk.slice();
    erased[walk.of] += slice.erased;
    if (!slice.more) continue;
    waiting.push(walk);
    await pause(pauseAfter(clock.now() - beganAt));
  }
  if (waiting.length > 0) kit.again();
  const { contents, messages, entries } = erased;
  return `${contents} contents, ${messages} messages and ${entries} entries of the audit log erased`;
}

function pauseAfter(sliceMs: number): number {
  return Math.min(PAUSES * Math.max(sliceMs, SLICE_BUDGET_MS), MAX_PAUSE_MS);
}

/** In the order of their first slices. */
async function walksOf(kit: RetentionKit): Promise<Walk[]> {
  const { store, clock, contentDays, recordsDays, auditDays } = kit;
  const now = clock.now();
  const inUse = [null, ...(await store.upkeep.contentDaysInUse())];
  const settings = inUse.map((days) => ({ days, kept: days ?? contentDays }));
  // Content that must be gone soon after its delivery, such as links to set a password, comes first.
  settings.sort((one, other) => one.kept - other.kept);
  const contents = settings.map(({ days, kept }): Walk => {
    const before = now - Math.max(kept * DAY_MS, SETTLED_MS);
    return { of: 'contents', slice: () => store.upkeep.eraseContents({ days, before, budgetMs: SLICE_BUDGET_MS }) };
  });
  const before = now - recordsDays * DAY_MS;
  return [
    ...contents,
    { of: 'pieces', slice: () => sweepPieces(kit, now - LEFTOVER_AFTER_MS) },
    { of: 'messages', slice: () => store.upkeep.eraseRecords(before, SLICE_BUDGET_MS) },
    { of: 'entries', slice: () => eraseAudit(kit, now - auditDays * DAY_MS) },
  ];
}

async function eraseAudit({ store }: RetentionKit, upTo: number): Promise<Slice> {
  const erased = await store.audit.eraseAudit(upTo, AUDIT_BATCH);
  return { erased, more: erased === AUDIT_BATCH };
}

/** Of written mail: what erased contents leave behind, and mails that were never accepted. */
async function sweepPieces({ store }: RetentionKit, before: number): Promise<Slice> {
  const erased = await store.writtenMails.sweep({ before, limit: PIECES_AT_ONCE });
  return { erased, more: erased > 0 };
}

// Erases data when the disk is nearly full, the most dispensable first: what retention must erase anyway, then contents
// of mail that anyone can send and of bounces that were processed, then the oldest days of DMARC reports.
// Accepted mail, and inbound mail that is not processed yet, is never touched.

import { type Clock, DAY_MS } from '../base/clock.ts';
import type { StoreVerbs } from '../store/store.ts';
import { LEFTOVER_AFTER_MS, PIECES_AT_ONCE, SETTLED_MS } from './retention.ts';

export interface MakeRoomKit {
  store: StoreVerbs<{
    upkeep: 'eraseContents' | 'eraseRecords' | 'contentDaysInUse';
    inbound: 'forgetInbound' | 'freeInboundSpace';
    writtenMails: 'sweep';
  }>;
  clock: Clock;
  contentDays: number;
  recordsDays: number;
}

/** For one verb, so that other verbs of the writer wait no longer than that. */
const SLICE_BUDGET_MS = 8;
const BATCH_ROWS = 200;
/** The intake calls again every two seconds, as long as space is short. */
const MAX_SLICES = 20;

interface Slice {
  erased: number;
  more: boolean;
}

/** What was erased, as part of a sentence; null: nothing. */
export async function makeRoom(kit: MakeRoomKit): Promise<string | null> {
  const due = await inSlices(() => eraseDue(kit));
  if (due > 0) return `${due} things that retention was to erase`;
  const other = await inSlices(async () => {
    const erased = await kit.store.inbound.freeInboundSpace(BATCH_ROWS);
    return { erased, more: erased > 0 };
  });
  return other > 0 ? `${other} contents of inbound mail or rows of DMARC reports, the oldest first` : null;
}

async function eraseDue({ store, clock, contentDays, recordsDays }: MakeRoomKit): Promise<Slice> {
  const now = clock.now();
  const records = now - recordsDays * DAY_MS;
  const inbound = await store.inbound.forgetInbound({ content: now - contentDays * DAY_MS, records }, BATCH_ROWS);
  const slices: Slice[] = [{ erased: inbound, more: inbound > 0 }];
  for (const days of [null, ...(await store.upkeep.contentDaysInUse())]) {
    const before = now - Math.max((days ?? contentDays) * DAY_MS, SETTLED_MS);
    slices.push(await store.upkeep.eraseContents({ days, before, budgetMs: SLICE_BUDGET_MS }));
  }
  slices.push(await store.upkeep.eraseRecords(records, SLICE_BUDGET_MS));
  const swept = await store.writtenMails.sweep({ before: now - LEFTOVER_AFTER_MS, limit: PIECES_AT_ONCE });
  slices.push({ erased: swept, more: swept > 0 });
  return { erased: slices.reduce((sum, { erased }) => sum + erased, 0), more: slices.some(({ more }) => more) };
}

async function inSlices(slice: () => Promise<Slice>): Promise<number> {
  let total = 0;
  for (let count = 0; count < MAX_SLICES; count++) {
    const { erased, more } = await slice();
    total += erased;
    if (!more) break;
  }
  return total;
}

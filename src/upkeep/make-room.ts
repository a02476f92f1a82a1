// Erases what may go when the disk is nearly full, in the order of how little it is missed: first what retention
// has to erase anyway, then contents of mail that anybody can send and of bounces that were acted on, then the oldest
// days of DMARC reports.
// Mail that was accepted, and mail that still waits to be worked on, is never touched.

import { type Clock, DAY_MS } from '../base/clock.ts';
import type { StoreVerbs } from '../store/store.ts';
import { SETTLED_MS } from './retention.ts';

export interface MakeRoomKit {
  store: StoreVerbs<{
    upkeep: 'eraseContents' | 'eraseRecords' | 'contentDaysInUse';
    inbound: 'forgetInbound' | 'freeInboundSpace';
  }>;
  clock: Clock;
  contentDays: number;
  recordsDays: number;
}

/** For one call of a store's verb: the writer's other work waits no longer than that. */
const SLICE_BUDGET_MS = 8;
const ROWS_AT_ONCE = 200;
/** The intake asks again every two seconds, as long as room is short. */
const MAX_SLICES = 20;

interface Slice {
  erased: number;
  more: boolean;
}

/** What it has erased, as a part of a sentence; null: there was nothing. */
export async function makeRoom(kit: MakeRoomKit): Promise<string | null> {
  const due = await inSlices(() => eraseDue(kit));
  if (due > 0) return `${due} things that retention was to erase`;
  const unasked = await inSlices(async () => {
    const erased = await kit.store.inbound.freeInboundSpace(ROWS_AT_ONCE);
    return { erased, more: erased > 0 };
  });
  return unasked > 0 ? `${unasked} contents of inbound mail or rows of DMARC reports, the oldest first` : null;
}

async function eraseDue({ store, clock, contentDays, recordsDays }: MakeRoomKit): Promise<Slice> {
  const now = clock.now();
  const records = now - recordsDays * DAY_MS;
  const inbound = await store.inbound.forgetInbound({ content: now - contentDays * DAY_MS, records }, ROWS_AT_ONCE);
  const slices: Slice[] = [{ erased: inbound, more: inbound > 0 }];
  for (const days of [null, ...(await store.upkeep.contentDaysInUse())]) {
    const before = now - Math.max((days ?? contentDays) * DAY_MS, SETTLED_MS);
    slices.push(await store.upkeep.eraseContents({ days, before, budgetMs: SLICE_BUDGET_MS }));
  }
  slices.push(await store.upkeep.eraseRecords(records, SLICE_BUDGET_MS));
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

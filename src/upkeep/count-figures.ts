// Sums up events for charts, behind what is committed: small slices with pauses between them, so that accepting mail
// and recording results never wait for it. Events that it has not counted are not erased either.

import { type Clock, DAY_MS, HOUR_MS, SECOND_MS } from '../base/clock.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { StoreVerbs } from '../store/store.ts';

export interface FiguresKit {
  /** Counting may use a connection of its own; the writer adds the result. */
  store: StoreVerbs<{
    figures: 'tallyNext' | 'addTally' | 'forgetFigures' | 'forgetTagFigures' | 'forgetServiceFigures';
  }>;
  clock: Clock;
  pause(ms: number): Promise<unknown>;
}

const PERIOD_MS = 5 * SECOND_MS;
/** Events; counting and adding them takes a few milliseconds. */
const SLICE = 1000;
/** Counting takes at most a fifth of the time when there is a backlog. */
const PAUSE_MS = 20;
/** The daemon waits for a run when it stops. */
const RUN_MS = 20 * SECOND_MS;
export const FIGURES_KEPT_MS = 400 * DAY_MS;
/** A month, and some time to ask for it: sums by tag and hour, and those of the service. */
export const TAG_HOURS_KEPT_MS = 33 * DAY_MS;
const ERASE_BATCH = 1000;

export function figuresTimer(kit: FiguresKit): TimerSpec {
  return {
    name: 'figures of charts',
    periodMs: PERIOD_MS,
    byLeader: true,
    run: (stopped) => countFigures(kit, stopped),
  };
}

/** Once `stopped` is aborted, it ends after its slice. */
export async function countFigures(kit: FiguresKit, stopped: AbortSignal): Promise<string> {
  const endsAt = kit.clock.now() + RUN_MS;
  const counted = await countEvents(kit, () => !stopped.aborted && kit.clock.now() < endsAt);
  const now = kit.clock.now();
  const beforeHour = Math.floor((now - FIGURES_KEPT_MS) / HOUR_MS);
  await kit.store.figures.forgetFigures(beforeHour, ERASE_BATCH);
  const tags = { hours: Math.floor((now - TAG_HOURS_KEPT_MS) / HOUR_MS), days: beforeHour };
  await kit.store.figures.forgetTagFigures(tags, ERASE_BATCH);
  await kit.store.figures.forgetServiceFigures(tags.hours, ERASE_BATCH);
  return `${counted} events counted`;
}

async function countEvents({ store, pause }: FiguresKit, goesOn: () => boolean): Promise<number> {
  let counted = 0;
  while (goesOn()) {
    const tally = await store.figures.tallyNext(SLICE);
    // Nothing new: nothing is written, so that the disk can sleep.
    if (tally.to === tally.from && tally.tags.to === tally.tags.from) break;
    if (await store.figures.addTally(tally)) counted += tally.counted;
    if (!tally.more) break;
    await pause(PAUSE_MS);
  }
  return counted;
}

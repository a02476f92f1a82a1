// Adds up what events tell charts, behind what is committed: small slices with pauses between them, so that taking
// mail in and recording what became of it never wait for it. What it has not reached is not erased either.

import { type Clock, DAY_MS, HOUR_MS, SECOND_MS } from '../base/clock.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { StoreVerbs } from '../store/store.ts';

export interface FiguresKit {
  /** Who counts may read on a connection of its own; whoever adds is the writer. */
  store: StoreVerbs<{ figures: 'tallyNext' | 'addTally' | 'forgetFigures' }>;
  clock: Clock;
  pause(ms: number): Promise<unknown>;
}

const PERIOD_MS = 5 * SECOND_MS;
/** Events; counting and adding them takes a few milliseconds. */
const SLICE = 1000;
/** At most a fifth of the time goes into it, when there is much to catch up with. */
const PAUSE_MS = 20;
/** The daemon's end waits for a run. */
const RUN_MS = 20 * SECOND_MS;
export const FIGURES_KEPT_MS = 400 * DAY_MS;
const FORGET_AT_ONCE = 1000;

export function figuresTimer(kit: FiguresKit): TimerSpec {
  return { name: 'figures of charts', periodMs: PERIOD_MS, run: (stopped) => countFigures(kit, stopped) };
}

/** Once `stopped` is aborted it ends after its slice. */
export async function countFigures(kit: FiguresKit, stopped: AbortSignal): Promise<string> {
  const endsAt = kit.clock.now() + RUN_MS;
  const counted = await countEvents(kit, () => !stopped.aborted && kit.clock.now() < endsAt);
  const beforeHour = Math.floor((kit.clock.now() - FIGURES_KEPT_MS) / HOUR_MS);
  await kit.store.figures.forgetFigures(beforeHour, FORGET_AT_ONCE);
  return `${counted} events counted`;
}

async function countEvents({ store, pause }: FiguresKit, goesOn: () => boolean): Promise<number> {
  let counted = 0;
  while (goesOn()) {
    const tally = await store.figures.tallyNext(SLICE);
    // Nothing new: nothing is written, and the disk sleeps on.
    if (tally.to === tally.from) break;
    if (await store.figures.addTally(tally)) counted += tally.counted;
    if (!tally.more) break;
    await pause(PAUSE_MS);
  }
  return counted;
}

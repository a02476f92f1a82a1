// Between the schedulers of several nodes: what one has made due in another one's slots, and what they have changed about
// what holds mail.
import { describeError } from '../../base/errors.ts';
import { OneAtATime } from '../../base/one-at-a-time.ts';
import type { Logger } from '../../observe/log.ts';
import type { Notices } from '../../store/notices.ts';
import type { Ownership } from '../../store/ownership.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import type { Shaping } from '../shaping/shaping-state.ts';

export interface OtherNodesKit {
  notices: Notices;
  ownership: Ownership;
  shaping: Pick<Shaping, 'readOthers'>;
  log: Logger;
}

interface Looking {
  /** Looks for due mail in those of the slots that are its own. */
  lookAt(slots: readonly number[]): Promise<void>;
  reconcile(): Promise<void>;
}

/** Returns those of this node; who has the slots of the others hears of them. */
export function passOnOthers(
  lanes: readonly LaneNotice[],
  { notices, ownership }: Pick<OtherNodesKit, 'notices' | 'ownership'>,
): readonly LaneNotice[] {
  const isOwn = ({ slot }: LaneNotice) => ownership.of(slot) !== null;
  if (lanes.every(isOwn)) return lanes;
  const others = new Set(lanes.filter((lane) => !isOwn(lane)).map(({ slot }) => slot));
  notices.tellLanes(others);
  return lanes.filter(isOwn);
}

export function hearOtherNodes({ notices, shaping, log }: OtherNodesKit, scheduler: Looking): void {
  const slots = new Set<number>();
  const looks = new OneAtATime(async () => {
    const due = [...slots];
    slots.clear();
    await scheduler.lookAt(due);
  });
  const reads = new OneAtATime(async () => {
    try {
      await shaping.readOthers();
    } catch (error) {
      log.error({ error }, `what other nodes have changed could not be read: ${describeError(error)}`);
    }
  });
  notices.listen({
    lanesDue(due) {
      for (const slot of due) slots.add(slot);
      looks.run();
    },
    changed: () => reads.run(),
    missed: () => void scheduler.reconcile(),
  });
}

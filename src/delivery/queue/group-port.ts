// What a group is given: by the kit, and by the scheduler, which owns the lanes.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../observe/log.ts';
import type { ClaimedMessage } from '../../store/queue.ts';
import type { AttemptResult } from '../outcome/recorder.ts';
import type { SessionKit } from '../session/session-host.ts';
import type { ShapingVerdict } from '../shaping/shaping.ts';
import type { Shaping, ShapingOutcome } from '../shaping/shaping-state.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import type { Lane } from './lane.ts';
import type { WaitingLane } from './lane-rotation.ts';
import type { Pace } from './pace.ts';

export interface GroupKit {
  session: SessionKit;
  shaping: Pick<Shaping, 'verdict' | 'memory' | 'reservations' | 'connected'>;
  /** The limit on sessions of all groups. */
  slots: ConnectionSlots;
  /** Survives the group. */
  pace: Pace;
  random: () => number;
  clock: Clock;
  log: Logger;
}

/** As much of a group as the scheduler needs. */
export interface OfGroup {
  readonly name: string;
  readonly open: number;
}

/** What a group needs from the scheduler, which owns the lanes. */
export interface GroupPort {
  /**
   * Marks the lane's due messages as being sent; the lane then rests until its next due time. If its route is stale, it is
   * looked up first; the lane leaves the group, still stale, unless its mail still goes there and now.
   */
  claim(group: OfGroup, next: WaitingLane, limit: number): Promise<ClaimedMessage[]>;
  /** Returns messages that were claimed but not tried to the queue; they are due then, or now. */
  giveBack(group: OfGroup, messages: readonly ClaimedMessage[], dueAt?: number): Promise<void>;
  /** Holds the lane; the scheduler wakes it later. */
  hold(lane: Lane, why: Pick<ShapingVerdict, 'reasons' | 'until'>): void;
  /** An attempt's outcome, and the group's other connections. False: it was no attempt. */
  learn(group: OfGroup, finding: AttemptResult, others: ShapingOutcome['others']): boolean;
  /** One of its sessions has ended: the group may be idle. */
  onSessionEnd(group: OfGroup): void;
}

export interface GroupLoad {
  /** Connections open to it. */
  open: number;
  /** Lanes in its queue. */
  lanes: number;
  openInAll: number;
}

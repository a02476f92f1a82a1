// The lanes with waiting mail, by id: passes events to them, and does what their new state (lane.ts)
// requires. Memory grows with lanes, not with messages.
import type { Clock } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import { FewPerTick } from '../../base/per-tick.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import { Lane, type LaneEvent } from './lane.ts';
import { LaneAlarms } from './lane-alarms.ts';

// Some 2 ms: a hundred thousand lanes may become due, or be woken, at once.
const LANES_PER_TURN = 50;

export class Lanes {
  readonly #clock: Clock;
  readonly #lanes = new Map<number, Lane>();
  readonly #alarms: LaneAlarms;
  readonly #routing: FewPerTick<Lane>;
  #stopped = false;

  constructor(clock: Clock, route: (lane: Lane) => void) {
    this.#clock = clock;
    this.#alarms = new LaneAlarms(clock, (lane) => this.change(lane, { kind: 'woken' }));
    this.#routing = new FewPerTick(LANES_PER_TURN, (lane) => {
      if (lane.state.kind === 'routing') route(lane);
    });
  }

  get(id: number): Lane | undefined {
    return this.#lanes.get(id);
  }

  notice(notices: readonly LaneNotice[]): void {
    const now = this.#clock.now();
    for (const { lane: id, slot, tenantId, domain, dueAt } of notices) {
      let lane = this.#lanes.get(id);
      if (!lane) {
        lane = new Lane({ id, slot, tenantId, domain });
        this.#lanes.set(id, lane);
      }
      const { state } = lane;
      // Reconciling mostly reports what is known: it needs no event for each of a hundred thousand lanes.
      if (state.kind === 'resting' && state.dueAt <= dueAt) continue;
      this.#change(lane, { kind: 'noticed', dueAt }, now);
    }
  }

  /** Wakes held lanes, whatever holds them: they are routed again. */
  wakeHeld(isMeant: (lane: Lane) => boolean = () => true): void {
    for (const lane of this.#lanes.values())
      if (lane.state.kind === 'held' && isMeant(lane)) this.change(lane, { kind: 'woken' });
  }

  change(lane: Lane, event: LaneEvent): void {
    this.#change(lane, event, this.#clock.now());
  }

  stop(): void {
    this.#stopped = true;
    this.#alarms.stop();
    this.#routing.stop();
  }

  #change(lane: Lane, event: LaneEvent, now: number): void {
    if (!lane.change(event, now) || this.#stopped) return;
    const { state } = lane;
    switch (state.kind) {
      case 'resting':
        this.#alarms.set(lane, state.dueAt);
        break;
      case 'routing':
        this.#routing.add(lane);
        break;
      case 'held':
        this.#alarms.set(lane, state.until);
        break;
      case 'gone':
        this.#lanes.delete(lane.id);
        this.#alarms.set(lane, null);
        break;
      case 'ready':
      case 'claiming':
        break; // its group, or the store, is at work with it
      default:
        unreachable(state);
    }
  }
}

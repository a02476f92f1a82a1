// Wakes lanes at their times: one timer for all of them, over a heap of times.
import { type Clock, MINUTE_MS } from '../../base/clock.ts';
import { DueHeap } from './due-heap.ts';
import type { Lane } from './lane.ts';

// As often as the scheduler reconciles: a change of the system clock delays no lane for longer.
const MAX_SLEEP_MS = MINUTE_MS;

export class LaneAlarms {
  readonly #clock: Clock;
  readonly #wake: (lane: Lane) => void;
  readonly #heap = new DueHeap<Lane>();
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(clock: Clock, wake: (lane: Lane) => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Replaces the lane's alarm; null removes it. */
  set(lane: Lane, at: number | null): void {
    if (at === null) {
      lane.alarmAt = Number.POSITIVE_INFINITY;
      return;
    }
    // The heap has that entry already: otherwise a lane with a retry in eight hours and much fresh mail would
    // leave one entry there for each of its messages.
    if (lane.alarmAt === at) return;
    lane.alarmAt = at;
    const isFirst = at < this.#heap.nextAt;
    this.#heap.push(lane, at);
    if (isFirst) this.#setTimer();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #setTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#stopped || this.#heap.size === 0) return;
    const wait = Math.min(Math.max(0, this.#heap.nextAt - this.#clock.now()), MAX_SLEEP_MS);
    this.#timer = setTimeout(() => this.#wakeDue(), wait);
  }

  #wakeDue(): void {
    const now = this.#clock.now();
    for (let entry = this.#heap.pop(now); entry; entry = this.#heap.pop(now)) {
      const lane = entry.item;
      // The entry is outdated if its lane has been given another time since.
      if (lane.alarmAt !== entry.at) continue;
      lane.alarmAt = Number.POSITIVE_INFINITY;
      this.#wake(lane);
    }
    this.#setTimer();
  }
}

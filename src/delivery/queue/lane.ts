// A lane: one tenant's mail to one domain in one slot, as the scheduler keeps it in memory, and the only place that
// changes its state. Only lanes with waiting mail are in memory; their messages stay in the store.
import { unreachable } from '../../base/errors.ts';

export type LaneState =
  /** Waits until its next message is due; Infinity in a new lane. */
  | { kind: 'resting'; dueAt: number }
  /** Due: its MX hosts are being looked up. */
  | { kind: 'routing' }
  /** Waits in its group's queue for a session. */
  | { kind: 'ready' }
  /** The store is marking its due messages as being sent. `dueAt`: the earliest due time notified meanwhile. */
  | { kind: 'claiming'; dueAt: number }
  /** Due, but shaping holds it; `until` null: end unknown. */
  | { kind: 'held'; until: number | null }
  /** It has no waiting mail, and the scheduler has dropped it. The next notice creates a new lane. */
  | { kind: 'gone' };

export type LaneEvent =
  /** The store reports a message that is due at this time. */
  | { kind: 'noticed'; dueAt: number }
  /** Its time has come, or an operator has ended what held it. */
  | { kind: 'woken' }
  /** It was added to its group's queue. */
  | { kind: 'queued' }
  /** It left that queue: its mail goes to other servers by now, DNS does not answer, or it was held meanwhile. */
  | { kind: 'outdated' }
  | { kind: 'held'; until: number | null }
  /** The store is asked for its messages. */
  | { kind: 'claiming' }
  /** The store has answered; null: no other mail waits in the lane. */
  | { kind: 'claimed'; nextDueAt: number | null }
  /** The look-up of its route, or the claim, failed. */
  | { kind: 'failed'; retryAt: number };

const ROUTING: LaneState = { kind: 'routing' };
const READY: LaneState = { kind: 'ready' };
const GONE: LaneState = { kind: 'gone' };

export class Lane {
  readonly id: number;
  readonly slot: number;
  readonly tenantId: string;
  readonly domain: string;
  /** When LaneAlarms wakes it; Infinity: never. Only LaneAlarms sets this. */
  alarmAt = Number.POSITIVE_INFINITY;
  #state: LaneState = { kind: 'resting', dueAt: Number.POSITIVE_INFINITY };
  #dueFrom = Number.POSITIVE_INFINITY;

  constructor({ id, slot, tenantId, domain }: Pick<Lane, 'id' | 'slot' | 'tenantId' | 'domain'>) {
    this.id = id;
    this.slot = slot;
    this.tenantId = tenantId;
    this.domain = domain;
  }

  get state(): LaneState {
    return this.#state;
  }

  /**
   * None of its waiting mail is due earlier, as far as the store has told: a claim need not look there, where PostgreSQL
   * may have to step over all that was claimed since some reader's snapshot. If the store told less than there is, the
   * scheduler's next look at the whole queue makes up for it.
   */
  get dueFrom(): number {
    return this.#dueFrom;
  }

  /** False: the event changed nothing. */
  change(event: LaneEvent, now: number): boolean {
    const before = this.#state;
    this.#dueFrom = nextDueFrom(this.#dueFrom, before, event);
    this.#state = nextState(before, event, now);
    return this.#state !== before;
  }
}

/*
 *   resting ──due──▶ routing ──MX group known──▶ ready ──a session takes it──▶ claiming ──▶ resting, routing or gone
 *   routing or ready ──shaping keeps it back──▶ held ──woken──▶ routing
 *   ready ──its mail goes to other servers by the time that it may go──▶ routing
 *   routing ──no route: claimed to be judged──▶ claiming
 *   routing or claiming ──the look-up, or the claim, failed──▶ resting
 *
 * A notice makes a resting lane due, or due earlier. While the store claims, a notice is remembered, because the claim
 * may not include that message: the earlier of the two times counts. In any other state the lane is due already, and a
 * claim will find the message. An event that arrives too late for its state changes nothing.
 */
function nextState(state: LaneState, event: LaneEvent, now: number): LaneState {
  switch (event.kind) {
    case 'noticed':
      if (state.kind === 'resting' && event.dueAt < state.dueAt) return dueFrom(event.dueAt, now);
      if (state.kind === 'claiming' && event.dueAt < state.dueAt) return { kind: 'claiming', dueAt: event.dueAt };
      return state;
    case 'woken':
      return state.kind === 'resting' || state.kind === 'held' ? ROUTING : state;
    case 'queued':
      return state.kind === 'routing' ? READY : state;
    case 'outdated':
      return state.kind === 'ready' ? ROUTING : state;
    case 'held':
      return isDue(state) ? { kind: 'held', until: event.until } : state;
    case 'claiming':
      return isDue(state) ? { kind: 'claiming', dueAt: Number.POSITIVE_INFINITY } : state;
    case 'claimed':
      if (state.kind !== 'claiming') return state;
      return dueFrom(Math.min(state.dueAt, event.nextDueAt ?? Number.POSITIVE_INFINITY), now);
    case 'failed':
      return state.kind === 'routing' || state.kind === 'claiming' ? { kind: 'resting', dueAt: event.retryAt } : state;
    default:
      return unreachable(event);
  }
}

function nextDueFrom(dueFrom: number, state: LaneState, event: LaneEvent): number {
  if (event.kind === 'noticed') return Math.min(dueFrom, event.dueAt);
  // What held it may have changed the times of its mail.
  if (event.kind === 'woken' && state.kind === 'held') return 0;
  if (event.kind !== 'claimed' || state.kind !== 'claiming') return dueFrom;
  return Math.min(state.dueAt, event.nextDueAt ?? Number.POSITIVE_INFINITY);
}

function isDue({ kind }: LaneState): boolean {
  return kind === 'routing' || kind === 'ready';
}

function dueFrom(dueAt: number, now: number): LaneState {
  if (dueAt === Number.POSITIVE_INFINITY) return GONE;
  return dueAt <= now ? ROUTING : { kind: 'resting', dueAt };
}

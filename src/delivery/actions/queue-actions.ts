// What operators do to the queue: pause, resume, retry and cancel, for one message or for all of a
// tenant, an MX group or a recipient domain. Each is written down with who, when and why. Acting
// on many messages goes in portions, so that the mail of others goes on meanwhile.

import type { Clock } from '../../base/clock.ts';
import { SECOND_MS } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Logger } from '../../observe/log.ts';
import { cancelled } from '../../observe/mail-log.ts';
import type {
  LaneCursor,
  LanePage,
  LanesTarget,
  OperatorAction,
  QueueTarget,
  Suspension,
} from '../../store/shaping.ts';
import type { Store, StoreVerbs } from '../../store/store.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import { giveUp } from '../ends/expiry.ts';
import { whatPauses } from '../shaping/shaping.ts';
import type { Shaping } from '../shaping/shaping-state.ts';
import { type StandingHold, StandingHolds } from './standing-holds.ts';

export interface QueueActionsKit {
  store: Pick<Store, 'shaping'> &
    StoreVerbs<{ tenants: 'getTenant'; queue: 'retryNow' | 'findWaiting' | 'endWaiting' | 'getMessage' }>;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  shaping: Shaping;
  /** Told of lanes that have something due; nobody, when no daemon runs. */
  onLanes(lanes: LaneNotice[]): void;
}

export interface OperatorWord {
  by: string;
  /** Why; of a cancelled message its tenant can read it. */
  note: string;
}

export type ActionOutcome = Acted | { kind: 'refused'; reason: string };

interface Acted {
  kind: 'done';
  messages: number | null;
  /** False: time was up, and there is more to do. */
  complete: boolean;
  /** What was lifted, in sentences. */
  ended: string[];
  /** What still keeps back what is due now. */
  held: StandingHold[];
}

interface Portion {
  done: number;
  more: boolean;
}

// Below the time that the command line waits for an answer; whoever wants more asks again.
const BUDGET_MS = 40 * SECOND_MS;
const LANES_AT_ONCE = 500;
const HASTENED_AT_ONCE = 500;
const CANCELLED_AT_ONCE = 100;

const DONE: Acted = { kind: 'done', messages: null, complete: true, ended: [], held: [] };

export class QueueActions {
  readonly #kit: QueueActionsKit;

  constructor(kit: QueueActionsKit) {
    this.#kit = kit;
  }

  async act(action: OperatorAction, target: QueueTarget, word: OperatorWord): Promise<ActionOutcome> {
    const unknown = await this.#unknown(target);
    const outcome = unknown ? refused(unknown) : await this.#carryOut(action, target, word);
    if (outcome.kind === 'refused') return outcome;
    const { store, clock, log } = this.#kit;
    const { messages } = outcome;
    await store.shaping.addOperatorNote({ ...target, ...word, action, at: clock.now(), messages });
    const facts = { action, kind: target.kind, target: target.key, by: word.by, note: word.note, messages };
    log.info(facts, `queue ${action} by ${word.by}: ${target.kind} ${target.key}`);
    return outcome;
  }

  #carryOut(action: OperatorAction, target: QueueTarget, word: OperatorWord): Promise<ActionOutcome> {
    switch (action) {
      case 'pause':
        return this.#pause(target, word);
      case 'resume':
        return this.#resume(target);
      case 'retry':
        return isMany(target) ? this.#retryMany(target) : this.#retryOne(target.key);
      case 'cancel':
        return isMany(target) ? this.#cancelMany(target, word) : this.#cancelOne(target.key, word);
      default:
        return unreachable(action);
    }
  }

  async #unknown({ kind, key }: QueueTarget): Promise<string | null> {
    const { store, shaping } = this.#kit;
    if (kind === 'message') return (await store.queue.getMessage(key)) ? null : `there is no message ${key}`;
    if (kind === 'tenant') return (await store.tenants.getTenant(key)) ? null : `there is no tenant ${key}`;
    if (kind === 'domain') return null;
    return (await shaping.isKnownGroup(key))
      ? null
      : `there is no MX group "${key}": queue list shows the groups, queue show the group of a message`;
  }

  async #pause(target: QueueTarget, word: OperatorWord): Promise<ActionOutcome> {
    const { store, clock, shaping } = this.#kit;
    const pause = { ...target, ...word, at: clock.now() };
    const known = await store.shaping.findPause(target);
    if (known) return refused(`${nameOf(target)} is paused already, by ${known.by}: ${known.note}`);
    if (!(await store.shaping.pauseQueue(pause))) return refused(await this.#whyNotWaiting(target.key));
    shaping.memory.setPause(target, pause);
    shaping.paused(target.kind === 'group' ? target.key : null);
    return DONE;
  }

  async #resume(target: QueueTarget): Promise<ActionOutcome> {
    const { store, shaping, clock, onLanes } = this.#kit;
    const resumed = await store.shaping.resumeQueue(target);
    shaping.memory.setPause(target, null);
    const lifted = await this.#lift(target);
    const trouble = target.kind === 'group' ? shaping.memory.troubleOf(target.key, clock.now()) : null;
    if (!resumed && lifted.length === 0 && trouble === null) return refused(await this.#whyNotResumed(target));
    shaping.released(lifted, target.kind === 'group' ? target.key : null);
    if (resumed?.lane) onLanes([resumed.lane]);
    const ended = [
      ...(resumed ? [`the pause by ${resumed.pause.by}: ${resumed.pause.note}`] : []),
      ...lifted.map((suspension) => `${whatPauses(suspension)} (rule ${suspension.rule})`),
      ...(trouble === null ? [] : [trouble]),
    ];
    return { ...(await this.#bringBack(target, resumed?.lane ?? null)), ended };
  }

  /** Nothing of the kind that is ended here; what it is instead. */
  async #whyNotResumed(target: QueueTarget): Promise<string> {
    const nothing = `nothing holds ${nameOf(target)}: it is not paused, and no receiver's reply stopped it`;
    const holds = new StandingHolds(this.#kit.shaping, this.#kit.store);
    const others = isMany(target) ? await holds.reasonsFor(target) : [];
    return others.length === 0 ? nothing : `${nothing}; it is waiting because ${others.join('; ')}`;
  }

  async #lift({ kind, key }: QueueTarget): Promise<Suspension[]> {
    const { store } = this.#kit;
    if (kind === 'group') return await store.shaping.liftSuspensions({ mxGroup: key });
    if (kind === 'tenant') return await store.shaping.liftSuspensions({ tenantId: key });
    return kind === 'domain' ? await store.shaping.liftSuspensions({ domain: key }) : [];
  }

  /** Messages that were due, and put off to the end of a pause, are due now; those that wait for a time of their own keep it. */
  async #bringBack(target: QueueTarget, lane: LaneNotice | null): Promise<Acted> {
    const holds = new StandingHolds(this.#kit.shaping, this.#kit.store);
    if (!isMany(target)) {
      if (lane) await holds.lookAtLane(lane);
      return { ...DONE, held: holds.list() };
    }
    await holds.lookAt(target);
    const { messages, complete } = await this.#eachLane(target, (each) => this.#hasten(each, { putOff: true, holds }));
    return { ...DONE, messages, complete, held: holds.list() };
  }

  async #retryOne(messageId: string): Promise<ActionOutcome> {
    const { store, clock, onLanes } = this.#kit;
    const pause = await store.shaping.findPause({ kind: 'message', key: messageId });
    if (pause) return refused(`the message ${messageId} is paused by ${pause.by} (${pause.note}): resume it first`);
    const lane = await store.queue.retryNow(messageId, clock.now());
    if (!lane) return refused(await this.#whyNotWaiting(messageId));
    onLanes([lane]);
    const holds = new StandingHolds(this.#kit.shaping, store);
    await holds.lookAtLane(lane, await store.queue.findWaiting(messageId));
    return { ...DONE, messages: 1, held: holds.list() };
  }

  async #retryMany(target: LanesTarget): Promise<ActionOutcome> {
    const holds = new StandingHolds(this.#kit.shaping, this.#kit.store);
    await holds.lookAt(target);
    const { messages, complete } = await this.#eachLane(target, (lane) => this.#hasten(lane, { putOff: false, holds }));
    return { ...DONE, messages, complete, held: holds.list() };
  }

  async #hasten(lane: number, { putOff, holds }: { putOff: boolean; holds: StandingHolds }): Promise<Portion> {
    const { store, clock, onLanes } = this.#kit;
    const { moved, notice } = await store.shaping.makeLaneDue(lane, {
      at: clock.now(),
      limit: HASTENED_AT_ONCE,
      putOff,
    });
    if (notice) onLanes([notice]);
    if (notice) await holds.lookAtLane(notice);
    return { done: moved, more: moved === HASTENED_AT_ONCE };
  }

  async #cancelOne(messageId: string, { note }: OperatorWord): Promise<ActionOutcome> {
    const message = await this.#kit.store.queue.findWaiting(messageId);
    if (!message || !(await giveUp(this.#kit, message, note))) return refused(await this.#whyNotWaiting(messageId));
    cancelled(this.#kit.log, message, { reason: note });
    await this.#kit.store.shaping.resumeQueue({ kind: 'message', key: messageId });
    return { ...DONE, messages: 1 };
  }

  async #cancelMany(target: LanesTarget, { note }: OperatorWord): Promise<ActionOutcome> {
    const { store, log } = this.#kit;
    const portion = async (lane: number) => {
      const waiting = await store.shaping.waitingOfLane(lane, CANCELLED_AT_ONCE);
      const ended = await Promise.all(
        waiting.map(async (message) => {
          if (!(await giveUp(this.#kit, message, note))) return false;
          cancelled(log, message, { reason: note });
          return true;
        }),
      );
      const done = ended.filter(Boolean).length;
      // Some that nobody can end must not be asked for in a circle.
      return { done, more: done > 0 && waiting.length === CANCELLED_AT_ONCE };
    };
    const { messages, complete } = await this.#eachLane(target, portion);
    return { ...DONE, messages, complete };
  }

  /** Portion after portion of each lane, until none has anything left or time is up. */
  async #eachLane(
    target: LanesTarget,
    portion: (lane: number) => Promise<Portion>,
  ): Promise<{ messages: number; complete: boolean }> {
    const deadline = performance.now() + BUDGET_MS;
    let messages = 0;
    for (let after: LaneCursor | null = null; ; ) {
      const { lanes, next }: LanePage = await this.#kit.store.shaping.lanesOf(target, after, LANES_AT_ONCE);
      for (const lane of lanes) {
        for (let more = true; more; ) {
          const part = await portion(lane);
          messages += part.done;
          more = part.more;
          if (performance.now() > deadline) return { messages, complete: false };
        }
      }
      if (next === null) return { messages, complete: true };
      after = next;
    }
  }

  async #whyNotWaiting(messageId: string): Promise<string> {
    const message = await this.#kit.store.queue.getMessage(messageId);
    if (!message) return `there is no message ${messageId}`;
    if (message.parked) return `the message ${messageId} is parked and already waits for an operator`;
    const state = message.state === 'sending' ? 'being sent right now' : message.state;
    return `the message ${messageId} is not waiting: it is ${state}`;
  }
}

function isMany(target: QueueTarget): target is LanesTarget {
  return target.kind !== 'message';
}

function nameOf({ kind, key }: QueueTarget): string {
  return `the ${kind} ${key}`;
}

function refused(reason: string): ActionOutcome {
  return { kind: 'refused', reason };
}

// Operators' actions on the queue: pause, resume, retry and cancel, for one message or for all of a
// tenant, an MX group or a recipient domain. Each is recorded with who, when and why. Actions on many
// messages work in portions, so that other mail continues meanwhile.

import { type Clock, SECOND_MS, toTimestamp } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Cancellation } from '../../events/delivery-events.ts';
import { cancel, canceledUpdate, type EndBegun } from '../../events/end-waiting.ts';
import type { Logger } from '../../observe/log.ts';
import { canceled } from '../../observe/mail-log.ts';
import type { WaitingMessage } from '../../store/queue.ts';
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
import { whatPauses } from '../shaping/shaping.ts';
import type { Shaping } from '../shaping/shaping-state.ts';
import { type StandingHold, StandingHolds } from './standing-holds.ts';

export interface QueueActionsKit {
  store: Pick<Store, 'shaping'> &
    StoreVerbs<{
      tenants: 'getTenant';
      queue: 'retryNow' | 'findWaiting' | 'endWaiting' | 'getMessage' | 'releaseHeld';
    }>;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  shaping: Shaping;
  endBegun: EndBegun;
  /** Called with lanes that have mail due; does nothing if no daemon is running. */
  onLanes(lanes: LaneNotice[]): void;
  /** Called when scheduled mail is due: it is looked at once more, since its recipient may have unsubscribed. */
  onScheduled(at: number): void;
}

export interface Attribution {
  by: string;
  /** The reason; the tenant of a canceled message can read it. */
  note: string;
}

export type ActionOutcome = Acted | { kind: 'refused'; reason: string };

interface Acted {
  kind: 'done';
  messages: number | null;
  /** False: the time limit was reached, and there is more to do. */
  complete: boolean;
  /** The pauses that were ended, in sentences. */
  ended: string[];
  /** What still holds mail that is due now. */
  held: StandingHold[];
}

interface Portion {
  done: number;
  more: boolean;
}

// Less than the command line waits for an answer; the caller can repeat the action for the rest.
const BUDGET_MS = 40 * SECOND_MS;
const LANES_AT_ONCE = 500;
const HASTENED_AT_ONCE = 500;
const CANCELED_AT_ONCE = 100;

const DONE: Acted = { kind: 'done', messages: null, complete: true, ended: [], held: [] };

export class QueueActions {
  readonly #kit: QueueActionsKit;

  constructor(kit: QueueActionsKit) {
    this.#kit = kit;
  }

  async act(action: OperatorAction, target: QueueTarget, attribution: Attribution): Promise<ActionOutcome> {
    const unknown = await this.#unknown(target);
    const outcome = unknown ? refused(unknown) : await this.#carryOut(action, target, attribution);
    if (outcome.kind === 'refused') return outcome;
    const { store, clock, log } = this.#kit;
    const { messages } = outcome;
    await store.shaping.addOperatorNote({ ...target, ...attribution, action, at: clock.now(), messages });
    const facts = { action, kind: target.kind, target: target.key, ...attribution, messages };
    log.info(facts, `queue ${action} by ${attribution.by}: ${target.kind} ${target.key}`);
    return outcome;
  }

  /** Lets go what a restore has held; it waits for its time again, and can be repeated for the rest. */
  async release(tenantId: string | null): Promise<{ messages: number; complete: boolean }> {
    const { store, clock, onLanes } = this.#kit;
    const deadline = performance.now() + BUDGET_MS;
    for (let messages = 0; ; ) {
      const held = { now: clock.now(), limit: HASTENED_AT_ONCE, ...(tenantId !== null && { tenantId }) };
      const released = await store.queue.releaseHeld(held);
      onLanes(released.lanes);
      messages += released.messages;
      if (released.messages < HASTENED_AT_ONCE) return { messages, complete: true };
      if (performance.now() > deadline) return { messages, complete: false };
    }
  }

  #carryOut(action: OperatorAction, target: QueueTarget, attribution: Attribution): Promise<ActionOutcome> {
    switch (action) {
      case 'pause':
        return this.#pause(target, attribution);
      case 'resume':
        return this.#resume(target);
      case 'retry':
        return isMany(target) ? this.#retryMany(target) : this.#retryOne(target.key);
      case 'cancel':
        return isMany(target) ? this.#cancelMany(target, attribution) : this.#cancelOne(target.key, attribution);
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

  async #pause(target: QueueTarget, attribution: Attribution): Promise<ActionOutcome> {
    const { store, clock, shaping } = this.#kit;
    const pause = { ...target, ...attribution, at: clock.now() };
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
    const trouble = target.kind === 'group' ? shaping.memory.whyLimited(target.key, clock.now()) : null;
    if (!resumed && lifted.length === 0 && trouble === null) return refused(await this.#whyNotResumed(target));
    shaping.released(lifted, target.kind === 'group' ? target.key : null);
    if (resumed?.lane) onLanes([resumed.lane]);
    const ended = [
      ...(resumed ? [`the pause by ${resumed.pause.by}: ${resumed.pause.note}`] : []),
      ...lifted.map((suspension) => `${whatPauses(suspension)} (rule ${suspension.rule})`),
      ...(trouble === null ? [] : [trouble]),
    ];
    return { ...(await this.#makeDue(target, resumed?.lane ?? null)), ended };
  }

  /** Why there is nothing to resume, and what the mail is waiting for instead. */
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

  /** Makes due what was put off to the end of a pause; messages that wait for a retry time of their own keep it. */
  async #makeDue(target: QueueTarget, lane: LaneNotice | null): Promise<Acted> {
    const holds = new StandingHolds(this.#kit.shaping, this.#kit.store);
    if (!isMany(target)) {
      if (lane) await holds.checkLane(lane);
      return { ...DONE, held: holds.list() };
    }
    await holds.check(target);
    const { messages, complete } = await this.#eachLane(target, (each) => this.#hasten(each, { putOff: true, holds }));
    return { ...DONE, messages, complete, held: holds.list() };
  }

  async #retryOne(messageId: string): Promise<ActionOutcome> {
    const { store, clock, onLanes, onScheduled } = this.#kit;
    const pause = await store.shaping.findPause({ kind: 'message', key: messageId });
    if (pause) return refused(`the message ${messageId} is paused by ${pause.by} (${pause.note}): resume it first`);
    const now = clock.now();
    const lane = await store.queue.retryNow(messageId, now);
    if (!lane) return refused(await this.#whyNotWaiting(messageId));
    onLanes([lane]);
    onScheduled(now);
    const holds = new StandingHolds(this.#kit.shaping, store);
    await holds.checkLane(lane, await store.queue.findWaiting(messageId));
    return { ...DONE, messages: 1, held: holds.list() };
  }

  async #retryMany(target: LanesTarget): Promise<ActionOutcome> {
    const holds = new StandingHolds(this.#kit.shaping, this.#kit.store);
    await holds.check(target);
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
    if (notice) await holds.checkLane(notice);
    return { done: moved, more: moved === HASTENED_AT_ONCE };
  }

  async #cancelOne(messageId: string, { note }: Attribution): Promise<ActionOutcome> {
    const message = await this.#endOne(messageId, { by: 'operator', reason: note });
    if (!message) return refused(await this.#whyNotWaiting(messageId));
    canceled(this.#kit.log, message, { reason: note });
    await this.#kit.store.shaping.resumeQueue({ kind: 'message', key: messageId });
    return { ...DONE, messages: 1 };
  }

  /** Also when it is claimed, until its first command is sent. */
  async #endOne(messageId: string, cancellation: Cancellation): Promise<WaitingMessage | null> {
    const message = await this.#kit.store.queue.findWaiting(messageId);
    if (message && (await cancel(this.#kit, message, cancellation))) return message;
    const end = (claimed: WaitingMessage) => canceledUpdate(this.#kit, claimed, cancellation);
    return (await this.#kit.endBegun([messageId], end))[0] ?? null;
  }

  async #cancelMany(target: LanesTarget, { note }: Attribution): Promise<ActionOutcome> {
    const { store, log } = this.#kit;
    const portion = async (lane: number) => {
      const waiting = await store.shaping.waitingOfLane(lane, CANCELED_AT_ONCE);
      const ended = await Promise.all(
        waiting.map(async (message) => {
          if (!(await cancel(this.#kit, message, { by: 'operator', reason: note }))) return false;
          canceled(log, message, { reason: note });
          return true;
        }),
      );
      const done = ended.filter(Boolean).length;
      // Messages that can't be ended must not be read again and again.
      return { done, more: done > 0 && waiting.length === CANCELED_AT_ONCE };
    };
    const { messages, complete } = await this.#eachLane(target, portion);
    return { ...DONE, messages, complete };
  }

  /** Works through each lane in portions, until none has anything left or the time limit is reached. */
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
    if (message.state === 'scheduled' && message.dueAt !== null) {
      return `the message ${messageId} is not waiting yet: it is scheduled for ${toTimestamp(message.dueAt)}`;
    }
    return `the message ${messageId} is not waiting: it is ${message.state === 'sending' ? 'being sent right now' : message.state}`;
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

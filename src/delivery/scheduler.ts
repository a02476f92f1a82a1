// Who may go now. Holds the lanes that have mail and the times when they are due, finds the
// MX group of each lane that is due, and puts it in that group's line. Messages stay in the
// store: memory grows with lanes, not with messages.
import type { Clock } from '../base/clock.ts';
import { MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import type { BounceRules } from '../classify/classify-reply.ts';
import type { Logger } from '../observe/log.ts';
import { attemptStarted } from '../observe/mail-log.ts';
import type { ClaimedMessage, QueueStore } from '../store/queue.ts';
import type { LaneNotice } from '../store/submissions.ts';
import type { CourierPool } from './courier-pool.ts';
import { DueHeap } from './due-heap.ts';
import { Group } from './group.ts';
import { judge, judgeRoute } from './judge.ts';
import { type Lane, newLane } from './lane.ts';
import type { Recorder } from './recorder.ts';
import type { Route, Routes } from './routes.ts';

export interface SchedulerKit {
  store: Pick<QueueStore, 'claim' | 'release' | 'dueLanes'>;
  routes: Routes;
  pool: CourierPool;
  recorder: Recorder;
  clock: Clock;
  bounceRules: BounceRules;
  random: () => number;
  log: Logger;
  limits: { sessions: number; sessionsPerGroup: number; messagesPerSession: number; lingerMs: number };
  /** The pause after the n-th attempt, stored before it begins in case it vanishes. */
  pauseAfter(attempt: number): number;
}

// A safety net under the notices: what was made due by other means (another process, a tenant
// that became active) starts this late at most.
const RECONCILE_EVERY_MS = MINUTE_MS;
const AFTER_STORE_FAULT_MS = SECOND_MS;
// Messages of a domain without a route are judged in portions of this size.
const UNROUTED_BATCH = 100;

export class Scheduler {
  readonly #kit: SchedulerKit;
  readonly #lanes = new Map<number, Lane>();
  readonly #heap = new DueHeap<Lane>();
  readonly #groups = new Map<string, Group>();
  readonly #starved = new Set<Group>();
  #freeSlots: number;
  #alarm: NodeJS.Timeout | null = null;
  #reconciler: NodeJS.Timeout | null = null;
  #stopped = false;
  #routing = new Set<Promise<void>>();
  #onQuiet: (() => void) | null = null;

  constructor(kit: SchedulerKit) {
    this.#kit = kit;
    this.#freeSlots = kit.limits.sessions;
  }

  async start(): Promise<void> {
    await this.reconcile();
    this.#reconciler = setInterval(() => void this.reconcile(), RECONCILE_EVERY_MS);
  }

  /** Looks at the whole queue again. */
  async reconcile(): Promise<void> {
    try {
      this.notice(await this.#kit.store.dueLanes());
    } catch (error) {
      this.#kit.log.error({ error }, `the queue could not be read: ${describeError(error)}`);
    }
  }

  notice(notices: LaneNotice[]): void {
    for (const notice of notices) {
      const known = this.#lanes.get(notice.lane);
      // It will be looked at by then anyway. Without this, every look at the whole queue would
      // put one more entry of each lane into the heap.
      if (known && known.dueAt <= notice.dueAt) continue;
      const lane = known ?? newLane(notice);
      this.#lanes.set(lane.id, lane);
      lane.dueAt = notice.dueAt;
      if (lane.state === 'resting') this.#rest(lane);
    }
  }

  /** Nothing new starts; sessions finish the message on the wire. Settles when all are closed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#alarm) clearTimeout(this.#alarm);
    if (this.#reconciler) clearInterval(this.#reconciler);
    for (const group of this.#groups.values()) group.stop();
    await Promise.all(this.#routing);
    if (this.#freeSlots === this.#kit.limits.sessions) return;
    await new Promise<void>((resolve) => (this.#onQuiet = resolve));
  }

  /** Puts a lane that nobody is working on where it belongs by its time. */
  #rest(lane: Lane): void {
    lane.state = 'resting';
    if (this.#stopped) return;
    if (lane.dueAt === Number.POSITIVE_INFINITY) this.#lanes.delete(lane.id);
    else if (lane.dueAt <= this.#kit.clock.now()) this.#dispatch(lane);
    else {
      this.#heap.push(lane, lane.dueAt);
      this.#setAlarm();
    }
  }

  #setAlarm(): void {
    if (this.#alarm) clearTimeout(this.#alarm);
    if (this.#stopped || this.#heap.size === 0) return;
    // Never longer than the reconciler's period: a clock that was set does not strand anybody.
    const wait = Math.min(Math.max(0, this.#heap.nextAt - this.#kit.clock.now()), RECONCILE_EVERY_MS);
    this.#alarm = setTimeout(() => this.#ring(), wait);
  }

  #ring(): void {
    const now = this.#kit.clock.now();
    for (let entry = this.#heap.pop(now); entry; entry = this.#heap.pop(now)) {
      const lane = entry.item;
      // An entry is outdated when its lane has moved on or has got another time.
      if (lane.state === 'resting' && lane.dueAt === entry.at && this.#lanes.get(lane.id) === lane) this.#rest(lane);
    }
    this.#setAlarm();
  }

  #dispatch(lane: Lane): void {
    lane.state = 'routing';
    const work = this.#route(lane).finally(() => this.#routing.delete(work));
    this.#routing.add(work);
  }

  async #route(lane: Lane): Promise<void> {
    try {
      const route = await this.#kit.routes.find(lane.domain);
      if (this.#stopped) return;
      if (route.kind === 'group') this.#group(route.group).add(lane, route.hosts);
      else await this.#judgeUnrouted(lane, route);
    } catch (error) {
      this.#kit.log.error({ error, domain: lane.domain }, `no route: ${describeError(error)}`);
      lane.dueAt = this.#kit.clock.now() + AFTER_STORE_FAULT_MS;
      this.#rest(lane);
    }
  }

  async #judgeUnrouted(lane: Lane, route: Exclude<Route, { kind: 'group' }>): Promise<void> {
    const messages = await this.#claim(lane, UNROUTED_BATCH);
    const startedAt = this.#kit.clock.now();
    const judgement = judgeRoute(route);
    await Promise.all(
      messages.map((message) => this.#kit.recorder.record({ message, startedAt, judgement, mxGroup: null })),
    );
  }

  #group(name: string): Group {
    const known = this.#groups.get(name);
    if (known) return known;
    const { pool, recorder, clock, bounceRules, random, log, limits } = this.#kit;
    const group = new Group(name, {
      pool,
      recorder,
      clock,
      judge: (result) => judge(result, bounceRules),
      random,
      messagesPerSession: limits.messagesPerSession,
      lingerMs: limits.lingerMs,
      maxSessions: limits.sessionsPerGroup,
      claim: (lane, limit) => this.#claim(lane, limit),
      giveBack: (ids) => this.#giveBack(ids),
      takeSlot: (asking) => this.#takeSlot(asking),
      releaseSlot: () => this.#releaseSlot(),
      onSessionEnd: (ended) => this.#forgetIfIdle(ended),
      onError: (message) => log.error({ group: name }, message),
    });
    this.#groups.set(name, group);
    return group;
  }

  async #claim(lane: Lane, limit: number): Promise<ClaimedMessage[]> {
    if (this.#stopped) return [];
    const { store, clock, pauseAfter, log } = this.#kit;
    lane.state = 'claiming';
    // A notice that comes while the store is at work lowers this again.
    lane.dueAt = Number.POSITIVE_INFINITY;
    const now = clock.now();
    try {
      const times = { now, dueAgainAt: (attempt: number) => now + pauseAfter(attempt) };
      const { messages, nextDueAt } = await store.claim(lane.id, limit, times);
      for (const message of messages) attemptStarted(log, message, { attempt: message.attempt });
      if (nextDueAt !== null) lane.dueAt = Math.min(lane.dueAt, nextDueAt);
      return messages;
    } catch (error) {
      log.error({ error, domain: lane.domain }, `the queue could not be claimed: ${describeError(error)}`);
      lane.dueAt = clock.now() + AFTER_STORE_FAULT_MS;
      return [];
    } finally {
      this.#rest(lane);
    }
  }

  async #giveBack(messageIds: string[]): Promise<void> {
    try {
      this.notice(await this.#kit.store.release(messageIds, this.#kit.clock.now()));
    } catch (error) {
      // They stay marked as being sent; the next start of the daemon finds them.
      this.#kit.log.error({ error, messageIds }, `messages could not be given back: ${describeError(error)}`);
    }
  }

  #takeSlot(group: Group): boolean {
    if (this.#stopped) return false;
    if (this.#freeSlots === 0) {
      this.#starved.add(group);
      return false;
    }
    this.#freeSlots--;
    return true;
  }

  #releaseSlot(): void {
    this.#freeSlots++;
    if (this.#freeSlots === this.#kit.limits.sessions) this.#onQuiet?.();
    for (const group of this.#starved) {
      if (this.#freeSlots === 0) return;
      this.#starved.delete(group);
      group.pump();
    }
  }

  #forgetIfIdle(group: Group): void {
    if (group.idle && this.#groups.get(group.name) === group) this.#groups.delete(group.name);
  }
}

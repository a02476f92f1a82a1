// Who may go now. Holds the lanes that have mail and the times when they are due, finds the
// MX group of each lane that is due and that shaping does not keep back, and puts it in that
// group's line. Messages stay in the store: memory grows with lanes, not with messages.

import type { Clock } from '../../base/clock.ts';
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { FewPerTick } from '../../base/per-tick.ts';
import type { BounceRules } from '../../classify/classify-reply.ts';
import type { Logger } from '../../observe/log.ts';
import { requeued } from '../../observe/mail-log.ts';
import type { SecondLooks } from '../../protocol/dns/second-look.ts';
import type { ClaimedMessage, QueueStore } from '../../store/queue.ts';
import type { ClaimSource, SourceStore } from '../../store/source-addresses.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import type { EndWatch } from '../outcome/doubted-bounce.ts';
import { judge } from '../outcome/judge.ts';
import type { Finding, Recorder } from '../outcome/recorder.ts';
import { type NoRouteRules, type Unrouted, UnroutedMail } from '../route/no-route.ts';
import type { Route, Routes } from '../route/routes.ts';
import { findUnreachable, type Interfaces, type SourceAddresses } from '../route/source-addresses.ts';
import type { CourierPool } from '../session/courier-pool.ts';
import type { ShapingVerdict } from '../shaping/shaping.ts';
import type { Shaping, ShapingOutcome } from '../shaping/shaping-state.ts';
import { Claims, type ClaimsKit, findDeparture } from './claims.ts';
import { DueHeap } from './due-heap.ts';
import { Group, type GroupLoad } from './group.ts';
import { type Lane, newLane } from './lane.ts';
import { Slots } from './slots.ts';

export interface SchedulerKit {
  store: ClaimsKit['store'] & Pick<QueueStore, 'dueLanes' | 'getMessage'> & Pick<SourceStore, 'peekDue'>;
  routes: Routes;
  pool: CourierPool;
  recorder: Pick<Recorder, 'record'>;
  results: ClaimsKit['results'];
  shaping: Shaping;
  /** Our own addresses; null: the system picks. */
  sources: SourceAddresses | null;
  /** Of this machine. */
  readInterfaces?: () => Interfaces;
  secondLooks: SecondLooks;
  noRoute: NoRouteRules;
  endWatch?: EndWatch;
  clock: Clock;
  bounceRules: BounceRules;
  random: () => number;
  log: Logger;
  limits: { sessions: number; lingerMs: number };
  /** After each attempt, from the first; one is stored before the attempt begins in case it vanishes. */
  pausesMs(): number[];
}

// A safety net under the notices: what was made due by other means (another process, a tenant
// that became active) starts this late at most.
const RECONCILE_EVERY_MS = MINUTE_MS;
const AFTER_STORE_FAULT_MS = SECOND_MS;
// Some 2 ms: a hundred thousand lanes may become due at once, or be let go.
const LANES_PER_TURN = 50;
const GROUPS_PER_TURN = 200;
// Messages of a domain without a route are judged in portions of this size.
const UNROUTED_BATCH = 100;

/*
 * The scheduler moves lanes; what a lane is doing is its `state` (lane.ts).
 *
 *   resting ──due──▶ routing ──MX group known──▶ ready ──a session takes it──▶ claiming ──▶ resting
 *      ▲                │ no route                                               ▲
 *      └── held ◀───────┴── shaping keeps it back ─────────────(no route: claimed to be judged)
 *
 * Notices from the store (mail accepted, given back, released) and the heap's alarm make a lane due. Due lanes are routed
 * some at a time, so that a hundred thousand of them do not stop the event loop. A lane that shaping keeps back is held
 * until the reason's end, or, where only an operator can end it, until `onReleased`. From `ready` on the lane's group
 * decides; the scheduler only claims what the group asks for. Once a minute the whole queue is compared with the lanes
 * in memory: whatever a lost notice forgot starts then.
 */
export class Scheduler {
  readonly #kit: SchedulerKit;
  readonly #lanes = new Map<number, Lane>();
  readonly #heap = new DueHeap<Lane>();
  readonly #groups = new Map<string, Group>();
  readonly #slots: Slots;
  readonly #claims: Claims;
  readonly #unrouted: UnroutedMail;
  readonly #dispatching = new FewPerTick<Lane>(LANES_PER_TURN, (lane) => this.#dispatch(lane));
  readonly #pumping = new FewPerTick<Group>(GROUPS_PER_TURN, (group) => group.pump());
  #alarm: NodeJS.Timeout | null = null;
  #reconciler: NodeJS.Timeout | null = null;
  #stopped = false;
  #routing = new Set<Promise<void>>();

  constructor(kit: SchedulerKit) {
    this.#kit = kit;
    this.#slots = new Slots(kit.limits.sessions);
    this.#claims = new Claims(kit);
    const giveBack = async (ids: string[]) => this.notice(await this.#claims.giveBack(ids, null));
    this.#unrouted = new UnroutedMail({ ...kit, rules: kit.noRoute, giveBack });
  }

  async start(): Promise<void> {
    this.#kit.shaping.start({
      onBlocked: (group) => this.#groups.get(group)?.halt(),
      onRoom: (group) => this.#groups.get(group)?.pump(),
      onReleased: () => this.#lookAgain(),
    });
    await this.reconcile();
    this.#reconciler = setInterval(() => void this.#lookAround(), RECONCILE_EVERY_MS);
  }

  /** What is going on in a group, and in all. */
  load(group: string | null): GroupLoad {
    const { open = 0, lanes = 0 } = (group !== null && this.#groups.get(group)) || {};
    return { open, lanes, openInAll: this.#slots.open };
  }

  async #lookAround(): Promise<void> {
    await this.reconcile();
    for (const group of this.#groups.values()) this.#forgetIfIdle(group);
    await this.#kit.shaping.tidy().catch((error: unknown) => {
      this.#kit.log.error({ error }, `shaping could not be tidied up: ${describeError(error)}`);
    });
  }

  /** An operator has let something go: whatever it was, all who are kept back ask again. */
  #lookAgain(): void {
    for (const lane of this.#lanes.values()) if (lane.state === 'held') this.#rest(lane);
    for (const group of this.#groups.values()) this.#pumping.add(group);
  }

  /** Looks at the whole queue again; a tenant may have been changed. */
  async reconcile(): Promise<void> {
    this.#kit.shaping.tenantsChanged();
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
    for (const each of [this.#dispatching, this.#pumping]) each.stop();
    for (const group of this.#groups.values()) group.stop();
    this.#unrouted.stop();
    await Promise.all(this.#routing);
    await this.#slots.allClosed();
  }

  /** Puts a lane that nobody is working on where it belongs by its time. */
  #rest(lane: Lane): void {
    lane.state = 'resting';
    if (this.#stopped) return;
    if (lane.dueAt === Number.POSITIVE_INFINITY) this.#lanes.delete(lane.id);
    else if (lane.dueAt <= this.#kit.clock.now()) {
      lane.state = 'routing';
      this.#dispatching.add(lane);
    } else this.#wakeAt(lane, lane.dueAt);
  }

  /** Due, and kept back: until a time, or until somebody lets it go. */
  #hold(lane: Lane, { until, reasons }: ShapingVerdict): void {
    lane.state = 'held';
    const [first] = reasons;
    this.#kit.log.debug({ tenant_id: lane.tenantId, domain: lane.domain, reasons }, `kept back: ${first?.reason}`);
    if (until === null) lane.wakeAt = Number.POSITIVE_INFINITY;
    else if (!this.#stopped) this.#wakeAt(lane, until);
  }

  #wakeAt(lane: Lane, at: number): void {
    // It stands in the heap for that time: one lane with a retry in eight hours, through which much
    // fresh mail goes, would else leave one entry there for each of its messages.
    if (lane.wakeAt === at) return;
    lane.wakeAt = at;
    this.#heap.push(lane, at);
    this.#setAlarm();
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
      if (lane.wakeAt !== entry.at || this.#lanes.get(lane.id) !== lane) continue;
      lane.wakeAt = Number.POSITIVE_INFINITY;
      if (lane.state === 'resting' || lane.state === 'held') this.#rest(lane);
    }
    this.#setAlarm();
  }

  #dispatch(lane: Lane): void {
    const work = this.#route(lane).finally(() => this.#routing.delete(work));
    this.#routing.add(work);
  }

  async #route(lane: Lane): Promise<void> {
    const { shaping, routes } = this.#kit;
    try {
      await shaping.learnTenant(lane.tenantId);
      const { tenantId, domain } = lane;
      const verdict = shaping.verdict({ tenantId, domain, group: null, connections: null });
      if (verdict.decision === 'wait') return this.#hold(lane, verdict);
      const route = await routes.find(domain);
      if (this.#stopped) return;
      if (route.kind === 'group') {
        shaping.noteDomain(domain, route.group);
        await this.#enqueue(lane, route);
      } else await this.#judgeUnrouted(lane, route);
    } catch (error) {
      this.#kit.log.error({ error, domain: lane.domain }, `no route: ${describeError(error)}`);
      lane.dueAt = this.#kit.clock.now() + AFTER_STORE_FAULT_MS;
      this.#rest(lane);
    }
  }

  async #enqueue(lane: Lane, route: Extract<Route, { kind: 'group' }>): Promise<void> {
    const { sources } = this.#kit;
    const { group, hosts } = route;
    const unreachable = findUnreachable(group, hosts, this.#kit);
    if (unreachable) return this.#judgeUnrouted(lane, unreachable);
    const source = sources ? await findDeparture({ ...this.#kit, sources }, lane, route) : null;
    if (this.#stopped) return;
    if (sources && !source) await this.#claim(lane, 1, { group, from: sources.claim(null, group, hosts) });
    else this.#group(group).add(lane, hosts, source);
  }

  async #judgeUnrouted(lane: Lane, route: Unrouted): Promise<void> {
    const messages = await this.#claim(lane, UNROUTED_BATCH, { group: null });
    await this.#unrouted.judge(lane.domain, route, messages);
  }

  #group(name: string): Group {
    const known = this.#groups.get(name);
    if (known) return known;
    const { pool, clock, bounceRules, random, log, limits, shaping, readInterfaces } = this.#kit;
    const group = new Group(name, {
      ...{ pool, clock, readInterfaces },
      recorder: this.#kit.recorder,
      learn: (finding, learning, others) => this.#learn(finding, learning, others),
      onConnected: ({ name: to }, working) => shaping.connected(to, working),
      judge: (result) => judge(result, bounceRules),
      random,
      pace: shaping.memory.group(name).pace,
      messagesPerSession: shaping.limitsOf(name).messagesPerConnection,
      lingerMs: limits.lingerMs,
      mayGo: (lane, asking, connection) => this.#mayGo(lane, asking, connection),
      room: (lane) => shaping.room(name, lane.tenantId),
      hold: (lane, verdict) => this.#hold(lane, verdict),
      claim: ({ lane, hosts, source }, limit) => {
        const from = source ? this.#kit.sources?.claim(source.ip, name, hosts) : undefined;
        return this.#claim(lane, limit, { group: name, from });
      },
      giveBack: async (ids) => this.notice(await this.#claims.giveBack(ids, name)),
      takeSlot: (asking) => !this.#stopped && this.#slots.take(asking),
      releaseSlot: () => this.#slots.release(),
      onWait: (waiting, verdict) => this.#onWait(waiting, verdict),
      onSessionEnd: (ended) => this.#forgetIfIdle(ended),
      onError: (message) => log.error({ group: name }, message),
    });
    this.#groups.set(name, group);
    return group;
  }

  #mayGo({ tenantId, domain }: Lane, group: Group, connection: 'new' | 'open'): ShapingVerdict {
    const connections = connection === 'new' ? { open: this.#slots.open, limit: this.#kit.limits.sessions } : null;
    return this.#kit.shaping.verdict({ tenantId, domain, group, connections });
  }

  #onWait(group: Group, { reasons, until }: ShapingVerdict): void {
    if (reasons.some(({ code }) => code === 'all_connections_full')) this.#slots.waitFor(group);
    this.#kit.log.debug({ group: group.name, lanes: group.lanes, until, reasons }, `waits: ${reasons[0]?.reason}`);
  }

  /** What came of an attempt also says what the group bears. False: it was no attempt. */
  #learn({ message, judgement }: Finding, group: Group, others: ShapingOutcome['others']): boolean {
    const { shaping, clock, log } = this.#kit;
    const recipientDomain = this.#lanes.get(message.lane)?.domain ?? message.recipient.split('@').at(-1)!;
    const { name, open } = group;
    const tried = shaping.learn({ group: name, message, recipientDomain, judgement, open, others });
    if (!tried && judgement.kind === 'temporary') requeued(log, message, { ...judgement, dueAt: clock.now() });
    if (tried && judgement.kind !== 'unreadable') group.notePace(judgement.peer.elapsedMs);
    return tried;
  }

  async #claim(
    lane: Lane,
    limit: number,
    { group, from }: { group: string | null; from?: ClaimSource | undefined },
  ): Promise<ClaimedMessage[]> {
    if (this.#stopped) return [];
    lane.state = 'claiming';
    // A notice that comes while the store is at work lowers this again.
    lane.dueAt = Number.POSITIVE_INFINITY;
    const { messages, nextDueAt } = await this.#claims.claim(lane, limit, { group, from });
    if (nextDueAt !== null) lane.dueAt = Math.min(lane.dueAt, nextDueAt);
    this.#rest(lane);
    return messages;
  }

  #forgetIfIdle(group: Group): void {
    if (!group.idle || this.#groups.get(group.name) !== group) return;
    this.#groups.delete(group.name);
    group.stop(); // it may have set itself an alarm
  }
}

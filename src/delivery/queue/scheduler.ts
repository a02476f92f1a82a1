// Finds the MX group of each lane that is due and that shaping doesn't hold, and adds it to that group's queue.
// Messages stay in the store: memory grows with lanes, not with messages.
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { monotonicMs } from '../../base/lease-end.ts';
import { FewPerTick } from '../../base/per-tick.ts';
import { requeued } from '../../observe/mail-log.ts';
import { asciiDomainOf } from '../../protocol/mail/addresses/address.ts';
import type { ClaimedMessage, MessageUpdate } from '../../store/queue.ts';
import type { ClaimSource } from '../../store/source-addresses.ts';
import type { LaneNotice } from '../../store/submissions.ts';
import type { AttemptResult } from '../outcome/recorder.ts';
import { type Unrouted, UnroutedMail } from '../route/no-route.ts';
import type { Route } from '../route/routes.ts';
import { findUnreachable } from '../route/source-addresses.ts';
import type { ShapingVerdict } from '../shaping/shaping.ts';
import type { ShapingOutcome } from '../shaping/shaping-state.ts';
import { Claims, findSource } from './claims.ts';
import { ConnectionSlots } from './connection-slots.ts';
import { Group } from './group.ts';
import type { GroupLoad, GroupPort, OfGroup } from './group-port.ts';
import type { Lane } from './lane.ts';
import type { WaitingLane } from './lane-rotation.ts';
import { Lanes } from './lanes.ts';
import { LookUpTurns } from './look-up-turns.ts';
import { hearOtherNodes, passOnOthers } from './other-nodes.ts';
import { Passages } from './passage.ts';
import { QueueLooks } from './queue-looks.ts';
import { refreshRoute } from './refresh-route.ts';
import type { SchedulerKit } from './scheduler-kit.ts';

// A safety net for lost notices: mail that became due otherwise starts no later than this.
const RECONCILE_EVERY_MS = MINUTE_MS;
const AFTER_STORE_FAULT_MS = SECOND_MS;
const GROUPS_PER_TURN = 200;
// Messages of a domain without a route are judged in portions of this size.
const UNROUTED_BATCH = 100;

/*
 * The scheduler moves lanes; their states, and what changes them, are in lane.ts.
 *
 * Notices from the store (mail accepted, put back, released) and the lanes' alarms make a lane due. Due lanes are
 * routed some at a time, so that a hundred thousand of them don't block the event loop, and look-ups in DNS take turns
 * (look-up-turns.ts). A lane that shaping holds waits until the reason ends, or, if only an operator can end it, until
 * `onReleased`. From `ready` on the lane's group decides; the scheduler only claims what the group asks for. Once a
 * minute, or more rarely where that takes long, the whole queue is compared with the lanes in memory, so that mail of a
 * lost notice starts then.
 */
export class Scheduler {
  readonly #kit: SchedulerKit;
  readonly #lanes: Lanes;
  readonly #groups = new Map<string, Group>();
  readonly #slots: ConnectionSlots;
  readonly #claims: Claims;
  readonly #looks: QueueLooks;
  readonly #unrouted: UnroutedMail;
  /** Ways past the queue for messages that are being accepted. */
  readonly passages: Passages;
  readonly #pumping = new FewPerTick<Group>(GROUPS_PER_TURN, (group) => group.pump());
  #reconciler: NodeJS.Timeout | null = null;
  #stopped = false;
  #routing = new Set<Promise<void>>();
  readonly #lookUps = new LookUpTurns();
  readonly #port: GroupPort = {
    claim: (group, next, limit) => this.#claimFor(group, next, limit),
    giveBack: async ({ name }, messages, dueAt) => this.notice(await this.#claims.giveBack(messages, name, dueAt)),
    hold: (lane, verdict) => this.#hold(lane, verdict),
    learn: (group, finding, others) => this.#learn(group, finding, others),
    onSessionEnd: ({ name }) => this.#forgetIfIdle(name),
  };

  constructor(kit: SchedulerKit) {
    this.#kit = kit;
    this.#lanes = new Lanes(kit.clock, (lane) => this.#dispatch(lane));
    this.#slots = new ConnectionSlots(kit.limits.sessions);
    const { store, ownership, shaping, results, recorder, clock, log, pausesMs } = kit;
    this.#claims = new Claims({ store, ownership, shaping, results, clock, log, pausesMs });
    this.#looks = new QueueLooks({ store, ownership, monotonicMs, log, found: (lanes) => this.notice(lanes) });
    this.passages = new Passages(kit, { get: (name) => this.#groups.get(name), make: (name) => this.#group(name) });
    const giveBack = async (messages: readonly ClaimedMessage[]) =>
      this.notice(await this.#claims.giveBack(messages, null));
    const { secondLooks, noRoute: rules, endWatch } = kit;
    this.#unrouted = new UnroutedMail({ store, recorder, secondLooks, rules, endWatch, clock, log, giveBack });
  }

  async start(): Promise<void> {
    this.#kit.shaping.start({
      onBlocked: (group) => this.#groups.get(group)?.halt(),
      onRoom: (group) => this.#groups.get(group)?.pump(),
      onSurplus: (group, most) => this.#groups.get(group)?.keepAtMost(most),
      openTo: (group) => this.#groups.get(group)?.open ?? 0,
      onTenantRoom: (tenantIds) => this.#lanes.wakeHeld(({ tenantId }) => tenantIds.has(tenantId)),
      onReleased: () => this.#wakeAll(),
    });
    this.#kit.ownership.listen({
      gained: () => void this.reconcile(),
      // What is on the wire is broken off before its final dot (LeaseEnd); the rest is given back, and another owner's by then.
      lost: () => {
        for (const group of this.#groups.values()) group.halt();
      },
    });
    await this.reconcile();
    hearOtherNodes(this.#kit, this);
    this.#reconciler = setInterval(() => void this.#maintain(), RECONCILE_EVERY_MS);
  }

  /** Connections and waiting lanes of a group, and connections in all. */
  load(group: string | null): GroupLoad {
    const { open = 0, lanes = 0 } = (group !== null && this.#groups.get(group)) || {};
    return { open, lanes, openInAll: this.#slots.open };
  }

  async #maintain(): Promise<void> {
    this.#kit.shaping.tenantsChanged();
    await this.#looks.inCase();
    for (const name of this.#groups.keys()) this.#forgetIfIdle(name);
    await this.#kit.shaping.tidy().catch((error: unknown) => {
      this.#kit.log.error({ error }, `shaping could not be tidied up: ${describeError(error)}`);
    });
  }

  /** An operator has ended a hold: every held lane is routed again, every group asks shaping again. */
  #wakeAll(): void {
    this.#lanes.wakeHeld();
    for (const group of this.#groups.values()) this.#pumping.add(group);
  }

  /** Compares the whole queue with memory; tenants are read again. */
  async reconcile(): Promise<void> {
    this.#kit.shaping.tenantsChanged();
    await this.lookAt(this.#kit.ownership.slots);
  }

  /** In those of the slots that are its own. */
  lookAt(slots: readonly number[]): Promise<void> {
    return this.#looks.at(slots);
  }

  /** Lanes in other nodes' slots are theirs. */
  notice(lanes: LaneNotice[]): void {
    this.#lanes.notice(passOnOthers(lanes, this.#kit));
  }

  /** Ends messages that are claimed and of which no command has been sent; returns them. */
  async endBegun(messageIds: readonly string[], end: (message: ClaimedMessage) => MessageUpdate) {
    const groups = [...this.#groups.values()];
    const messages = (await Promise.all(groups.map((group) => group.withdraw(messageIds)))).flat();
    return messages.length > 0 ? await this.#claims.end(messages, end) : [];
  }

  /** Starts nothing new; sessions finish the message on the wire. Resolves when all are closed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.passages.stop();
    const allClosed = this.#slots.close();
    this.#lanes.stop();
    this.#lookUps.stop();
    this.#looks.stop();
    if (this.#reconciler) clearInterval(this.#reconciler);
    this.#pumping.stop();
    for (const group of this.#groups.values()) group.stop();
    this.#unrouted.stop();
    await Promise.all(this.#routing);
    await allClosed;
  }

  /** Holds a due lane until a time, or until an operator ends the hold. */
  #hold(lane: Lane, { until, reasons }: Pick<ShapingVerdict, 'reasons' | 'until'>): void {
    this.#kit.log.debug({ tenant_id: lane.tenantId, domain: lane.domain, reasons }, `kept back: ${reasons[0]?.reason}`);
    this.#lanes.change(lane, { kind: 'held', until });
  }

  #dispatch(lane: Lane): void {
    const work = this.#route(lane).finally(() => this.#routing.delete(work));
    this.#routing.add(work);
  }

  async #route(lane: Lane): Promise<void> {
    const { shaping, routes } = this.#kit;
    const { tenantId, domain } = lane;
    /** What holds the lane, or null. */
    const findHold = async () => {
      await shaping.learnTenant(tenantId);
      const verdict = shaping.verdict({ tenantId, domain, group: null, connections: null });
      return verdict.decision === 'wait' ? verdict : null;
    };
    try {
      const hold = await findHold();
      if (hold) return this.#hold(lane, hold);
      // It may have been held while it waited for its turn.
      const lookUp = async () => (await findHold()) ?? (await routes.find(domain));
      const found = routes.known(domain) ?? (await this.#lookUps.run(tenantId, lookUp));
      if (this.#stopped || found === null) return;
      if ('decision' in found) return this.#hold(lane, found);
      if (found.kind === 'group') {
        shaping.noteDomain(domain, found.group);
        await this.#enqueue(lane, found);
      } else await this.#judgeUnrouted(lane, found);
    } catch (error) {
      this.#kit.log.error({ error, domain }, `no route: ${describeError(error)}`);
      this.#lanes.change(lane, { kind: 'failed', retryAt: this.#kit.clock.now() + AFTER_STORE_FAULT_MS });
    }
  }

  async #enqueue(lane: Lane, route: Extract<Route, { kind: 'group' }>): Promise<void> {
    const { store, sources, readInterfaces, clock, log } = this.#kit;
    const { group, hosts } = route;
    const unreachable = findUnreachable(group, hosts, { sources, readInterfaces });
    if (unreachable) return this.#judgeUnrouted(lane, unreachable);
    const source = sources ? await findSource({ store, sources, clock, log }, lane, route) : null;
    if (this.#stopped) return;
    if (sources && !source) await this.#claim(lane, 1, { group, from: sources.claim(null, group, hosts) });
    else {
      this.#lanes.change(lane, { kind: 'queued' });
      this.#group(group).add(lane, route, source);
    }
  }

  async #judgeUnrouted(lane: Lane, route: Unrouted): Promise<void> {
    const messages = await this.#claim(lane, UNROUTED_BATCH, { group: null });
    await this.#unrouted.judge(lane.domain, route, messages);
  }

  #group(name: string): Group {
    const known = this.#groups.get(name);
    if (known) return known;
    const { pool, recorder, judge, shaping, clock, random, log } = this.#kit;
    const session = {
      pool,
      recorder,
      clock,
      log,
      readInterfaces: this.#kit.readInterfaces,
      judge,
      messagesPerSession: shaping.limitsOf(name).messagesPerConnection,
      lingerMs: this.#kit.limits.lingerMs,
    };
    const { pace } = shaping.memory.group(name);
    const group = new Group(name, { session, shaping, slots: this.#slots, pace, random, clock, log }, this.#port);
    this.#groups.set(name, group);
    return group;
  }

  /** Passes an attempt's outcome to shaping, which learns the group's limits from it. False: it was no attempt. */
  #learn({ name, open }: OfGroup, finding: AttemptResult, others: ShapingOutcome['others']): boolean {
    const { shaping, clock, log } = this.#kit;
    const { message, judgement, sameFailure = false } = finding;
    // The lane is gone when it has no other mail.
    const recipientDomain = this.#lanes.get(message.lane)?.domain ?? asciiDomainOf(message.recipient);
    const tried = shaping.learn({ group: name, message, recipientDomain, judgement, sameFailure, open, others });
    if (!tried && judgement.kind === 'temporary') requeued(log, message, { ...judgement, dueAt: clock.now() });
    return tried;
  }

  async #claimFor(group: OfGroup, next: WaitingLane, limit: number): Promise<ClaimedMessage[]> {
    const { lane, source } = next;
    if (this.#kit.clock.now() >= next.staleAt && !(await this.#refresh(group, next, limit))) {
      this.#lanes.change(lane, { kind: 'outdated' });
      return [];
    }
    const { name } = group;
    const { hosts } = next;
    const from = source ? this.#kit.sources?.claim(source.ip, name, hosts) : undefined;
    return this.#claim(lane, limit, { group: name, from });
  }

  /** False: the mail goes elsewhere by now, or was held during the look-up. */
  async #refresh(group: OfGroup, next: WaitingLane, limit: number): Promise<boolean> {
    const { shaping, routes } = this.#kit;
    const { tenantId, domain } = next.lane;
    // So that what is claimed meanwhile leaves room for it.
    shaping.reservations.reserve(group.name, tenantId, limit);
    const route = await refreshRoute(next, group.name, routes);
    shaping.reservations.settle(group.name, tenantId, { reserved: limit, claimed: [] });
    if (!route || shaping.verdict({ tenantId, domain, group, connections: null }).decision === 'wait') return false;
    Object.assign(next, route);
    return true;
  }

  async #claim(
    lane: Lane,
    limit: number,
    { group, from }: { group: string | null; from?: ClaimSource | undefined },
  ): Promise<ClaimedMessage[]> {
    if (this.#stopped) return [];
    this.#lanes.change(lane, { kind: 'claiming' });
    const { messages, ...found } = await this.#claims.claim(lane, limit, { group, from });
    this.#lanes.change(lane, 'retryAt' in found ? { kind: 'failed', ...found } : { kind: 'claimed', ...found });
    return messages;
  }

  #forgetIfIdle(name: string): void {
    const group = this.#groups.get(name);
    if (!group?.idle) return;
    this.#groups.delete(name);
    group.stop(); // it may have set itself an alarm
  }
}

// The state of shaping: decides which mail may be sent, learns from every outcome, stores what must survive
// a restart, and notifies the scheduler when mail is stopped or released.

import type { Clock } from '../../base/clock.ts';
import { DAY_MS, SECOND_MS, toTimestamp } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { ClaimedMessage } from '../../store/queue.ts';
import type { GroupConcurrency, ShapingChanges, Suspension, SuspensionScope } from '../../store/shaping.ts';
import type { Store, StoreVerbs } from '../../store/store.ts';
import type { Judgement } from '../outcome/judge.ts';
import { isNews, SAME_REPLY_MS } from '../outcome/suspension-length.ts';
import { adapt, healthy, isHealthy, type Sign } from './adaptive-limit.ts';
import { NotedDomains } from './noted-domains.ts';
import type { Providers } from './provider-limits.ts';
import { Reservations } from './reservations.ts';
import { decideShaping, type ShapingVerdict, whatPauses } from './shaping.ts';
import { type GroupLimits, type ShapingLimits, ShapingMemory, type ShapingQuestion } from './shaping-memory.ts';
import { type OtherConnections, readSigns, suspensionTarget } from './shaping-signs.ts';
import type { ConnectionListener } from './shared-connections.ts';
import { OthersHolds } from './shared-holds.ts';
import type { SharedLimits } from './shared-limits.ts';
import type { RoomListener } from './shared-windows.ts';

export interface ShapingKit {
  store: Pick<Store, 'shaping'> & StoreVerbs<{ tenants: 'getTenant' }>;
  clock: Clock;
  random: () => number;
  log: Logger;
  providers: Providers;
  limits: ShapingLimits;
  /** The retry pauses of single messages: no group cools down for longer. */
  retryStepsMs: readonly number[];
  /** The name of this daemon; missing or null: there is one. */
  node?: string | null;
  /** Missing or null: there is one daemon. */
  shared?: SharedLimits | null;
}

/** The scheduler. */
export interface ShapingListener extends RoomListener, ConnectionListener {
  /** The group must stop now. */
  onBlocked(group: string): void;
  /** A hold was ended by an operator, or a tenant was changed. */
  onReleased(): void;
}

/** One attempt's outcome, and the mail it was about. */
export interface ShapingOutcome {
  group: string;
  message: Pick<ClaimedMessage, 'id' | 'tenantId' | 'fromDomain' | 'sourceAddress'>;
  recipientDomain: string;
  judgement: Judgement;
  /** The connection's failure was learnt with another message. */
  sameFailure?: boolean;
  /** Connections to the group that are open or being opened, this one included. */
  open: number;
  others: Omit<OtherConnections, 'open'>;
}

// One of a provider's many customers may have a dead server; three failures in a row are the provider's.
const PROVIDER_TOLERANCE = 3;
const KEEP_EVERY_MS = 5 * SECOND_MS;
/** The group of a domain without mail for so long is forgotten. */
const DOMAIN_MEMORY_MS = 30 * DAY_MS;
const FORGET_PORTION = 500;
const SCOPES: readonly SuspensionScope[] = ['group', 'source', 'sender_domain', 'domain'];

/*
 * ShapingMemory holds the facts, Reservations what is left of the limits per minute and hour, and the pure function in
 * shaping.ts decides; this class connects them. Three things change the facts: outcomes of attempts (`learn`: connection
 * limit, pauses, what was sent), operators (`paused`, `released`), and time. A change applies at once and is stored right
 * after, so a restart loses a moment at most; what was sent within the hour is stored every five seconds, or counted in
 * the store, where several daemons share the limits (shared-windows.ts, shared-connections.ts). The scheduler gets
 * notifications: `onBlocked`, a group must stop now; `onSurplus`, it has too many connections; `onRoom` and `onTenantRoom`,
 * there is room again; `onReleased`, a hold was ended, so everything held asks again. The end of a pause needs none: its time
 * is known.
 */
export class Shaping {
  readonly memory: ShapingMemory;
  readonly reservations: Reservations;
  readonly #kit: ShapingKit;
  readonly #others = new OthersHolds();
  #listener: ShapingListener | null = null;
  readonly #notedDomains: NotedDomains;
  readonly #saving = new Set<Promise<void>>();
  #saver: NodeJS.Timeout | null = null;

  static async open(kit: ShapingKit): Promise<Shaping> {
    return new Shaping(kit, new ShapingMemory(kit, await kit.store.shaping.loadShaping(kit.clock.now(), kit.node)));
  }

  private constructor(kit: ShapingKit, memory: ShapingMemory) {
    this.#kit = kit;
    this.memory = memory;
    this.reservations = new Reservations(memory, kit.clock);
    this.#notedDomains = new NotedDomains(kit);
  }

  start(listener: ShapingListener): void {
    this.#listener = listener;
    this.#kit.shared?.start(listener);
    this.#saver = setInterval(() => this.#keep(), KEEP_EVERY_MS);
  }

  /** Resolves when everything that must survive is stored. */
  async stop(): Promise<void> {
    if (this.#saver) clearInterval(this.#saver);
    this.#listener = null;
    this.#savePaces();
    await Promise.all([...this.#saving, this.#notedDomains.stop(), this.#kit.shared?.close()]);
  }

  verdict(question: ShapingQuestion): ShapingVerdict {
    const now = this.#kit.clock.now();
    return decideShaping(this.memory.facts(question, now), now);
  }

  limitsOf(group: string): GroupLimits {
    return this.memory.limitsOf(group);
  }

  /** Whether mail was sent there, something is stored about it, or it has limits of a provider. */
  async isKnownGroup(group: string): Promise<boolean> {
    return this.limitsOf(group).provider !== null || (await this.#kit.store.shaping.isKnownGroup(group));
  }

  /** When mail that is due at `dueAt` can be sent, by the current holds; null: unknown. */
  earliestAttempt(question: ShapingQuestion, dueAt: number): number | null {
    const { decision, until } = this.verdict(question);
    if (decision === 'go') return dueAt;
    return until === null ? null : Math.max(until, dueAt);
  }

  /** Reads a tenant before shaping is asked about its mail. */
  async learnTenant(tenantId: string): Promise<void> {
    const now = this.#kit.clock.now();
    if (this.memory.tenants.isFresh(tenantId, now)) return;
    const tenant = await this.#kit.store.tenants.getTenant(tenantId);
    if (tenant) this.memory.tenants.learn(tenantId, tenant, now);
  }

  /** Another node may have changed what holds mail: pauses, suspensions, tenants. */
  async readOthers(): Promise<void> {
    const { clock, store, node } = this.#kit;
    const now = clock.now();
    const { stopped, hasEnded } = this.#others.take(this.memory, await store.shaping.readHolds(now, node), now);
    for (const group of stopped) this.#listener?.onBlocked(group);
    this.memory.tenants.expire();
    const tenants = this.memory.tenants.stopped();
    for (const tenant of tenants) await this.learnTenant(tenant);
    if (hasEnded || tenants.some((tenant) => this.memory.tenants.isActive(tenant))) this.#listener?.onReleased();
  }

  /** Some tenant was changed. */
  tenantsChanged(): void {
    this.memory.tenants.expire();
    this.#listener?.onReleased();
  }

  /** False: the message was not tried, because its connection was one too many; it must be given back. */
  learn(outcome: ShapingOutcome): boolean {
    const { group, message, recipientDomain, judgement, open } = outcome;
    const now = this.#kit.clock.now();
    const known = this.memory.group(group);
    const { provider } = this.memory.limitsOf(group);
    const { tenantId, fromDomain: senderDomain, sourceAddress } = message;
    const about = { mxGroup: group, provider, tenantId, senderDomain, recipientDomain, sourceAddress };
    const others = { ...outcome.others, open: open - 1 };
    const earlier = this.memory.earlierPause.bind(this.memory);
    const delivering = now - known.deliveredAt < SAME_REPLY_MS;
    const { sign, suspension, surplus } = readSigns({ ...about, judgement, others, delivering, earlier }, now);
    known.triedAt = now;
    if (sign?.kind === 'delivered') known.deliveredAt = now;
    if (sign && !outcome.sameFailure) this.#adapt(group, sign, open);
    if (suspension) this.#suspend(suspension);
    if (sign?.kind === 'delivered') {
      const targets = () => SCOPES.map((scope) => suspensionTarget(scope, about));
      this.memory.shortenPauses(targets, now);
    }
    if (!surplus) this.reservations.tried(message.id);
    return !surplus;
  }

  /** A connection was opened; `working` counts it, too. */
  connected(group: string, working: number): void {
    this.#adapt(group, { kind: 'connected', working }, working);
  }

  /** The current pause of this sender domain's mail to the group, if any. */
  senderSuspension(group: string, tenantId: string, senderDomain: string): Suspension | null {
    const found = this.memory.suspension({ mxGroup: group, scope: 'sender_domain', tenantId, subject: senderDomain });
    return found && found.until > this.#kit.clock.now() ? found : null;
  }

  /** The current pause of one of our addresses (null: the default one) towards the group, if any. */
  sourceSuspension(group: string, sourceAddress: string | null): Suspension | null {
    const of = { mxGroup: group, scope: 'source' as const, tenantId: null, subject: sourceAddress ?? '' };
    const found = this.memory.suspension(of);
    return found && found.until > this.#kit.clock.now() ? found : null;
  }

  /** Stores a domain's group, so that operators can act on it by group. */
  noteDomain(domain: string, mxGroup: string): void {
    this.#notedDomains.note(domain, mxGroup);
  }

  /** Forgets what is no longer relevant; called from time to time. */
  async tidy(): Promise<void> {
    const now = this.#kit.clock.now();
    const { tenants, groups } = this.memory.tidy(now, FORGET_PORTION);
    this.reservations.dropped(tenants);
    if (groups.length > 0) this.#save({ groups });
    await this.#kit.store.shaping.forgetDomains(now - DOMAIN_MEMORY_MS, FORGET_PORTION);
  }

  /** An operator has paused something. */
  paused(group: string | null): void {
    if (group !== null) this.#listener?.onBlocked(group);
  }

  /** An operator has ended pauses, and suspensions that receivers called for. */
  released(lifted: readonly Suspension[], group: string | null): void {
    for (const suspension of lifted) this.memory.lift(suspension);
    if (group !== null) this.#remember(group, healthy(this.memory.limitsOf(group).connections));
    this.#listener?.onReleased();
  }

  #adapt(group: string, sign: Sign, open: number): void {
    const { clock, random, log, retryStepsMs } = this.#kit;
    const { connections: ceiling, provider } = this.memory.limitsOf(group);
    const before = this.memory.group(group).concurrency;
    const tolerance = provider ? PROVIDER_TOLERANCE : 1;
    const now = clock.now();
    const after = adapt(before, sign, { now, random, ceiling, open, tolerance, retryStepsMs });
    if (after === before) return;
    const { limit, coolDownUntil, reason } = after;
    const isSameLimit = limit === before.limit && coolDownUntil === before.coolDownUntil;
    if (isSameLimit) {
      this.memory.group(group).concurrency = after;
      return;
    }
    this.#remember(group, after);
    if (coolDownUntil > now) {
      const facts = { group, until: toTimestamp(coolDownUntil), attempts: after.failures };
      log.info(facts, `cooling down: ${reason}`);
      this.#listener?.onBlocked(group);
    } else if (limit < before.limit) log.info({ group, connections: limit }, `fewer connections: ${reason}`);
    else if (limit > before.limit)
      log.info({ group, connections: limit }, 'more connections: deliveries succeed again');
    if (limit > before.limit || (before.coolDownUntil > 0 && coolDownUntil === 0)) this.#listener?.onRoom(group);
  }

  #remember(group: string, concurrency: GroupConcurrency): void {
    this.memory.group(group).concurrency = concurrency;
    const over = isHealthy(concurrency, this.memory.limitsOf(group).connections);
    const at = this.#kit.clock.now();
    this.#save({ groups: [{ mxGroup: group, concurrency: over ? null : concurrency, at }] });
  }

  #suspend(suspension: Suspension): void {
    const known = this.memory.suspension(suspension);
    if (!isNews(known, suspension)) return;
    // A second refusal never shortens the pause of the first one.
    const until = Math.max(suspension.until, known?.until ?? 0);
    // A refusal of mail that was still on the wire extends the same pause; it is not a repetition.
    const since = known && known.until > suspension.since ? known.since : suspension.since;
    const longer = { ...suspension, since, until };
    this.memory.suspend(longer);
    this.#save({ suspensions: [longer] });
    const { mxGroup, scope, rule } = suspension;
    const facts = { group: mxGroup, scope, rule, until: toTimestamp(until), response: suspension.reply };
    this.#kit.log.warn(facts, whatPauses(longer));
    if (scope === 'group' || scope === 'source') this.#listener?.onBlocked(mxGroup);
  }

  #keep(): void {
    this.#savePaces();
    void this.#kit.shared?.tidy();
  }

  #savePaces(): void {
    const paces = this.reservations.takeChanges();
    if (paces.length > 0) this.#save({ paces });
  }

  /** A change that can't be stored still applies until the next restart. */
  #save(changes: ShapingChanges): void {
    const work = this.#kit.store.shaping
      .saveShaping(changes, this.#kit.node)
      .catch((error: unknown) =>
        this.#kit.log.error({ error }, `the shaping state could not be stored: ${describeError(error)}`),
      )
      .finally(() => this.#saving.delete(work));
    this.#saving.add(work);
  }
}

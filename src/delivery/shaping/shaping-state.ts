// Shaping as it lives: answers who may go, learns from every outcome, keeps what must survive a
// restart in the store, and tells the scheduler when something was stopped or let go.

import { BoundedMap } from '../../base/bounded-map.ts';
import type { Clock } from '../../base/clock.ts';
import { DAY_MS, SECOND_MS, toTimestamp } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { ClaimedMessage } from '../../store/queue.ts';
import type { GroupConcurrency, ShapingChanges, Suspension, SuspensionScope } from '../../store/shaping.ts';
import type { Store, StoreVerbs } from '../../store/store.ts';
import type { Judgement } from '../outcome/judge.ts';
import { adapt, isUntroubled, type Sign, untroubled } from './adaptive-limit.ts';
import type { Providers } from './provider-limits.ts';
import { Reservations } from './reservations.ts';
import { decideShaping, type ShapingVerdict, whatPauses } from './shaping.ts';
import { type GroupLimits, type ShapingLimits, ShapingMemory, type ShapingQuestion } from './shaping-memory.ts';
import { type OtherConnections, readSigns, suspensionTarget } from './shaping-signs.ts';

export interface ShapingKit {
  store: Pick<Store, 'shaping'> & StoreVerbs<{ tenants: 'getTenant' }>;
  clock: Clock;
  random: () => number;
  log: Logger;
  providers: Providers;
  limits: ShapingLimits;
  /** The pauses of single messages: no group cools down for longer. */
  retryStepsMs: readonly number[];
}

/** Whoever opens sessions. */
export interface ShapingListener {
  /** Nothing more to this group for now. */
  onBlocked(group: string): void;
  /** The group bears more again. */
  onRoom(group: string): void;
  /** Something that held mail back is over; only people do that. */
  onReleased(): void;
}

/** One outcome, and whom it was about. */
export interface ShapingOutcome {
  group: string;
  message: Pick<ClaimedMessage, 'id' | 'tenantId' | 'fromDomain' | 'sourceAddress'>;
  recipientDomain: string;
  judgement: Judgement;
  /** Connections to the group that are open or being opened, this one included. */
  open: number;
  others: Omit<OtherConnections, 'open'>;
}

/** Refusals that come in a flock say one thing. */
const SAME_REPLY_MS = 10 * SECOND_MS;
// One of a provider's many customers may have a server that is gone; three in a row are the provider.
const PROVIDER_TOLERANCE = 3;
const SAVE_PACES_EVERY_MS = 5 * SECOND_MS;
/** Domains that nobody has written to for so long are looked up anew when somebody does. */
const DOMAIN_MEMORY_MS = 30 * DAY_MS;
/** So that a domain that is written to is never forgotten. */
const NOTED_AGAIN_AFTER_MS = DAY_MS;
const FORGET_PORTION = 500;
const SCOPES: readonly SuspensionScope[] = ['group', 'source', 'sender_domain', 'domain'];
const MAX_NOTED_DOMAINS = 20_000;

/*
 * Facts live in ShapingMemory, what is left of the limits per minute and hour in Reservations, the decision is the pure
 * function in shaping.ts; this class keeps them together. Three things change the facts: outcomes of attempts (`learn`:
 * connection limit, pauses, what was sent), operators (`paused`, `released`), and time. A change holds at once and is
 * stored right after, so that a restart forgets a moment at most; what was sent within the hour follows every five
 * seconds. The scheduler is told three things: `onBlocked`, a group must stop now; `onRoom`, a group may have more
 * connections again; `onReleased`, an operator ended something, so everything that is kept back asks again. Nobody is told
 * of a pause's end: whoever waits for it knows the time.
 */
export class Shaping {
  readonly memory: ShapingMemory;
  readonly reservations: Reservations;
  readonly #kit: ShapingKit;
  #listener: ShapingListener | null = null;
  readonly #notedDomains = new BoundedMap<string, { mxGroup: string; at: number }>(MAX_NOTED_DOMAINS);
  readonly #saving = new Set<Promise<void>>();
  #saver: NodeJS.Timeout | null = null;

  static async open(kit: ShapingKit): Promise<Shaping> {
    return new Shaping(
      kit,
      new ShapingMemory(kit.limits, kit.providers, await kit.store.shaping.loadShaping(kit.clock.now())),
    );
  }

  private constructor(kit: ShapingKit, memory: ShapingMemory) {
    this.#kit = kit;
    this.memory = memory;
    this.reservations = new Reservations(memory, kit.clock);
  }

  start(listener: ShapingListener): void {
    this.#listener = listener;
    this.#saver = setInterval(() => this.#savePaces(), SAVE_PACES_EVERY_MS);
  }

  /** What is to be kept is in the store when it settles. */
  async stop(): Promise<void> {
    if (this.#saver) clearInterval(this.#saver);
    this.#listener = null;
    this.#savePaces();
    await Promise.all(this.#saving);
  }

  verdict(question: ShapingQuestion): ShapingVerdict {
    const now = this.#kit.clock.now();
    return decideShaping(this.memory.facts(question, now), now);
  }

  limitsOf(group: string): GroupLimits {
    return this.memory.limitsOf(group);
  }

  /** Whether mail has gone there, something is remembered of it, or limits are shipped for it. */
  async isKnownGroup(group: string): Promise<boolean> {
    return this.limitsOf(group).provider !== null || (await this.#kit.store.shaping.isKnownGroup(group));
  }

  /** When mail that is due at `dueAt` can go, by what keeps it back now; null: nobody knows. */
  earliestAttempt(question: ShapingQuestion, dueAt: number): number | null {
    const { decision, until } = this.verdict(question);
    if (decision === 'go') return dueAt;
    return until === null ? null : Math.max(until, dueAt);
  }

  /** What shaping must know of a tenant before it can answer. */
  async learnTenant(tenantId: string): Promise<void> {
    const now = this.#kit.clock.now();
    if (this.memory.knowsTenant(tenantId, now)) return;
    const tenant = await this.#kit.store.tenants.getTenant(tenantId);
    if (tenant) this.memory.learnTenant(tenantId, tenant, now);
  }

  /** A tenant has been changed, whichever. */
  tenantsChanged(): void {
    this.memory.distrustTenants();
    this.#listener?.onReleased();
  }

  /** False: the message was not tried, since its connection was one too many; it is to be given back. */
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
    if (sign && sign.kind !== 'closed') known.answeredAt = now;
    if (sign?.kind === 'delivered') known.deliveredAt = now;
    if (sign) this.#adapt(group, sign, open);
    if (suspension) this.#suspend(suspension);
    if (sign?.kind === 'delivered') {
      const targets = () => SCOPES.map((scope) => suspensionTarget(scope, about));
      this.memory.shortenPauses(targets, now);
    }
    if (!surplus) this.reservations.tried(message.id);
    return !surplus;
  }

  /** A connection was opened; with it, so many are. */
  connected(group: string, working: number): void {
    this.#adapt(group, { kind: 'connected', working }, working);
  }

  /** Whether mail of this sender domain makes a pause towards the group, and until when. */
  senderSuspension(group: string, tenantId: string, senderDomain: string): Suspension | null {
    const found = this.memory.suspension({ mxGroup: group, scope: 'sender_domain', tenantId, subject: senderDomain });
    return found && found.until > this.#kit.clock.now() ? found : null;
  }

  /** Whether one of our addresses (null: the default one) makes a pause towards the group. */
  sourceSuspension(group: string, sourceAddress: string | null): Suspension | null {
    const of = { mxGroup: group, scope: 'source' as const, tenantId: null, subject: sourceAddress ?? '' };
    const found = this.memory.suspension(of);
    return found && found.until > this.#kit.clock.now() ? found : null;
  }

  /** Remembered for operators who ask by group. */
  noteDomain(domain: string, mxGroup: string): void {
    const at = this.#kit.clock.now();
    const known = this.#notedDomains.get(domain);
    if (known?.mxGroup === mxGroup && at - known.at < NOTED_AGAIN_AFTER_MS) return;
    this.#notedDomains.set(domain, { mxGroup, at });
    this.#save({ domains: [{ domain, mxGroup, at }] });
  }

  /** Forgets what says nothing any more; now and then. */
  async tidy(): Promise<void> {
    const now = this.#kit.clock.now();
    this.reservations.dropped(this.memory.tidy(now));
    await this.#kit.store.shaping.forgetDomains(now - DOMAIN_MEMORY_MS, FORGET_PORTION);
  }

  /** An operator has paused something. */
  paused(group: string | null): void {
    if (group !== null) this.#listener?.onBlocked(group);
  }

  /** An operator has ended something: pauses, and what receivers called for. */
  released(lifted: readonly Suspension[], group: string | null): void {
    for (const suspension of lifted) this.memory.lift(suspension);
    if (group !== null) this.#remember(group, untroubled(this.memory.limitsOf(group).connections));
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
    const sameToMe = limit === before.limit && coolDownUntil === before.coolDownUntil;
    if (sameToMe) {
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
    const over = isUntroubled(concurrency, this.memory.limitsOf(group).connections);
    const at = this.#kit.clock.now();
    this.#save({ groups: [{ mxGroup: group, concurrency: over ? null : concurrency, at }] });
  }

  #suspend(suspension: Suspension): void {
    const known = this.memory.suspension(suspension);
    const isNews = !known || known.until <= suspension.since || suspension.since - known.since >= SAME_REPLY_MS;
    if (!isNews) return;
    // A second complaint never shortens the pause that the first one called for.
    const until = Math.max(suspension.until, known?.until ?? 0);
    // What is still on the wire makes the same pause longer; it is no repetition.
    const since = known && known.until > suspension.since ? known.since : suspension.since;
    const longer = { ...suspension, since, until };
    this.memory.suspend(longer);
    this.#save({ suspensions: [longer] });
    const { mxGroup, scope, rule } = suspension;
    const facts = { group: mxGroup, scope, rule, until: toTimestamp(until), response: suspension.reply };
    this.#kit.log.warn(facts, whatPauses(longer));
    if (scope === 'group' || scope === 'source') this.#listener?.onBlocked(mxGroup);
  }

  #savePaces(): void {
    const paces = this.reservations.takeChanges();
    if (paces.length > 0) this.#save({ paces });
  }

  /** What cannot be stored still holds until the next restart. */
  #save(changes: ShapingChanges): void {
    const work = this.#kit.store.shaping
      .saveShaping(changes)
      .catch((error: unknown) =>
        this.#kit.log.error({ error }, `the shaping state could not be stored: ${describeError(error)}`),
      )
      .finally(() => this.#saving.delete(work));
    this.#saving.add(work);
  }
}

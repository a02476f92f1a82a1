// The facts for shaping, in memory: pauses, suspensions, each group's limits and what it was sent, and
// what paced tenants have sent. Collects facts; decides and stores nothing.
import { HOUR_MS, MINUTE_MS, toTimestamp } from '../../base/clock.ts';
import {
  GROUP_MEMORY_MS,
  type GroupConcurrency,
  type QueuePause,
  type QueueTarget,
  type ShapingChanges,
  type ShapingSnapshot,
  type Suspension,
  type SuspensionScope,
  type TenantPace,
} from '../../store/shaping.ts';
import type { Tier } from '../../store/tenants.ts';
import { type EarlierPause, isForgotten, shrunk } from '../outcome/suspension-length.ts';
import { healthy, isHealthy, isOutdated, permittedConnections } from './adaptive-limit.ts';
import { KnownTenants } from './known-tenants.ts';
import type { Provider, Providers } from './provider-limits.ts';
import { SendWindow, type SentWithin } from './send-window.ts';
import type { GroupFacts, ShapingFacts } from './shaping.ts';
import type { SuspensionTarget } from './shaping-signs.ts';
import type { SharedLimits } from './shared-limits.ts';

export interface GroupLimits {
  provider: Provider | null;
  connections: number;
  messagesPerConnection: number;
  messagesPerMinute: number | null;
  /** Whether the connections and the messages per minute are those of all daemons together. */
  perService: boolean;
}

export interface ShapingLimits {
  sessions: number;
  sessionsPerGroup: number;
  messagesPerSession: number;
  messagesPerMinute: number | null;
  messagesPerHour(tier: Tier): number | null;
}

/** The mail that shaping is asked about. */
export interface ShapingQuestion {
  tenantId: string;
  domain: string;
  group: { name: string; open: number } | null;
  message?: ShapingFacts['message'];
  senderDomain?: string;
  /** Null: the default address. */
  sourceAddress?: string | null;
  connections: ShapingFacts['connections'];
  /** No daemon is running. */
  stopped?: true;
}

export interface MemoryKit {
  limits: ShapingLimits;
  providers: Providers;
  /** Missing or null: there is one daemon. */
  shared?: SharedLimits | null;
}

export interface GroupMemory {
  concurrency: GroupConcurrency;
  window: SentWithin | null;
  /** When mail was last tried there. */
  triedAt: number;
  deliveredAt: number;
  /** The average time per message. */
  pace: { ms: number | null };
}

type ForgottenGroup = NonNullable<ShapingChanges['groups']>[number];

/** After this time a group's counts are empty. */
const IDLE_GROUP_MS = HOUR_MS;

export class ShapingMemory {
  readonly tenants = new KnownTenants();
  readonly #limits: ShapingLimits;
  readonly #providers: Providers;
  readonly #pauses = new Map<string, QueuePause>();
  readonly #suspensions = new Map<string, Suspension>();
  /** The last pauses' lengths, by which repeated pauses grow. */
  readonly #lengths = new Map<string, EarlierPause>();
  readonly #groups = new Map<string, GroupMemory>();
  readonly #paces = new Map<string, SentWithin>();
  readonly #shared: SharedLimits | null;

  constructor({ limits, providers, shared = null }: MemoryKit, snapshot: ShapingSnapshot) {
    this.#limits = limits;
    this.#providers = providers;
    this.#shared = shared;
    for (const pause of snapshot.pauses) this.setPause(pause, pause);
    for (const suspension of snapshot.suspensions) this.suspend(suspension);
    for (const { mxGroup, concurrency, at } of snapshot.groups) {
      const group = this.group(mxGroup);
      group.concurrency = withinCeiling(concurrency, this.limitsOf(mxGroup).connections);
      group.triedAt = at;
    }
    const paces = shared ? [] : snapshot.paces;
    for (const { tenantId, slots } of paces) this.#paces.set(tenantId, new SendWindow(HOUR_MS, slots));
  }

  /** What tenants have sent within the hour is counted in the store. */
  get sharesLimits(): boolean {
    return this.#shared !== null;
  }

  limitsOf(group: string): GroupLimits {
    const provider = this.#providers.byId(group);
    const { sessionsPerGroup, messagesPerSession, messagesPerMinute } = this.#limits;
    return {
      provider,
      connections: provider?.connections ?? sessionsPerGroup,
      messagesPerConnection: provider?.messagesPerConnection ?? messagesPerSession,
      messagesPerMinute: provider ? provider.messagesPerMinute : messagesPerMinute,
      perService: provider?.perService ?? false,
    };
  }

  facts(asked: ShapingQuestion, now: number): ShapingFacts {
    const { tenantId, domain, group, message, senderDomain, sourceAddress = null, connections } = asked;
    const suspended = (scope: SuspensionScope, subject: string, tenant: string | null = null) =>
      group ? this.suspension({ mxGroup: group.name, scope, subject, tenantId: tenant }) : null;
    return {
      running: asked.stopped !== true,
      message: message ?? null,
      tenant: this.#tenantFacts(tenantId, now),
      domain: { name: domain, pause: this.pause('domain', domain), suspension: suspended('domain', domain) },
      sender: senderDomain === undefined ? null : suspended('sender_domain', senderDomain, tenantId),
      group: group ? this.#groupFacts(group, now) : null,
      sourceAddress,
      source: suspended('source', sourceAddress ?? ''),
      connections,
    };
  }

  group(name: string): GroupMemory {
    const known = this.#groups.get(name);
    if (known) return known;
    const { connections, messagesPerMinute, perService } = this.limitsOf(name);
    const shared = perService ? this.#shared?.windows.ofGroup(name) : null;
    const window = messagesPerMinute === null ? null : (shared ?? new SendWindow(MINUTE_MS));
    const made = { concurrency: healthy(connections), window, triedAt: 0, deliveredAt: 0, pace: { ms: null } };
    this.#groups.set(name, made);
    return made;
  }

  /** What limits the group at the moment, as a sentence; null: nothing. */
  whyLimited(name: string, now: number): string | null {
    const { concurrency } = this.group(name);
    const { connections } = this.limitsOf(name);
    if (isHealthy(concurrency, connections)) return null;
    const { limit, coolDownUntil, reason } = concurrency;
    const cooling = coolDownUntil > now ? `, cooling down until ${toTimestamp(coolDownUntil)}` : '';
    return `${limit} of ${connections} connections${cooling}: ${reason}`;
  }

  groupNames(): string[] {
    return [...this.#groups.keys()];
  }

  pausedGroups(): string[] {
    return this.pauses()
      .filter(({ kind }) => kind === 'group')
      .map(({ key }) => key);
  }

  pause(kind: QueueTarget['kind'], key: string): QueuePause | null {
    return this.#pauses.get(`${kind} ${key}`) ?? null;
  }

  setPause({ kind, key }: QueueTarget, pause: QueuePause | null): void {
    if (kind === 'message') return; // the store keeps it from being found due
    if (pause) this.#pauses.set(`${kind} ${key}`, pause);
    else this.#pauses.delete(`${kind} ${key}`);
  }

  /** Of everything but single messages. */
  pauses(): QueuePause[] {
    return [...this.#pauses.values()];
  }

  suspension(of: SuspensionTarget): Suspension | null {
    return this.#suspensions.get(keyOf(of)) ?? null;
  }

  suspend(suspension: Suspension): void {
    const key = keyOf(suspension);
    const { since, until } = suspension;
    this.#suspensions.set(key, suspension);
    this.#lengths.set(key, { ms: until - since, until });
  }

  /** An operator ended it: the next pause starts short again. */
  lift(suspension: Suspension): void {
    this.#suspensions.delete(keyOf(suspension));
    this.#lengths.delete(keyOf(suspension));
  }

  earlierPause(of: SuspensionTarget): EarlierPause | null {
    return this.#lengths.get(keyOf(of)) ?? null;
  }

  /** Mail was delivered: a pause that is over was long enough. */
  shortenPauses(targets: () => SuspensionTarget[], now: number): void {
    if (this.#lengths.size === 0) return;
    for (const key of targets().map(keyOf)) {
      const earlier = this.#lengths.get(key);
      if (!earlier || earlier.until > now) continue;
      const shorter = shrunk(earlier);
      if (shorter) this.#lengths.set(key, shorter);
      else this.#lengths.delete(key);
    }
  }

  suspensionsNow(now: number): Suspension[] {
    return [...this.#suspensions.values()].filter(({ until }) => until > now);
  }

  /** Null: the tenant is not paced. */
  perHour(tenantId: string): number | null {
    const tier = this.tenants.get(tenantId)?.tier;
    return tier === undefined ? null : this.#limits.messagesPerHour(tier);
  }

  paceOf(tenantId: string): SentWithin {
    const known = this.#paces.get(tenantId);
    if (known) return known;
    const window = this.#shared?.windows.ofTenant(tenantId) ?? new SendWindow(HOUR_MS);
    this.#paces.set(tenantId, window);
    return window;
  }

  pacesToStore(tenantIds: Iterable<string>, now: number): TenantPace[] {
    return [...tenantIds].map((tenantId) => ({ tenantId, slots: this.#paces.get(tenantId)?.toSlots(now) ?? [] }));
  }

  /** Drops what is no longer relevant. Returns the tenants whose hour is empty, and groups whose stored state is old. */
  tidy(now: number, maxGroups: number): { tenants: string[]; groups: ForgottenGroup[] } {
    for (const [key, { until }] of this.#suspensions) if (until <= now) this.#suspensions.delete(key);
    for (const [key, earlier] of this.#lengths) if (isForgotten(earlier, now)) this.#lengths.delete(key);
    const groups: ForgottenGroup[] = [];
    for (const [name, group] of this.#groups) {
      const wasLimited = !isHealthy(group.concurrency, this.limitsOf(name).connections);
      const isKept = wasLimited
        ? !isOutdated(group.concurrency, group.triedAt, now)
        : now - group.triedAt <= IDLE_GROUP_MS;
      if (isKept || groups.length === maxGroups) continue;
      this.#groups.delete(name);
      if (wasLimited) groups.push({ mxGroup: name, concurrency: null, at: now - GROUP_MEMORY_MS });
    }
    const empty = [...this.#paces].filter(([, window]) => window.used(now) === 0).map(([tenantId]) => tenantId);
    for (const tenantId of empty) this.#paces.delete(tenantId);
    return { tenants: empty, groups };
  }

  #tenantFacts(tenantId: string, now: number): ShapingFacts['tenant'] {
    const { status = 'active', statusReason = null } = this.tenants.get(tenantId) ?? {};
    const perHour = this.perHour(tenantId);
    const pause = this.pause('tenant', tenantId);
    if (perHour === null) return { status, statusReason, pause, pace: null };
    const window = this.paceOf(tenantId);
    const pace = { perHour, sent: window.used(now), freeAt: window.freeAt(perHour, now) };
    return { status, statusReason, pause, pace };
  }

  /** How many connections to the group may be open here, of those that all daemons share; null: they are its own. */
  shareOf(name: string): number | null {
    return this.#shared && this.limitsOf(name).perService ? this.#shared.connections.most(name) : null;
  }

  /** Mail waits for one more connection than are open, or takes one of those that may be. */
  needConnection({ name, open }: { name: string; open: number }): void {
    const { connections: limit, perService } = this.limitsOf(name);
    const permitted = permittedConnections(this.group(name).concurrency);
    if (perService && open < permitted) this.#shared?.connections.need(name, { open, permitted, limit });
  }

  #groupFacts({ name, open }: { name: string; open: number }, now: number): GroupFacts {
    const { concurrency, window } = this.group(name);
    const { connections: ceiling, messagesPerMinute: limit } = this.limitsOf(name);
    const perMinute =
      window && limit !== null ? { limit, sent: window.used(now), freeAt: window.freeAt(limit, now) } : null;
    const suspension = this.suspension({ mxGroup: name, scope: 'group', subject: '', tenantId: null });
    const share = this.shareOf(name);
    return { name, pause: this.pause('group', name), suspension, concurrency, ceiling, open, share, perMinute };
  }
}

function keyOf({ mxGroup, scope, tenantId, subject }: SuspensionTarget): string {
  return `${mxGroup} ${scope} ${tenantId ?? ''} ${subject}`;
}

/** The configured limits may have changed since it was stored. */
function withinCeiling(concurrency: GroupConcurrency, ceiling: number): GroupConcurrency {
  return concurrency.limit <= ceiling ? concurrency : { ...concurrency, limit: ceiling };
}

// The queue of one MX group: deficit round robin between tenants, counted in messages, so that one tenant's
// hundred thousand messages don't delay another's single one, and a tenant with a thousand small lanes gets
// the same share as one with a single large lane.
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { SessionSource } from '../courier/messages.ts';
import type { Lane } from './lane.ts';

/** A lane in the queue, with the MX hosts of its mail, in order. */
export interface WaitingLane {
  lane: Lane;
  hosts: MailHost[];
  /** When the route is too old to send by. */
  staleAt: number;
  /** Our source address; null: the system picks. */
  source: SessionSource | null;
  /** Lanes with the same key can share a session. */
  hostsKey: string;
}

/** Where a session goes. */
export type SessionTarget = Omit<WaitingLane, 'lane'>;

interface Tenant {
  id: string;
  /** In order of arrival. */
  lanes: Set<WaitingLane>;
  byHosts: Map<string, Set<WaitingLane>>;
  /** Messages that the tenant may still send in this turn. */
  deficit: number;
}

// One batch of a session: less would cost more queries to the store than it gains in fairness.
const QUANTUM_MESSAGES = 50;

export class LaneRotation {
  /** In order of turn. */
  #order: Tenant[] = [];
  readonly #tenants = new Map<string, Tenant>();

  get empty(): boolean {
    return this.#order.length === 0;
  }

  get size(): number {
    let lanes = 0;
    for (const tenant of this.#order) lanes += tenant.lanes.size;
    return lanes;
  }

  add(waiting: WaitingLane): void {
    const { tenantId } = waiting.lane;
    let tenant = this.#tenants.get(tenantId);
    if (!tenant) {
      tenant = { id: tenantId, lanes: new Set(), byHosts: new Map(), deficit: 0 };
      this.#tenants.set(tenantId, tenant);
      this.#order.push(tenant);
    }
    tenant.lanes.add(waiting);
    const sharing = tenant.byHosts.get(waiting.hostsKey);
    if (sharing) sharing.add(waiting);
    else tenant.byHosts.set(waiting.hostsKey, new Set([waiting]));
  }

  /** The lane whose turn it is; it stays in the queue. */
  first(): WaitingLane | null {
    return this.#order[0]?.lanes.values().next().value ?? null;
  }

  /** Whether the tenant whose turn it is has mail for these hosts. */
  isTurnOf(hostsKey: string): boolean {
    return this.#order[0]?.byHosts.has(hostsKey) ?? false;
  }

  /** The next lane in turn for these hosts; it stays in the queue. */
  firstTo(hostsKey: string): WaitingLane | null {
    for (const { byHosts } of this.#order) {
      const sharing = byHosts.get(hostsKey);
      if (sharing) return sharing.values().next().value!;
    }
    return null;
  }

  /** Removes the lane from the queue. Returns how many of the wanted messages its tenant may send now. */
  take(waiting: WaitingLane, wanted: number): number {
    const tenant = this.#tenants.get(waiting.lane.tenantId)!;
    this.#leave(tenant, waiting);
    if (tenant.deficit <= 0) tenant.deficit += QUANTUM_MESSAGES;
    const granted = Math.min(wanted, tenant.deficit);
    tenant.deficit -= granted;
    if (tenant.lanes.size > 0 && tenant.deficit <= 0) this.#moveToEnd(tenant);
    return granted;
  }

  /** Returns unused messages of a grant: the tenant's turn is not over yet. */
  refund(tenantId: string, messages: number): void {
    const tenant = this.#tenants.get(tenantId);
    if (!tenant || messages <= 0) return;
    const wasOver = tenant.deficit <= 0;
    tenant.deficit = Math.min(tenant.deficit + messages, QUANTUM_MESSAGES);
    if (wasOver && this.#order[0] !== tenant) {
      this.#order = [tenant, ...this.#order.filter((other) => other !== tenant)];
    }
  }

  /** Removes the lane from the queue without counting a turn. */
  remove(waiting: WaitingLane): void {
    this.#leave(this.#tenants.get(waiting.lane.tenantId)!, waiting);
  }

  #leave(tenant: Tenant, waiting: WaitingLane): void {
    tenant.lanes.delete(waiting);
    const sharing = tenant.byHosts.get(waiting.hostsKey)!;
    sharing.delete(waiting);
    if (sharing.size === 0) tenant.byHosts.delete(waiting.hostsKey);
    if (tenant.lanes.size > 0) return;
    // A tenant without waiting lanes keeps no deficit.
    this.#tenants.delete(tenant.id);
    this.#order.splice(this.#order.indexOf(tenant), 1);
  }

  #moveToEnd(tenant: Tenant): void {
    this.#order.splice(this.#order.indexOf(tenant), 1);
    this.#order.push(tenant);
  }
}

/** Equal for all domains whose mail goes to the same hosts in the same order. */
export function hostsKeyOf(hosts: readonly MailHost[]): string {
  const byPreference = Map.groupBy(hosts, ({ preference }) => preference);
  return [...byPreference]
    .sort(([a], [b]) => a - b)
    .map(([, equals]) =>
      equals
        .map(({ name }) => name)
        .sort()
        .join(','),
    )
    .join(' ');
}

/** RFC 5321 section 5.1: hosts of equal preference in random order, shuffled again for each session. */
export function shuffleEquals(hosts: MailHost[], random: () => number): MailHost[] {
  return hosts
    .map((host) => ({ host, order: random() }))
    .sort((a, b) => a.host.preference - b.host.preference || a.order - b.order)
    .map(({ host }) => host);
}

// The line in front of one MX group: deficit round robin between tenants, counted in messages, so
// that nobody's hundred thousand messages stand before somebody else's one, and a tenant with a
// thousand small lanes gets as much as one with a single large lane.
import type { MailHost } from '../../protocol/dns/mail-route.ts';
import type { SessionSource } from '../courier/messages.ts';
import type { Lane } from './lane.ts';

/** A lane in the line, with the MX hosts that its own mail goes to, in their order. */
export interface WaitingLane {
  lane: Lane;
  hosts: MailHost[];
  /** From which of our addresses; null: the system picks. */
  source: SessionSource | null;
  /** Lanes with the same key can share a session. */
  hostsKey: string;
}

interface Tenant {
  id: string;
  /** In the order of their arrival. */
  lanes: Set<WaitingLane>;
  byHosts: Map<string, Set<WaitingLane>>;
  /** Messages that the tenant may still have in this turn. */
  deficit: number;
}

// One batch of a session: less would cost more questions to the store than it wins in fairness.
const QUANTUM_MESSAGES = 50;

export class LaneRotation {
  /** In the order of their turns. */
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

  add(standing: WaitingLane): void {
    const { tenantId } = standing.lane;
    let tenant = this.#tenants.get(tenantId);
    if (!tenant) {
      tenant = { id: tenantId, lanes: new Set(), byHosts: new Map(), deficit: 0 };
      this.#tenants.set(tenantId, tenant);
      this.#order.push(tenant);
    }
    tenant.lanes.add(standing);
    const sharing = tenant.byHosts.get(standing.hostsKey);
    if (sharing) sharing.add(standing);
    else tenant.byHosts.set(standing.hostsKey, new Set([standing]));
  }

  /** Whose turn it is; it stays in the line. */
  first(): WaitingLane | null {
    return this.#order[0]?.lanes.values().next().value ?? null;
  }

  /** Whether the tenant whose turn it is has something for these hosts. */
  isTurnOf(hostsKey: string): boolean {
    return this.#order[0]?.byHosts.has(hostsKey) ?? false;
  }

  /** The next one in turn that goes to these hosts; it stays in the line. */
  firstTo(hostsKey: string): WaitingLane | null {
    for (const { byHosts } of this.#order) {
      const sharing = byHosts.get(hostsKey);
      if (sharing) return sharing.values().next().value!;
    }
    return null;
  }

  /** Takes it out of the line. Returns how many of the wanted messages its tenant may have now. */
  take(standing: WaitingLane, wanted: number): number {
    const tenant = this.#tenants.get(standing.lane.tenantId)!;
    this.#leave(tenant, standing);
    if (tenant.deficit <= 0) tenant.deficit += QUANTUM_MESSAGES;
    const granted = Math.min(wanted, tenant.deficit);
    tenant.deficit -= granted;
    if (tenant.lanes.size > 0 && tenant.deficit <= 0) this.#moveBehind(tenant);
    return granted;
  }

  /** What was granted and not used: the tenant's turn is not over yet. */
  refund(tenantId: string, messages: number): void {
    const tenant = this.#tenants.get(tenantId);
    if (!tenant || messages <= 0) return;
    const wasOver = tenant.deficit <= 0;
    tenant.deficit = Math.min(tenant.deficit + messages, QUANTUM_MESSAGES);
    if (wasOver && this.#order[0] !== tenant) {
      this.#order = [tenant, ...this.#order.filter((other) => other !== tenant)];
    }
  }

  /** Takes it out of the line, without a turn. */
  remove(standing: WaitingLane): void {
    this.#leave(this.#tenants.get(standing.lane.tenantId)!, standing);
  }

  #leave(tenant: Tenant, standing: WaitingLane): void {
    tenant.lanes.delete(standing);
    const sharing = tenant.byHosts.get(standing.hostsKey)!;
    sharing.delete(standing);
    if (sharing.size === 0) tenant.byHosts.delete(standing.hostsKey);
    if (tenant.lanes.size > 0) return;
    // Who has nothing in the line saves nothing up.
    this.#tenants.delete(tenant.id);
    this.#order.splice(this.#order.indexOf(tenant), 1);
  }

  #moveBehind(tenant: Tenant): void {
    this.#order.splice(this.#order.indexOf(tenant), 1);
    this.#order.push(tenant);
  }
}

/** The same for all domains whose mail goes to the same hosts in the same order. */
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

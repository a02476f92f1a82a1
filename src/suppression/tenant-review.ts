// Stops a tenant for review when its last messages bounced hard or drew complaints too often, before other
// tenants suffer from the damage to the service's reputation. Judged shortly after each bounce or complaint,
// and never twice by the same messages.

import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, toTimestamp } from '../base/clock.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';
import { type BrakeState, brakeOf, type ReviewLimits } from './brake.ts';

export interface TenantReviewKit {
  store: StoreVerbs<{
    reputation: 'resultsSinceReview' | 'stopForReview' | 'reviewOf';
    tenants: 'listTenants' | 'getTenant';
  }>;
  clock: Clock;
  log: Logger;
  limits: ReviewLimits;
  /** The service's own tenant, once it exists: never stopped, because password resets and notices are its mail. */
  ownTenant(): Promise<string | null>;
  /** The service's own mail is in trouble that would suspend another tenant. Like the next two, it is called again if it fails. */
  onOwnTrouble(reason: string): void | Promise<void>;
  /** The tenant is half way to a review; called at most once a day. */
  onWarned(tenant: { id: string; name: string }, state: BrakeState): void | Promise<void>;
  /** Called again for the same stop after a restart, and by other nodes: it tells people once. */
  onStopped(tenant: { id: string; name: string }, stop: Stop): void | Promise<void>;
}

export interface Stop {
  at: number;
  reason: string;
  /** In words, how far beyond the limits the tenant was; null: only the node that stopped it knows. */
  distance: string | null;
  /** The day of the last warning; null: there was none, or only another node knows. */
  warnedOn: string | null;
}

/** Until then the node that stopped a tenant has told people of it, and it has more to tell. */
const LEFT_UNTOLD_AFTER_MS = MINUTE_MS;
/** Idempotency keys of notices live at least as long: what was told is not told again. */
const TOLD_WITHIN_MS = DAY_MS;

/**
 * Owners are warned from half of the way to a review on, and there is no grace period between warning and stop:
 * bounces and complaints are known minutes to hours after the mail was sent, and time for a person to react is time
 * for a whole campaign. A tenant that passes both marks between two reviews is stopped at once; the notice of the
 * stop then says what the warning would have said.
 */
export class TenantReviews {
  readonly #kit: TenantReviewKit;
  /** Tenants to judge; null: none was judged since the start, so all are. */
  #toJudge: Set<string> | null = null;
  /** When each tenant's owners were notified, so that they get one notice per stop. */
  readonly #notifiedAt = new Map<string, number>();
  readonly #warnedOn = new Map<string, string>();
  /** The day of the last warning about the service's own mail. */
  #ownWarnedOn: string | null = null;

  constructor(kit: TenantReviewKit) {
    this.#kit = kit;
  }

  /** A message of this tenant bounced hard or drew a complaint. */
  note(tenantId: string): void {
    this.#toJudge?.add(tenantId);
  }

  /** Judges all noted tenants; returns how many were stopped. */
  async check(): Promise<number> {
    const { store } = this.#kit;
    this.#toJudge ??= new Set((await store.tenants.listTenants()).map(({ id }) => id));
    const noted = this.#toJudge;
    let stopped = 0;
    for (const id of [...noted]) {
      // Before it is judged, so that what it is noted for meanwhile is judged next time.
      noted.delete(id);
      try {
        if (await this.#judge(id)) stopped++;
      } catch (error) {
        noted.add(id);
        throw error;
      }
    }
    return stopped;
  }

  /**
   * A stop is committed before people are told of it, and a fault or a crash may come between: this tells of the stops of all
   * nodes, once more where this node can't know better. Returns how many it has told of.
   */
  async finishNotices(): Promise<number> {
    const { store, clock } = this.#kit;
    let told = 0;
    for (const tenant of await store.tenants.listTenants()) {
      // The others wait for their first approval.
      if (tenant.status !== 'in_review' || tenant.statusReason === null) continue;
      const stop = await store.reputation.reviewOf(tenant.id);
      if (!stop || stop.reason !== tenant.statusReason || stop.at === this.#notifiedAt.get(tenant.id)) continue;
      const age = clock.now() - stop.at;
      if (age < LEFT_UNTOLD_AFTER_MS || age >= TOLD_WITHIN_MS) continue;
      await this.#tell(tenant, { ...stop, distance: null, warnedOn: null });
      told++;
    }
    return told;
  }

  /** The trouble with the service's own mail that would suspend another tenant; null: none. */
  async ownTrouble(): Promise<string | null> {
    const { store, limits, ownTenant } = this.#kit;
    const id = await ownTenant();
    if (id === null) return null;
    const { decision, reason } = brakeOf(await store.reputation.resultsSinceReview(id, limits.window), limits);
    return decision === 'review' ? reason : null;
  }

  async #warnOfServiceMail(): Promise<false> {
    const { clock, log, onOwnTrouble } = this.#kit;
    const reason = await this.ownTrouble();
    const today = dayOf(clock.now());
    if (reason === null || today === this.#ownWarnedOn) return false;
    await onOwnTrouble(reason);
    this.#ownWarnedOn = today;
    log.warn({ fact: 'service_mail_in_trouble', reason }, `the service's own mail: ${reason}; it is not suspended`);
    return false;
  }

  async #warn(tenant: { id: string; name: string }, state: BrakeState): Promise<false> {
    const { clock, log, onWarned } = this.#kit;
    const today = dayOf(clock.now());
    if (this.#warnedOn.get(tenant.id) === today) return false;
    await onWarned(tenant, state);
    this.#warnedOn.set(tenant.id, today);
    const { reason, distance } = state;
    log.warn({ fact: 'tenant_near_review', tenant_id: tenant.id, name: tenant.name, reason }, distance);
    return false;
  }

  async #judge(tenantId: string): Promise<boolean> {
    const { store, clock, log, limits, ownTenant } = this.#kit;
    if (tenantId === (await ownTenant())) return this.#warnOfServiceMail();
    const tenant = await store.tenants.getTenant(tenantId);
    if (tenant?.status !== 'active') return false;
    const state = brakeOf(await store.reputation.resultsSinceReview(tenantId, limits.window), limits);
    if (state.decision === 'go_on') return false;
    if (state.decision === 'warn') return this.#warn(tenant, state);
    const { reason, distance } = state;
    const at = clock.now();
    if (!(await store.reputation.stopForReview(tenantId, { at, reason }))) return false;
    log.warn({ fact: 'tenant_stopped', tenant_id: tenantId, name: tenant.name, reason }, `tenant in review: ${reason}`);
    await this.#tell(tenant, { at, reason, distance, warnedOn: this.#warnedOn.get(tenantId) ?? null });
    return true;
  }

  async #tell(tenant: { id: string; name: string }, stop: Stop): Promise<void> {
    const last = this.#notifiedAt.get(tenant.id);
    if (last === undefined || stop.at - last > HOUR_MS) await this.#kit.onStopped(tenant, stop);
    this.#notifiedAt.set(tenant.id, stop.at);
  }
}

/** UTC, such as `2026-01-31`. */
function dayOf(at: number): string {
  return toTimestamp(at).slice(0, 10);
}

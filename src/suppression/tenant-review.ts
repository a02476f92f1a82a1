// The brake: a tenant whose last messages bounced hard or drew complaints too often is stopped for
// review, before the others pay for it with the service's reputation. Judged shortly after each sign
// of trouble, never again by messages that it was stopped for once.

import { type Clock, HOUR_MS, toTimestamp } from '../base/clock.ts';
import type { Logger } from '../observe/log.ts';
import type { StoreVerbs } from '../store/store.ts';
import { type BrakeState, brakeOf, type ReviewLimits } from './brake.ts';

export interface TenantReviewKit {
  store: StoreVerbs<{ reputation: 'resultsSinceReview' | 'stopForReview'; tenants: 'listTenants' | 'getTenant' }>;
  clock: Clock;
  log: Logger;
  limits: ReviewLimits;
  /** The service's own tenant, once it has one: never stopped, since resets and notices are sent from it. */
  ownTenant(): Promise<string | null>;
  /** Another tenant would be stopped for this. */
  onOwnTrouble(reason: string): void;
  /** It is half way to a review; at most once a day. */
  onWarned(tenant: { id: string; name: string }, state: BrakeState): void | Promise<void>;
  /** For mail to owners and operator. `warnedOn` is the day of the last warning; null: there was none. */
  onStopped(tenant: { id: string; name: string }, state: BrakeState, warnedOn: string | null): void | Promise<void>;
}

/**
 * People are warned from half of the way to a review on, and there is no grace between warning and stop: what counts
 * is known minutes to hours after the mail went out, and a pause in which a person could act is long enough for a
 * whole campaign. A tenant that passes both marks between two judgements is stopped at once; the notice of the stop
 * then says what the warning would have said.
 */
export class TenantReviews {
  readonly #kit: TenantReviewKit;
  /** Null: nobody has looked since the start, so all are looked at. */
  #troubled: Set<string> | null = null;
  /** Who was told last, so that nobody is told twice for one stop. */
  readonly #told = new Map<string, number>();
  readonly #warnedOn = new Map<string, string>();
  /** The day on which the log was last told of the service's own mail. */
  #ownToldOn: string | null = null;

  constructor(kit: TenantReviewKit) {
    this.#kit = kit;
  }

  /** A message of this tenant has bounced hard or drawn a complaint. */
  note(tenantId: string): void {
    this.#troubled?.add(tenantId);
  }

  /** How many were stopped. */
  async check(): Promise<number> {
    const { store } = this.#kit;
    const ids = this.#troubled === null ? (await store.tenants.listTenants()).map(({ id }) => id) : [...this.#troubled];
    this.#troubled = new Set();
    let stopped = 0;
    for (const id of ids) if (await this.#judge(id)) stopped++;
    return stopped;
  }

  /** What another tenant would be stopped for, of the service's own mail; null: nothing. */
  async ownTrouble(): Promise<string | null> {
    const { store, limits, ownTenant } = this.#kit;
    const id = await ownTenant();
    if (id === null) return null;
    const { decision, reason } = brakeOf(await store.reputation.resultsSinceReview(id, limits.window), limits);
    return decision === 'review' ? reason : null;
  }

  async #tellOfOwn(): Promise<false> {
    const { clock, log, onOwnTrouble } = this.#kit;
    const reason = await this.ownTrouble();
    const today = dayOf(clock.now());
    if (reason === null || today === this.#ownToldOn) return false;
    this.#ownToldOn = today;
    log.warn({ fact: 'service_mail_in_trouble', reason }, `the service's own mail: ${reason}; it is not suspended`);
    onOwnTrouble(reason);
    return false;
  }

  async #warn(tenant: { id: string; name: string }, state: BrakeState): Promise<false> {
    const { clock, log, onWarned } = this.#kit;
    const today = dayOf(clock.now());
    if (this.#warnedOn.get(tenant.id) === today) return false;
    this.#warnedOn.set(tenant.id, today);
    const { reason, distance } = state;
    log.warn({ fact: 'tenant_near_review', tenant_id: tenant.id, name: tenant.name, reason }, distance);
    await onWarned(tenant, state);
    return false;
  }

  async #judge(tenantId: string): Promise<boolean> {
    const { store, clock, log, limits, ownTenant, onStopped } = this.#kit;
    if (tenantId === (await ownTenant())) return this.#tellOfOwn();
    const tenant = await store.tenants.getTenant(tenantId);
    if (tenant?.status !== 'active') return false;
    const state = brakeOf(await store.reputation.resultsSinceReview(tenantId, limits.window), limits);
    if (state.decision === 'go_on') return false;
    if (state.decision === 'warn') return this.#warn(tenant, state);
    const { reason } = state;
    const at = clock.now();
    if (!(await store.reputation.stopForReview(tenantId, { at, reason }))) return false;
    log.warn({ fact: 'tenant_stopped', tenant_id: tenantId, name: tenant.name, reason }, `tenant in review: ${reason}`);
    const last = this.#told.get(tenantId);
    if (last === undefined || at - last > HOUR_MS) await onStopped(tenant, state, this.#warnedOn.get(tenantId) ?? null);
    this.#told.set(tenantId, at);
    return true;
  }
}

/** UTC, such as `2026-01-31`. */
function dayOf(at: number): string {
  return toTimestamp(at).slice(0, 10);
}

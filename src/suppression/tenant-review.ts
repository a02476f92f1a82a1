// The brake: a tenant whose last messages bounced hard or drew complaints too often is stopped for
// review, before the others pay for it with the service's reputation. Judged shortly after each sign
// of trouble, never again by messages that it was stopped for once.
import { type Clock, HOUR_MS, toTimestamp } from '../base/clock.ts';
import { counted } from '../base/counted.ts';
import type { Logger } from '../observe/log.ts';
import type { ReputationStore } from '../store/reputation.ts';
import type { Standing, TenantStore } from '../store/tenants.ts';

export interface ReviewLimits {
  hardBounceRate: number;
  complaintRate: number;
  /** Over how many of its last messages a tenant is judged. */
  window: number;
}

export interface ReviewDecision {
  decision: 'go_on' | 'review';
  /** Counts and limit, for the tenant as well as for the operator. */
  reason: string;
}

// One complaint after twenty messages says little: fewer messages are judged as if they were a
// quarter of the window, which asks for 26 hard bounces or 2 complaints with the default figures.
const SMALLEST_SHARE_OF_WINDOW = 0.25;

export function decideReview(standing: Standing, limits: ReviewLimits): ReviewDecision {
  const { messages, hardBounces, complaints } = standing;
  const base = Math.max(messages, limits.window * SMALLEST_SHARE_OF_WINDOW);
  const ofSome = base > messages ? ` of at least ${base} messages` : '';
  const limit = (share: number) => `(limit ${Math.round(share * 10_000) / 100} %${ofSome})`;
  const bounced = `${hardBounces} of the last ${messages} messages bounced hard ${limit(limits.hardBounceRate)}`;
  const complained = `${counted(complaints, 'complaint')} in the last ${messages} messages ${limit(limits.complaintRate)}`;
  if (hardBounces > limits.hardBounceRate * base) return { decision: 'review', reason: bounced };
  if (complaints > limits.complaintRate * base) return { decision: 'review', reason: complained };
  return { decision: 'go_on', reason: `${bounced}, ${complained}` };
}

export interface TenantReviewKit {
  store: Pick<ReputationStore, 'standingSinceReview' | 'stopForReview'> &
    Pick<TenantStore, 'listTenants' | 'getTenant'>;
  clock: Clock;
  log: Logger;
  limits: ReviewLimits;
  /** The service's own tenant, once it has one: never stopped, since resets and notices are sent from it. */
  ownTenant(): Promise<string | null>;
  /** Another tenant would be stopped for this. */
  onOwnTrouble(reason: string): void;
  /** For mail to owners and operator. */
  onStopped(tenant: { id: string; name: string }, reason: string): void | Promise<void>;
}

export class TenantReviews {
  readonly #kit: TenantReviewKit;
  /** Null: nobody has looked since the start, so all are looked at. */
  #troubled: Set<string> | null = null;
  /** Who was told last, so that nobody is told twice for one stop. */
  readonly #told = new Map<string, number>();
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
    const ids = this.#troubled === null ? (await store.listTenants()).map(({ id }) => id) : [...this.#troubled];
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
    const { decision, reason } = decideReview(await store.standingSinceReview(id, limits.window), limits);
    return decision === 'review' ? reason : null;
  }

  async #tellOfOwn(): Promise<false> {
    const { clock, log, onOwnTrouble } = this.#kit;
    const reason = await this.ownTrouble();
    const today = dayOf(clock.now());
    if (reason === null || today === this.#ownToldOn) return false;
    this.#ownToldOn = today;
    log.warn({ fact: 'service_mail_in_trouble', reason }, `mail of the service itself: ${reason}; it is not stopped`);
    onOwnTrouble(reason);
    return false;
  }

  async #judge(tenantId: string): Promise<boolean> {
    const { store, clock, log, limits, ownTenant, onStopped } = this.#kit;
    if (tenantId === (await ownTenant())) return this.#tellOfOwn();
    const tenant = await store.getTenant(tenantId);
    if (tenant?.status !== 'active') return false;
    const { decision, reason } = decideReview(await store.standingSinceReview(tenantId, limits.window), limits);
    if (decision === 'go_on') return false;
    const at = clock.now();
    if (!(await store.stopForReview(tenantId, { at, reason }))) return false;
    log.warn({ fact: 'tenant_stopped', tenant_id: tenantId, name: tenant.name, reason }, `tenant in review: ${reason}`);
    const last = this.#told.get(tenantId);
    if (last === undefined || at - last > HOUR_MS) await onStopped(tenant, reason);
    this.#told.set(tenantId, at);
    return true;
  }
}

/** UTC, such as `2026-01-31`. */
function dayOf(at: number): string {
  return toTimestamp(at).slice(0, 10);
}

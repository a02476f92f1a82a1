// Which tenants are known to render quickly. One thread is reserved for them: tenants that are unknown or were slow
// lately share the others, so that slow templates, of however many tenants, only delay each other. A slow job uses up
// credit, which refills over time: one slow job, such as a thread's first, does not cost a tenant its trust, a template
// that is always slow does.
import { BoundedMap } from '../base/bounded-map.ts';
import { type Clock, MINUTE_MS, steadyClock } from '../base/clock.ts';
import { fullAfter, type TokenBucket, tokensLeft } from '../base/token-bucket.ts';

/** Of the processor: what a job may use without using credit; an ordinary mail uses about 1 ms. */
const FREE_MS = 150;
/** Tokens are milliseconds: a tenant is trusted while any is left, and one is refilled every 50 ms. */
const CREDIT: TokenBucket = { capacity: 500, refillMs: 50 };
const NO_CREDIT_MS = CREDIT.capacity * CREDIT.refillMs;
/** No tenant loses trust for longer than a minute. */
const MAX_FULL_AFTER_MS = NO_CREDIT_MS + MINUTE_MS;
/** About 100 bytes each; the tenant that has not rendered for longest is forgotten, and unknown again. */
const MAX_TENANTS = 10_000;

export class RenderTrust {
  readonly #clock: Clock;
  /** By tenant, when the credit is full again. */
  readonly #fullAt = new BoundedMap<string, number>(MAX_TENANTS);

  constructor(clock: Clock) {
    this.#clock = steadyClock(clock);
  }

  isTrusted(tenantId: string): boolean {
    const fullAt = this.#fullAt.get(tenantId);
    return fullAt !== undefined && tokensLeft(CREDIT, fullAt, this.#clock.now()) > 0;
  }

  /** A job has used so much of the processor; of one that was killed, its whole time counts. */
  note(tenantId: string, usedMs: number): void {
    const now = this.#clock.now();
    const excessMs = Math.max(0, usedMs - FREE_MS);
    // The first quick job of an unknown tenant makes it known and trusted.
    const unknown = excessMs > 0 ? now + NO_CREDIT_MS : now;
    const fullAt = fullAfter(CREDIT, this.#fullAt.get(tenantId) ?? unknown, now, excessMs);
    this.#fullAt.set(tenantId, Math.min(fullAt, now + MAX_FULL_AFTER_MS));
  }
}

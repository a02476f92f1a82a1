// What shaping knows about tenants: whether their mail is sent, and their tier.
import { BoundedMap } from '../../base/bounded-map.ts';
import { MINUTE_MS } from '../../base/clock.ts';
import type { Tenant } from '../../store/tenants.ts';

export type TenantMemory = Pick<Tenant, 'status' | 'statusReason' | 'tier'>;

// How late a change may be noticed that sends no notification (the tier that rises automatically).
const READ_AGAIN_AFTER_MS = MINUTE_MS;
const MAX_TENANTS = 20_000;

export class KnownTenants {
  readonly #tenants = new BoundedMap<string, TenantMemory & { readAt: number }>(MAX_TENANTS);

  get(id: string): TenantMemory | undefined {
    return this.#tenants.get(id);
  }

  isFresh(id: string, now: number): boolean {
    const known = this.#tenants.get(id);
    return known !== undefined && now - known.readAt < READ_AGAIN_AFTER_MS;
  }

  learn(id: string, { status, statusReason, tier }: TenantMemory, readAt: number): void {
    this.#tenants.set(id, { status, statusReason, tier, readAt });
  }

  /**
   * They are read again before the next question about them. Until then the old answer stays: without any, lanes in the
   * queue would not be paced.
   */
  expire(): void {
    for (const tenant of this.#tenants.values()) tenant.readAt = Number.NEGATIVE_INFINITY;
  }

  /** Those whose mail is not sent at present. */
  stopped(): string[] {
    return [...this.#tenants.entries()].filter(([, { status }]) => status !== 'active').map(([id]) => id);
  }

  isActive(id: string): boolean {
    return this.#tenants.get(id)?.status === 'active';
  }
}

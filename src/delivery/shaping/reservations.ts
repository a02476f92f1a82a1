// What may still be claimed under the limits per minute and per hour: counted before the store is asked, and
// refunded for what was not there or not sent. A tenant's hour counts first attempts only.
import type { Clock } from '../../base/clock.ts';
import type { ClaimedMessage } from '../../store/queue.ts';
import type { TenantPace } from '../../store/shaping.ts';
import type { ShapingMemory } from './shaping-memory.ts';

export class Reservations {
  readonly #memory: ShapingMemory;
  readonly #clock: Clock;
  /** First attempts of paced tenants in progress: message id to tenant id. */
  readonly #counted = new Map<string, string>();
  /** Tenants whose hour has changed since it was last stored. */
  readonly #dirty = new Set<string>();

  constructor(memory: ShapingMemory, clock: Clock) {
    this.#memory = memory;
    this.#clock = clock;
  }

  /** How many messages may be claimed at once: what is left of the minute and of the tenant's hour. */
  room(group: string | null, tenantId: string): number {
    const now = this.#clock.now();
    const perMinute = group === null ? null : this.#memory.limitsOf(group).messagesPerMinute;
    const window = group === null ? null : this.#memory.group(group).window;
    const ofGroup = window && perMinute !== null ? window.left(perMinute, now) : Number.POSITIVE_INFINITY;
    const perHour = this.#memory.perHour(tenantId);
    const ofTenant = perHour === null ? Number.POSITIVE_INFINITY : this.#memory.paceOf(tenantId).left(perHour, now);
    return Math.max(0, Math.min(ofGroup, ofTenant));
  }

  /** Counts before the store is asked, so that two concurrent claims don't share one allowance. */
  reserve(group: string, tenantId: string, messages: number): void {
    const now = this.#clock.now();
    this.#memory.group(group).window?.add(messages, now);
    if (this.#memory.perHour(tenantId) !== null) this.#memory.paceOf(tenantId).add(messages, now);
  }

  /** Corrects a reservation by what was claimed. A retry is not a new message of the tenant. */
  settle(
    group: string,
    tenantId: string,
    { reserved, claimed }: { reserved: number; claimed: ClaimedMessage[] },
  ): void {
    this.#memory.group(group).window?.takeBack(reserved - claimed.length);
    if (this.#memory.perHour(tenantId) === null) return;
    const fresh = claimed.filter(({ attempt }) => attempt === 1);
    this.#memory.paceOf(tenantId).takeBack(reserved - fresh.length);
    for (const { id } of fresh) this.#counted.set(id, tenantId);
    this.#dirty.add(tenantId);
  }

  /** The messages were not sent after all. */
  givenBack(group: string | null, messageIds: readonly string[]): void {
    if (group !== null) this.#memory.group(group).window?.takeBack(messageIds.length);
    for (const id of messageIds) {
      const tenantId = this.#counted.get(id);
      if (tenantId === undefined) continue;
      this.#counted.delete(id);
      this.#memory.paceOf(tenantId).takeBack(1);
      this.#dirty.add(tenantId);
    }
  }

  /** The message was tried: it can't be given back any more. */
  tried(messageId: string): void {
    this.#counted.delete(messageId);
  }

  /** The memory has dropped these tenants' hours, because they are empty. */
  dropped(tenantIds: readonly string[]): void {
    for (const tenantId of tenantIds) this.#dirty.add(tenantId);
  }

  /** Returns the changes since the last call, to be stored; where the store counts them itself, there are none. */
  takeChanges(): TenantPace[] {
    if (this.#memory.sharesLimits) this.#dirty.clear();
    if (this.#dirty.size === 0) return [];
    const paces = this.#memory.pacesToStore(this.#dirty, this.#clock.now());
    this.#dirty.clear();
    return paces;
  }
}

// What may still be claimed by the limits per minute and per hour: counted before the store is asked, and
// taken back for what was not there or was not sent. A tenant's hour counts first attempts only.
import type { Clock } from '../../base/clock.ts';
import type { ClaimedMessage } from '../../store/queue.ts';
import type { TenantPace } from '../../store/shaping.ts';
import type { ShapingMemory } from './shaping-memory.ts';

export class Reservations {
  readonly #memory: ShapingMemory;
  readonly #clock: Clock;
  /** First attempts of paced tenants that are under way: their tenant by message. */
  readonly #counted = new Map<string, string>();
  /** Tenants whose hour has changed since it was stored. */
  readonly #dirty = new Set<string>();

  constructor(memory: ShapingMemory, clock: Clock) {
    this.#memory = memory;
    this.#clock = clock;
  }

  /** How many messages may be claimed at once, by what is left of the minute and of the tenant's hour. */
  room(group: string | null, tenantId: string): number {
    const now = this.#clock.now();
    const perMinute = group === null ? null : this.#memory.limitsOf(group).messagesPerMinute;
    const window = group === null ? null : this.#memory.group(group).window;
    const ofGroup = window && perMinute !== null ? perMinute - window.used(now) : Number.POSITIVE_INFINITY;
    const perHour = this.#memory.perHour(tenantId);
    const ofTenant = perHour === null ? Number.POSITIVE_INFINITY : perHour - this.#memory.paceOf(tenantId).used(now);
    return Math.max(0, Math.min(ofGroup, ofTenant));
  }

  /** Counted before the store is asked, so that two who ask at once do not share one room. */
  reserve(group: string, tenantId: string, messages: number): void {
    const now = this.#clock.now();
    this.#memory.group(group).window?.add(messages, now);
    if (this.#memory.perHour(tenantId) !== null) this.#memory.paceOf(tenantId).add(messages, now);
  }

  /** What became of the reservation. A repetition is no new message of the tenant's. */
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

  /** They were not sent after all. */
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

  /** It was tried: nobody gives it back any more. */
  tried(messageId: string): void {
    this.#counted.delete(messageId);
  }

  /** The memory has dropped the hours of these tenants: nothing is left of them. */
  dropped(tenantIds: readonly string[]): void {
    for (const tenantId of tenantIds) this.#dirty.add(tenantId);
  }

  /** What has changed since the last call, to be stored. */
  takeChanges(): TenantPace[] {
    if (this.#dirty.size === 0) return [];
    const paces = this.#memory.pacesToStore(this.#dirty, this.#clock.now());
    this.#dirty.clear();
    return paces;
  }
}

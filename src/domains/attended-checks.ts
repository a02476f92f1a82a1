// Looks into DNS for a domain while somebody has its page open, so that a record which was just published is
// seen at once. The longer it takes, the rarer: pages stay open over night. Nobody waits for a look.
import { type Clock, MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import type { Domains } from './domains.ts';

export interface AttendedChecksKit {
  domains: Pick<Domains, 'look'>;
  clock: Clock;
  onError(error: unknown): void;
  /** How many look at once, for all pages. */
  atOnce?: number;
}

interface Attended {
  looks: number;
  lookedAt: number;
  attendedAt: number;
  running: boolean;
}

const PAUSES_MS = [2, 3, 4, 5, 10, 10, 20, 30].map((secs) => secs * SECOND_MS);
const LONGEST_PAUSE_MS = MINUTE_MS;
/** Whoever comes back later begins anew. */
const FORGOTTEN_AFTER_MS = 10 * MINUTE_MS;
const AT_ONCE = 8;

export class AttendedChecks {
  readonly #kit: AttendedChecksKit;
  readonly #attended = new Map<string, Attended>();
  #running = 0;

  constructor(kit: AttendedChecksKit) {
    this.#kit = kit;
  }

  /** Somebody sees the domain right now. Says whether it is being looked at. */
  attend(tenantId: string, domainId: string): boolean {
    const now = this.#kit.clock.now();
    this.#forget(now);
    const attended = this.#attended.get(domainId) ?? { looks: 0, lookedAt: 0, attendedAt: now, running: false };
    this.#attended.set(domainId, attended);
    attended.attendedAt = now;
    if (attended.running) return true;
    const pauseMs = attended.looks === 0 ? 0 : (PAUSES_MS[attended.looks - 1] ?? LONGEST_PAUSE_MS);
    const mayLook = now - attended.lookedAt >= pauseMs && this.#running < (this.#kit.atOnce ?? AT_ONCE);
    if (mayLook) void this.#look(tenantId, domainId, attended);
    return mayLook;
  }

  async #look(tenantId: string, domainId: string, attended: Attended): Promise<void> {
    const { domains, clock, onError } = this.#kit;
    attended.running = true;
    this.#running++;
    try {
      await domains.look({ tenantId, boundDomain: null }, domainId);
    } catch (error) {
      onError(error);
    } finally {
      this.#running--;
      attended.running = false;
      attended.looks++;
      attended.lookedAt = clock.now();
    }
  }

  #forget(now: number): void {
    for (const [id, { attendedAt, running }] of this.#attended) {
      if (!running && now - attendedAt > FORGOTTEN_AFTER_MS) this.#attended.delete(id);
    }
  }
}

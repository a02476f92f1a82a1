// Checks a domain's DNS records while its page is open, so that a record that was just published is found at once. The
// intervals grow, since pages stay open over night. No request waits for these checks.
import { type Clock, MINUTE_MS, SECOND_MS } from '../base/clock.ts';
import type { Domains } from './domains.ts';

export interface AttendedChecksKit {
  domains: Pick<Domains, 'verifyIfFound'>;
  clock: Clock;
  onError(error: unknown): void;
  /** How many checks may run at once, for all pages. */
  atOnce?: number;
}

interface Attended {
  checks: number;
  checkedAt: number;
  attendedAt: number;
  running: boolean;
}

const PAUSES_MS = [2, 3, 4, 5, 10, 10, 20, 30].map((secs) => secs * SECOND_MS);
const LONGEST_PAUSE_MS = MINUTE_MS;
/** A page opened again later starts over. */
const FORGOTTEN_AFTER_MS = 10 * MINUTE_MS;
const AT_ONCE = 8;

export class AttendedChecks {
  readonly #kit: AttendedChecksKit;
  readonly #attended = new Map<string, Attended>();
  #running = 0;

  constructor(kit: AttendedChecksKit) {
    this.#kit = kit;
  }

  /** Reports that a page shows the domain. Returns whether it is being checked. */
  attend(tenantId: string, domainId: string): boolean {
    const now = this.#kit.clock.now();
    this.#forget(now);
    const attended = this.#attended.get(domainId) ?? { checks: 0, checkedAt: 0, attendedAt: now, running: false };
    this.#attended.set(domainId, attended);
    attended.attendedAt = now;
    if (attended.running) return true;
    const pauseMs = attended.checks === 0 ? 0 : (PAUSES_MS[attended.checks - 1] ?? LONGEST_PAUSE_MS);
    const mayCheck = now - attended.checkedAt >= pauseMs && this.#running < (this.#kit.atOnce ?? AT_ONCE);
    if (mayCheck) void this.#check(tenantId, domainId, attended);
    return mayCheck;
  }

  async #check(tenantId: string, domainId: string, attended: Attended): Promise<void> {
    const { domains, clock, onError } = this.#kit;
    attended.running = true;
    this.#running++;
    try {
      await domains.verifyIfFound({ tenantId, boundDomain: null }, domainId);
    } catch (error) {
      onError(error);
    } finally {
      this.#running--;
      attended.running = false;
      attended.checks++;
      attended.checkedAt = clock.now();
    }
  }

  #forget(now: number): void {
    for (const [id, { attendedAt, running }] of this.#attended) {
      if (!running && now - attendedAt > FORGOTTEN_AFTER_MS) this.#attended.delete(id);
    }
  }
}

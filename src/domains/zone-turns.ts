// How often the name servers of one zone are asked: a token bucket for each organizational domain, over all tenants
// and all names below it, since anyone can register any number of names of somebody else's zone. Where tokens are
// short, tenants take turns: one that asks without end costs each of the others one interval, not its whole queue.
import type { Clock } from '../base/clock.ts';
import { FairLines } from '../base/fair-lines.ts';
import { organizationalDomain } from '../protocol/dns/dmarc-record.ts';

export interface ZoneTurnsKit {
  clock: Clock;
  /** From one token to the next. */
  intervalMs: number;
  pause(ms: number): Promise<unknown>;
}

/** Whoever sets up several subdomains of one zone has them verified without waiting. */
const BURST = 5;

export class ZoneTurns {
  readonly #kit: ZoneTurnsKit;
  /** Those used longest ago in front. */
  readonly #zones = new Map<string, Zone>();

  constructor(kit: ZoneTurnsKit) {
    this.#kit = kit;
  }

  of(name: string): Zone {
    for (const [key, zone] of this.#zones) {
      if (!zone.isFull) break;
      this.#zones.delete(key);
    }
    const key = zoneOf(name);
    const zone = this.#zones.get(key) ?? new Zone(this.#kit);
    this.#zones.delete(key);
    this.#zones.set(key, zone);
    return zone;
  }
}

/** Below a suffix that the Public Suffix List has, private ones included, each name is a zone of its own. */
export function zoneOf(name: string): string {
  return organizationalDomain(name);
}

class Zone {
  readonly #kit: ZoneTurnsKit;
  readonly #lines = new FairLines<() => void>();
  #tokens = BURST;
  #filledAt: number;
  #isServing = false;

  constructor(kit: ZoneTurnsKit) {
    this.#kit = kit;
    this.#filledAt = kit.clock.now();
  }

  /** Nobody waits, and nobody has used it for some time. */
  get isFull(): boolean {
    this.#fill();
    return this.#tokens === BURST && this.#lines.size === 0;
  }

  /** At once, or not. */
  tryTake(): boolean {
    this.#fill();
    if (this.#lines.size > 0 || this.#tokens === 0) return false;
    this.#tokens--;
    return true;
  }

  wait(tenantId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lines.add(tenantId, resolve);
    if (!this.#isServing) void this.#serve();
    return promise;
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (this.#lines.size > 0) {
      this.#fill();
      if (this.#tokens === 0) {
        await this.#kit.pause(this.#filledAt + this.#kit.intervalMs - this.#kit.clock.now());
      } else {
        this.#tokens--;
        this.#lines.take(() => true)!.job();
      }
    }
    this.#isServing = false;
  }

  #fill(): void {
    const { clock, intervalMs } = this.#kit;
    const now = clock.now();
    // A clock that was set back makes nobody wait longer than one interval.
    if (this.#filledAt > now) this.#filledAt = now;
    const due = intervalMs === 0 ? BURST : Math.floor((now - this.#filledAt) / intervalMs);
    this.#tokens = Math.min(BURST, this.#tokens + due);
    this.#filledAt = this.#tokens === BURST ? now : this.#filledAt + due * intervalMs;
  }
}

// How often the name servers of one zone are queried: a token bucket for each organizational domain, over all tenants
// and all names below it, since anyone can register any number of names in another owner's zone. When tokens are short,
// tenants take turns: one that queues without end costs each of the others one interval, not its whole queue.
import { type Clock, steadyClock } from '../base/clock.ts';
import { FairQueue } from '../base/fair-queue.ts';
import { fullAfter, type TokenBucket, tokenWaitMs } from '../base/token-bucket.ts';
import { organizationalDomain } from '../protocol/dns/published/dmarc-record.ts';

export interface ZoneTurnsKit {
  clock: Clock;
  /** From one token to the next. */
  intervalMs: number;
  pause(ms: number): Promise<unknown>;
}

/** Several subdomains of one zone can be verified without waiting. */
const BURST = 5;

export class ZoneTurns {
  readonly #kit: ZoneTurnsKit;
  /** Ordered by their last use. */
  readonly #zones = new Map<string, Zone>();

  constructor(kit: ZoneTurnsKit) {
    // A clock that is set back must not prolong waits.
    const { clock, intervalMs } = kit;
    this.#kit = { clock: steadyClock(clock), intervalMs, pause: (ms) => kit.pause(ms) };
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

/** Below a suffix of the Public Suffix List, private ones included, each name is a zone of its own. */
export function zoneOf(name: string): string {
  return organizationalDomain(name);
}

class Zone {
  readonly #kit: ZoneTurnsKit;
  readonly #waiting = new FairQueue<() => void>();
  readonly #bucket: TokenBucket;
  #fullAt = Number.NEGATIVE_INFINITY;
  #isServing = false;

  constructor(kit: ZoneTurnsKit) {
    this.#kit = kit;
    this.#bucket = { capacity: BURST, refillMs: kit.intervalMs };
  }

  /** Nothing waits, and it was not used for some time. */
  get isFull(): boolean {
    return this.#fullAt <= this.#kit.clock.now() && this.#waiting.isEmpty;
  }

  /** Takes a token if one is free now. */
  tryTake(): boolean {
    if (!this.#waiting.isEmpty || this.#waitMs() > 0) return false;
    this.#spend();
    return true;
  }

  waitForToken(tenantId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(tenantId, resolve);
    if (!this.#isServing) void this.#serve();
    return promise;
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    while (!this.#waiting.isEmpty) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) {
        await this.#kit.pause(waitMs);
      } else {
        this.#spend();
        this.#waiting.take()!.job();
      }
    }
    this.#isServing = false;
  }

  #waitMs(): number {
    return tokenWaitMs(this.#bucket, this.#fullAt, this.#kit.clock.now());
  }

  #spend(): void {
    this.#fullAt = fullAfter(this.#bucket, this.#fullAt, this.#kit.clock.now());
  }
}

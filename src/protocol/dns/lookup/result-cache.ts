// Caches look-ups, so that a burst of mail to one domain sends one query (RFC 2308 for negative answers). Bounded: the
// oldest entries are dropped first.
import { BoundedMap } from '../../../base/bounded-map.ts';
import type { Clock } from '../../../base/clock.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../base/clock.ts';
import type { DnsResult } from './dns-result.ts';

const MIN_POSITIVE_MS = 30 * SECOND_MS;
const MAX_POSITIVE_MS = HOUR_MS;
const NEGATIVE_MS = MINUTE_MS;
/** Long enough for a burst, short enough not to prolong an outage. */
const FAILURE_MS = 5 * SECOND_MS;

export interface ResultCache<T> {
  get(key: string): DnsResult<T> | null;
  /** Returns the result as `get` would. */
  put(key: string, result: DnsResult<T>): DnsResult<T>;
}

export function createResultCache<T>(clock: Clock, maxEntries: number): ResultCache<T> {
  const entries = new BoundedMap<string, { result: DnsResult<T>; expiresAt: number }>(maxEntries);

  function get(key: string): DnsResult<T> | null {
    const entry = entries.get(key);
    if (!entry) return null;
    const leftMs = entry.expiresAt - clock.now();
    if (leftMs <= 0) {
      entries.delete(key);
      return null;
    }
    return entry.result.kind === 'found' ? { ...entry.result, ttlMs: leftMs } : entry.result;
  }

  function put(key: string, result: DnsResult<T>): DnsResult<T> {
    const lifeMs = lifetimeMs(result);
    entries.set(key, { result, expiresAt: clock.now() + lifeMs });
    return result.kind === 'found' ? { ...result, ttlMs: lifeMs } : result;
  }

  return { get, put };
}

function lifetimeMs(result: DnsResult<unknown>): number {
  switch (result.kind) {
    case 'found':
      return Math.min(Math.max(result.ttlMs, MIN_POSITIVE_MS), MAX_POSITIVE_MS);
    case 'no_domain':
    case 'no_records':
      return NEGATIVE_MS;
    case 'unavailable':
      return FAILURE_MS;
  }
}

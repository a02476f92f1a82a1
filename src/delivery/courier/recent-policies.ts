// The TLS policies of recipients' domains (RFC 8461), as a courier thread reads them. Every message asks, and most domains
// have none: that is read once per domain and second.
import { BoundedMap } from '../../base/bounded-map.ts';
import { type Clock, SECOND_MS } from '../../base/clock.ts';
import type { TransportSecurityReader } from '../../store/transport-security.ts';
import type { TransportSecurity } from './connect.ts';

/** A domain's first policy counts so much later at most, and only if mail without it was sent just before. */
const MAX_AGE_MS = SECOND_MS;
const MAX_DOMAINS = 1000;

export function recentPolicies(
  reader: Pick<TransportSecurityReader, 'tlsPolicy'>,
  clock: Clock,
): TransportSecurity['policyOf'] {
  /** Domains without a policy, and when that was read. */
  const without = new BoundedMap<string, number>(MAX_DOMAINS);
  return async (domain) => {
    const now = clock.now();
    const readAt = without.get(domain);
    // The clock may have been set back.
    if (readAt !== undefined && now >= readAt && now - readAt < MAX_AGE_MS) return null;
    const policy = await reader.tlsPolicy(domain, now);
    if (policy === null) without.set(domain, now);
    else without.delete(domain);
    return policy;
  };
}

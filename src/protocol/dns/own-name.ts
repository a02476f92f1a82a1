// Whether a source address has a reverse name that leads back to it (forward-confirmed reverse DNS, RFC 1912 section
// 2.1): the first thing that receivers check.
import { SocketAddress } from 'node:net';
import type { DnsResult } from './lookup/dns-result.ts';
import type { Resolver } from './lookup/resolver.ts';

export interface NameCheckKit {
  resolver: Pick<Resolver, 'ptr' | 'a' | 'aaaa'>;
}

export type OwnName =
  | { kind: 'good'; name: string; reason: null }
  /** DNS says definitely that it has none. */
  | { kind: 'bad'; reason: string }
  | { kind: 'unknown'; reason: string };

// More than one reverse name is unusual already; longer lists are not worth following.
const MAX_NAMES = 5;

export async function checkOwnName(ip: string, { resolver }: NameCheckKit): Promise<OwnName> {
  const reverse = await resolver.ptr(ip);
  if (reverse.kind === 'unavailable')
    return { kind: 'unknown', reason: `its reverse name can't be looked up: ${reverse.reason}` };
  if (reverse.kind !== 'found') return { kind: 'bad', reason: 'it has no reverse name (PTR record)' };
  const names = reverse.records.slice(0, MAX_NAMES);
  let outage: string | null = null;
  for (const name of names) {
    const forward: DnsResult<string> = ip.includes(':') ? await resolver.aaaa(name) : await resolver.a(name);
    if (forward.kind === 'unavailable') outage = forward.reason;
    else if (forward.kind === 'found' && forward.records.some((record) => isSame(record, ip))) {
      return { kind: 'good', name, reason: null };
    }
  }
  if (outage !== null)
    return { kind: 'unknown', reason: `the address of ${names.join(', ')} can't be looked up: ${outage}` };
  return { kind: 'bad', reason: `its reverse name ${names.join(', ')} does not resolve back to it` };
}

/** Compared as addresses, since IPv6 has many spellings. */
function isSame(a: string, b: string): boolean {
  const family = b.includes(':') ? 'ipv6' : 'ipv4';
  return normal(a, family) === normal(b, family);
}

function normal(address: string, family: 'ipv4' | 'ipv6'): string {
  return new SocketAddress({ address, family }).address;
}

// Where an endpoint's URL leads right now: its host is resolved and every address is checked. One
// that is not allowed spoils all of them: a name that mixes public and private addresses is an attack
// or a mistake. Whoever calls connects to the addresses that come out here, and resolves nothing.
import { isIP } from 'node:net';
import type { Resolver } from '../protocol/dns/resolver.ts';
import { isLocalhost, LOOPBACK, refuseAddress, refuseTarget, type TargetPolicy } from './target.ts';

export type EndpointAddresses =
  /** IPv4 first: more hosts have a way to it. */
  { kind: 'found'; ips: string[] } | { kind: 'refused'; reason: string } | { kind: 'unavailable'; reason: string };

export interface AddressKit {
  resolver: Pick<Resolver, 'a' | 'aaaa'>;
  policy: TargetPolicy;
}

export async function endpointAddresses(url: URL, { resolver, policy }: AddressKit): Promise<EndpointAddresses> {
  const refused = refuseTarget(url, policy);
  if (refused !== null) return { kind: 'refused', reason: `Not called: ${refused}` };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return { kind: 'found', ips: [host] };
  // RFC 6761 section 6.3: never asked of the DNS.
  if (isLocalhost(host)) return { kind: 'found', ips: LOOPBACK.filter((ip) => policy.allows(ip)) };
  const addresses = policy.addressesOf(host);
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)]);
  const ips = answers.flatMap((answer) => (answer.kind === 'found' ? answer.records : []));
  for (const ip of ips) {
    const reason = refuseAddress(ip, addresses);
    if (reason !== null) return { kind: 'refused', reason: `Not called: ${host} leads to ${reason}` };
  }
  if (ips.length > 0) return { kind: 'found', ips };
  const outage = answers.find((answer) => answer.kind === 'unavailable');
  const why = outage?.kind === 'unavailable' ? `the DNS does not answer: ${outage.reason}` : 'it has no address';
  return { kind: 'unavailable', reason: `The host ${host} cannot be found: ${why}.` };
}

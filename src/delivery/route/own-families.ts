// Whether our own addresses can call a receiver's at all: an IPv4 address calls no IPv6 address. Where the
// system picks the source, only a lack of IPv6 is looked for: a machine without IPv4 has other ways out (NAT64).
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import type { MailAddress, MailHost } from '../../protocol/dns/mail-route.ts';
import type { Skipped } from '../courier/messages.ts';
import type { Unrouted } from './no-route.ts';
import type { SourceAddresses } from './source-addresses.ts';

export type Interfaces = NodeJS.Dict<NetworkInterfaceInfo[]>;

export interface OwnAddressesKit {
  /** Null: the system picks. */
  sources: Pick<SourceAddresses, 'whyUnreachable'> | null;
  /** Of this machine; other ones in tests. */
  readInterfaces?: () => Interfaces;
}

/** Loopback, and link-local addresses (RFC 4291 section 2.4): no mail server is reached from these. */
const NO_WAY_OUT = /^(::1$|fe[89ab])/i;
/** Unique local addresses (RFC 4193): they lead to others of the same site. Docker gives one where there is no IPv6. */
const UNIQUE_LOCAL = /^f[cd]/i;
const NO_PUBLIC_IPV6 = 'this machine has no public IPv6 address';

/** Null: one of our addresses can call one of the hosts. */
export function findUnreachable(
  mxGroup: string,
  hosts: readonly MailHost[],
  { sources, readInterfaces = networkInterfaces }: OwnAddressesKit,
): Unrouted | null {
  if (sources === null) {
    const addresses = hosts.flatMap((host) => host.addresses);
    if (addresses.some(({ family }) => family === 4)) return null;
    if (uncallable(addresses, readInterfaces).length < addresses.length) return null;
    return { kind: 'unreachable', reason: `no mail server of ${mxGroup} has an IPv4 address, and ${NO_PUBLIC_IPV6}` };
  }
  const why = sources.whyUnreachable(mxGroup, hosts);
  if (why === null) return null;
  // Without any address of ours that works, nothing is wrong with this receiver.
  return { kind: why.anyUsable ? 'unreachable' : 'no_source', reason: why.reason };
}

/** Where the system picks the source. An IPv6 address that cannot be called would only hide what the others say. */
export function findSkipped(
  hosts: readonly MailHost[],
  readInterfaces: () => Interfaces = networkInterfaces,
): Skipped | null {
  const addresses = hosts.flatMap((host) => host.addresses);
  if (!addresses.some(({ family }) => family === 4)) return null;
  const ips = uncallable(addresses, readInterfaces);
  return ips.length === 0 ? null : { ips, reason: `not called: ${NO_PUBLIC_IPV6}` };
}

function uncallable(addresses: readonly MailAddress[], readInterfaces: () => Interfaces): string[] {
  const foreign = addresses.filter(({ ip, family }) => family === 6 && ip !== '::1').map(({ ip }) => ip);
  if (foreign.length === 0) return [];
  const all = Object.values(readInterfaces()).flatMap((list) => list ?? []);
  const own = all.filter(({ address, family }) => family === 'IPv6' && !NO_WAY_OUT.test(address));
  if (own.some(({ address }) => !UNIQUE_LOCAL.test(address))) return [];
  return own.length === 0 ? foreign : foreign.filter((ip) => !UNIQUE_LOCAL.test(ip));
}

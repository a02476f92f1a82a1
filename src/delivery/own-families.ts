// Whether our own addresses can call a receiver's at all: an IPv4 address calls no IPv6 address. Where the
// system picks the source, only a lack of IPv6 is looked for: a machine without IPv4 has other ways out (NAT64).
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import type { MailHost } from '../protocol/dns/mail-route.ts';
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

/** Null: one of our addresses can call one of the hosts. */
export function findUnreachable(
  mxGroup: string,
  hosts: readonly MailHost[],
  { sources, readInterfaces = networkInterfaces }: OwnAddressesKit,
): Unrouted | null {
  if (sources === null) {
    const reason = lacksIpv6(mxGroup, hosts, readInterfaces);
    return reason === null ? null : { kind: 'unreachable', reason };
  }
  const why = sources.whyUnreachable(mxGroup, hosts);
  if (why === null) return null;
  // Without any address of ours that works, nothing is wrong with this receiver.
  return { kind: why.anyUsable ? 'unreachable' : 'no_source', reason: why.reason };
}

function lacksIpv6(mxGroup: string, hosts: readonly MailHost[], readInterfaces: () => Interfaces): string | null {
  const addresses = hosts.flatMap((host) => host.addresses);
  if (addresses.some(({ ip, family }) => family === 4 || ip === '::1')) return null;
  const own = Object.values(readInterfaces()).flatMap((list) => list ?? []);
  if (own.some(({ address, family }) => family === 'IPv6' && !NO_WAY_OUT.test(address))) return null;
  return `no mail server of ${mxGroup} has an IPv4 address, and this machine has no IPv6 address of its own`;
}

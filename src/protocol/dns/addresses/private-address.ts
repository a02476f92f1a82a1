// Which IP addresses belong to the public Internet: addresses that the IANA special-purpose registries (RFC 6890) list
// otherwise are not public, nor are IPv6 addresses that only wrap such an IPv4 address.
import { BlockList, isIP } from 'node:net';
import { Fault } from '../../../base/errors.ts';

export interface NetworkList {
  contains(ip: string): boolean;
}

const SPECIAL_IPV4 = [
  '0.0.0.0/8', // this network, unspecified
  '10.0.0.0/8', // private (RFC 1918)
  '100.64.0.0/10', // shared by carriers (RFC 6598)
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, cloud metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments (RFC 6890)
  '192.0.2.0/24', // documentation (RFC 5737)
  '192.88.99.0/24', // 6to4 relays, withdrawn (RFC 7526)
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks (RFC 2544)
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];

/** The range for public use (RFC 4291 section 2.4); loopback, fc00::/7, fe80::/10, ff00::/8 are outside. */
const GLOBAL_UNICAST_IPV6 = '2000::/3';

const SPECIAL_IPV6 = [
  '2001::/23', // protocol assignments, among them Teredo, which hides its IPv4 address (RFC 4380)
  '2001:db8::/32', // documentation (RFC 3849)
  '3fff::/20', // documentation (RFC 9637)
];

/** Prefixes that are directly followed by an IPv4 address: mapped, NAT64 (RFC 6052), 6to4 (RFC 3056). */
const IPV4_WRAPPERS = [
  { bits: 96, wrap: (ip: string) => `::ffff:${ip}` },
  { bits: 96, wrap: (ip: string) => `64:ff9b::${ip}` },
  { bits: 16, wrap: (ip: string) => `2002:${hexGroups(ip)}::` },
];

const PUBLIC_IPV6 = networkList([GLOBAL_UNICAST_IPV6, '::ffff:0:0/96', '64:ff9b::/96']);
const SPECIAL = networksWithWrapped([...SPECIAL_IPV4, ...SPECIAL_IPV6]);

/** False for anything that is not an IP address, including zone indexes (`fe80::1%eth0`). */
export function isPublicAddress(ip: string): boolean {
  if (isIP(ip) === 0 || ip.includes('%')) return false;
  return !SPECIAL.contains(ip) && (isIP(ip) === 4 || PUBLIC_IPV6.contains(ip));
}

/** From `10.0.0.0/8`, `fd00::/8` or single addresses; throws a Fault that names an invalid entry. */
export function networkList(cidrs: readonly string[]): NetworkList {
  const list = new BlockList();
  for (const cidr of cidrs) addNetwork(list, cidr);
  return {
    contains(ip) {
      const family = isIP(ip);
      return family !== 0 && list.check(ip, family === 6 ? 'ipv6' : 'ipv4');
    },
  };
}

/** The same, and every IPv6 address that only wraps an IPv4 address of these networks. */
export function networksWithWrapped(cidrs: readonly string[]): NetworkList {
  const ipv4 = cidrs.filter((cidr) => !cidr.includes(':'));
  return networkList([...cidrs, ...ipv4.flatMap(wrapped)]);
}

function addNetwork(list: BlockList, cidr: string): void {
  const [ip = '', bits, ...rest] = cidr.split('/');
  const family = isIP(ip);
  const maxBits = family === 6 ? 128 : 32;
  const prefix = bits === undefined ? maxBits : Number(bits);
  const isNumber = bits === undefined || /^\d{1,3}$/.test(bits);
  if (family === 0 || ip.includes('%') || rest.length > 0 || !isNumber || prefix > maxBits) {
    throw new Fault(`"${cidr}" is not a network: write an address or address/bits`, { permanence: 'permanent' });
  }
  list.addSubnet(ip, prefix, family === 6 ? 'ipv6' : 'ipv4');
}

function wrapped(cidr: string): string[] {
  const [ip = '', bits = '32'] = cidr.split('/');
  return IPV4_WRAPPERS.map((wrapper) => `${wrapper.wrap(ip)}/${wrapper.bits + Number(bits)}`);
}

function hexGroups(ip: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

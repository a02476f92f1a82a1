// IP addresses in one spelling, and the network that clients are counted by: a client with one IPv6 address usually has
// all 2^64 of its network.
import { isIP, SocketAddress } from 'node:net';

/** RFC 5952 spelling; IPv4-mapped IPv6 becomes IPv4. Null if it is not an address. */
export function normaliseAddress(written: string): string | null {
  // A link-local zone (`fe80::1%eth0`) is meaningful on one host only.
  const text = written.replace(/%.*$/, '');
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return null;
  const shortest = new SocketAddress({ address: text, family: 'ipv6' }).address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(shortest);
  return mapped ? mapped[1]! : shortest;
}

/** Where a program on this machine reaches what listens on the address. */
export function reachableHere(listensOn: string): string {
  return { '0.0.0.0': '127.0.0.1', '::': '::1' }[listensOn] ?? listensOn;
}

/** An IPv6 address stands in brackets before a port (RFC 3986 section 3.2.2). */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The /64 of an IPv6 address; an IPv4 address itself, since those are scarce; anything else unchanged. */
export function networkOf(written: string): string {
  const address = normaliseAddress(written) ?? written;
  return isIP(address) === 6 ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address;
}

/** What a provider assigns to one customer: a /48, 65,536 of the networks above. Null for IPv4. */
export function siteOf(written: string): string | null {
  const address = normaliseAddress(written) ?? written;
  return isIP(address) === 6 ? `${groupsOf(address).slice(0, 3).join(':')}::/48` : null;
}

/** Of an address in its shortest spelling. A dotted end counts as one group, since only zeros precede it. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const [before, after] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = tail === undefined ? 0 : 8 - before!.length - after!.length;
  return [...before!, ...Array<string>(zeros).fill('0'), ...after!];
}

// Client addresses: in one spelling, and through trusted proxies. X-Forwarded-For grows to the right, so it is read
// from the right, and only as far as trusted proxies go: everything further left may be made up by the client.
import { BlockList, isIP } from 'node:net';
import { Fault } from '../base/errors.ts';
import { normaliseAddress } from '../base/ip-address.ts';

export class TrustedProxies {
  readonly #networks = new BlockList();
  readonly #none: boolean;

  constructor(networks: readonly string[]) {
    this.#none = networks.length === 0;
    for (const network of networks) this.#add(network);
  }

  trusts(address: string): boolean {
    if (this.#none) return false;
    const family = isIP(address);
    return family !== 0 && this.#networks.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }

  /** The first address, from the connection outwards, that is not a trusted proxy. */
  clientBehind(peer: string, forwardedFor: string | undefined): string {
    if (forwardedFor === undefined || !this.trusts(peer)) return peer;
    let client = peer;
    for (const hop of forwardedFor.split(',').reverse()) {
      const address = normaliseAddress(withoutPort(hop.trim()));
      if (address === null) return client;
      client = address;
      if (!this.trusts(client)) return client;
    }
    return client;
  }

  #add(network: string): void {
    const [base = '', prefix, ...more] = network.trim().split('/');
    const address = normaliseAddress(base);
    const family = address === null ? 0 : isIP(address);
    const longest = family === 4 ? 32 : 128;
    const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
    if (address === null || more.length > 0 || !(bits <= longest)) {
      throw new Fault(`not an address or network of a trusted proxy: ${network}`, { permanence: 'permanent' });
    }
    this.#networks.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
}

/** Some proxies write `192.0.2.1:1234` or `[2001:db8::1]:1234`. */
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(hop);
  if (bracketed) return bracketed[1]!;
  return /^[^:]*:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop;
}

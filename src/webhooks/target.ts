// Whether a webhook may use an address: tenants choose the URL, so without this check they could make the service call
// what only the service can reach. The same policy applies twice: at registration to the URL itself, at dispatch to
// every address that a name resolves to. Resolves nothing.
import { isIP } from 'node:net';
import { type AddressPolicy, createAddressPolicy } from '../protocol/dns/addresses/address-policy.ts';
import { NO_OWN_ADDRESSES, type OwnAddresses } from '../protocol/dns/addresses/own-addresses.ts';

export interface TargetPolicy {
  allows(ip: string): boolean;
  /** The policy for addresses of this host: our own names resolve to our addresses, which need to be allowed. */
  addressesOf(host: string): AddressPolicy;
  /** Why the host name is refused before it is resolved, or null. */
  refuseName(host: string): string | null;
}

export interface TargetRules {
  own?: OwnAddresses;
  /** Hosts of `service.base_url` and `service.links_url`. */
  ownHosts?: readonly string[];
  /** `webhooks.refused_networks`. */
  refusedNetworks?: readonly string[];
}

/** `webhooks.allow_private`: false, true, or networks that are allowed although they are not public. */
export function targetPolicy(allowPrivate: boolean | readonly string[], rules: TargetRules = {}): TargetPolicy {
  const { own = NO_OWN_ADDRESSES, ownHosts = [], refusedNetworks = [] } = rules;
  const refused = { key: 'webhooks.refused_networks', networks: refusedNetworks };
  const options = { key: 'webhooks.allow_private', allowPrivate, refused };
  const addresses = createAddressPolicy({ ...options, own });
  // Behind NAT or a proxy, our name resolves to an address that no interface has: all its addresses count as ours.
  const everyAddressIsOurs = { describe: () => 'where this service is reached', version: () => 0 };
  const addressesOfOwnNames = createAddressPolicy({ ...options, own: everyAddressIsOurs });
  const names = new Set(ownHosts.filter((host) => isIP(plainHost(host)) === 0).map(plainHost));
  const allowsSome = allowPrivate === true || (allowPrivate !== false && allowPrivate.length > 0);
  return {
    allows: addresses.allows,
    addressesOf: (host) => (names.has(plainHost(host)) ? addressesOfOwnNames : addresses),
    refuseName(host) {
      if (isLocalhost(host)) return LOOPBACK.some(addresses.allows) ? null : refusal(`${host} is this machine`);
      if (!names.has(plainHost(host)) || allowsSome) return null;
      return refusal(`${host} is the name of this service itself`);
    },
  };
}

/**
 * Why a URL is refused for what it contains itself, as a sentence, or null. A host name is only checked later, by its
 * addresses, except localhost and our own names, which are known.
 */
export function refuseTarget(url: URL, policy: TargetPolicy): string | null {
  // The URL parser has already turned every notation of IPv4 into four decimal numbers.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? policy.refuseName(host) : refuseAddress(host, policy.addressesOf(host));
}

/** The same for an address that a name has resolved to. */
export function refuseAddress(ip: string, addresses: AddressPolicy): string | null {
  const refused = addresses.refusal(ip);
  if (refused === null) return null;
  return refused.listed ? `${refused.fact} (${refused.key}).` : refusal(refused.fact);
}

export const LOOPBACK = ['127.0.0.1', '::1'];

/** RFC 6761 section 6.3: localhost and all names below it are loopback. */
export function isLocalhost(host: string): boolean {
  return /(?:^|\.)localhost\.*$/.test(host);
}

/** Lower case, without the brackets of IPv6 and without trailing dots. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.+$/, '');
}

function refusal(fact: string): string {
  return `${fact}. The operator of this service can allow such targets with webhooks.allow_private.`;
}

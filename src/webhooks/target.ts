// Whether a webhook may lead to an address: tenants choose the URL, so without this check they
// could make the service call what only the service can reach. The same policy holds twice:
// at registration for what a URL says by itself, at dispatch for every address that a name
// resolves to. Resolves nothing.
import { isIP } from 'node:net';
import { isPublicAddress, networkList } from '../protocol/dns/private-address.ts';

export interface TargetPolicy {
  allows(ip: string): boolean;
}

/** `webhooks.allow_private`: false, true, or networks that are allowed although they are not public. */
export function targetPolicy(allowPrivate: boolean | readonly string[]): TargetPolicy {
  if (allowPrivate === true) return { allows: () => true };
  const allowed = networkList(allowPrivate || []);
  return { allows: (ip) => isPublicAddress(ip) || allowed.contains(ip) };
}

/**
 * Why a URL is refused for what it says by itself, as a sentence, or null. A host name is let
 * through here, and refused by its addresses later; except localhost, which is known.
 */
export function refuseTarget(url: URL, policy: TargetPolicy): string | null {
  // The URL parser has already turned every notation of IPv4 into four decimal numbers.
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return refuseAddress(host, policy);
  if (!isLocalhost(host) || LOOPBACK.some((ip) => policy.allows(ip))) return null;
  return refusal(`${host} is this machine`);
}

/** The same for an address that a name has resolved to. */
export function refuseAddress(ip: string, policy: TargetPolicy): string | null {
  return policy.allows(ip) ? null : refusal(`${ip} is not a public address`);
}

export const LOOPBACK = ['127.0.0.1', '::1'];

/** RFC 6761 section 6.3: localhost and everything below it are loopback, wherever they are looked up. */
export function isLocalhost(host: string): boolean {
  return /(?:^|\.)localhost\.*$/.test(host);
}

function refusal(fact: string): string {
  return `${fact}; the operator of this service can allow such targets with webhooks.allow_private.`;
}

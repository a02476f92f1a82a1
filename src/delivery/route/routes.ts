// The current route of each recipient domain's mail, cached for as long as DNS allows. Domains of one large
// provider, or with the same set of MX hosts, form one group: limits apply per group. Each domain keeps its
// own hosts in their own order.
import { hash } from 'node:crypto';
import { BoundedMap } from '../../base/bounded-map.ts';
import type { Clock } from '../../base/clock.ts';
import type { AddressPolicy } from '../../protocol/dns/addresses/address-policy.ts';
import { isPublicAddress } from '../../protocol/dns/addresses/private-address.ts';
import type { Resolver } from '../../protocol/dns/lookup/resolver.ts';
import { findMailRoute, type MailHost, type MailRoute } from '../../protocol/dns/mail-route.ts';
import type { Providers } from '../shaping/provider-limits.ts';

export const MAX_GROUP_NAME_CHARS = 600;
const SHOWN_OF_LONG = 500;
const HASH_CHARS = 16;

export type Route =
  /** `staleAt`: of mail that has waited until then, the servers are looked up again. */
  { kind: 'group'; group: string; hosts: MailHost[]; staleAt: number } | Exclude<MailRoute, { kind: 'hosts' }>;

export interface Routes {
  find(domain: string): Promise<Route>;
  /** What is cached; null: it must be looked up. */
  known(domain: string): Route | null;
}

export interface RoutesOptions {
  resolver: Resolver;
  clock: Clock;
  random: () => number;
  /** Which addresses may be connected to: the owner of a recipient's domain chooses them. */
  addresses: AddressPolicy;
  providers: Providers;
}

// The resolver caches single answers; this cache saves combining them for every message.
const MAX_CACHED = 20_000;
const MAX_CACHED_MS = 5 * 60_000;
/** For mail in a queue, whatever DNS allows: with a TTL of seconds it would be routed again and again. */
const MIN_FRESH_MS = 5 * 60_000;

export function createRoutes(options: RoutesOptions): Routes {
  const cache = new BoundedMap<string, { route: Route; until: number; version: number }>(MAX_CACHED);
  const cached = (domain: string, version: number): Route | null => {
    const known = cache.get(domain);
    return known && known.until > options.clock.now() && known.version === version ? known.route : null;
  };
  return {
    known: (domain) => cached(domain, options.addresses.version()),
    async find(domain) {
      const version = options.addresses.version();
      const known = cached(domain, version);
      if (known) return known;
      const found = await findMailRoute(domain, options);
      const route = found.kind === 'hosts' ? groupRoute(domain, found, options) : found;
      if (found.kind === 'hosts') {
        const until = options.clock.now() + Math.min(found.ttlMs, MAX_CACHED_MS);
        cache.set(domain, { route, until, version });
      }
      return route;
    },
  };
}

function groupRoute(
  domain: string,
  { hosts, names, ttlMs }: Extract<MailRoute, { kind: 'hosts' }>,
  { addresses, providers, clock }: RoutesOptions,
): Route {
  const permitted = hosts.map((host) => ({
    ...host,
    addresses: host.addresses.filter(({ ip }) => addresses.allows(ip)),
  }));
  if (permitted.every((host) => host.addresses.length === 0)) {
    return { kind: 'undeliverable', reason: whyNone(domain, hosts, addresses), enhancedCode: '5.4.4' };
  }
  // Hosts whose addresses are not known remain.
  const reachable = permitted.filter((host, at) => host.addresses.length > 0 || hosts[at]!.addresses.length === 0);
  const staleAt = clock.now() + Math.max(ttlMs, MIN_FRESH_MS);
  return { kind: 'group', group: groupName(names, hosts, providers), hosts: reachable, staleAt };
}

function whyNone(domain: string, hosts: MailHost[], addresses: AddressPolicy): string {
  const own = hosts.flatMap((host) => host.addresses.flatMap(({ ip }) => ownFact(ip, addresses) ?? []));
  if (own.length === 0) {
    return `every mail server of ${domain} has a private or loopback address, and these are not connected to (delivery.allow_private)`;
  }
  return `no mail server of ${domain} may be connected to: ${own[0]}; for a mailbox server on this machine, add the address to delivery.allow_private`;
}

/** Null: the address is refused for a reason other than that it is ours. */
function ownFact(ip: string, addresses: AddressPolicy): string | null {
  return isPublicAddress(ip) ? (addresses.refusal(ip)?.fact ?? null) : null;
}

/**
 * Made of all MX records: a host that lacks its address for a moment must not lead mail past what holds the group. The
 * provider's name only if all hosts belong to it: the owner of a domain chooses its hosts, and the replies of a foreign
 * one must not count for the provider. One that has no address, such as the record of a verification, does not reply.
 */
function groupName(names: readonly string[], hosts: MailHost[], providers: Providers): string {
  const provider = providers.ofHosts(hosts.map((host) => host.name));
  if (provider) return provider.id;
  const name = names.toSorted().join(',');
  // Provider ids contain no dot, so a host with the same name is distinguished by one.
  return name.includes('.') ? shortened(name) : `${name}.`;
}

/** The owner of a domain may name many long hosts, and the group's name is part of keys in the database. */
function shortened(name: string): string {
  if (name.length <= MAX_GROUP_NAME_CHARS) return name;
  // In ASCII, as an option's value must be; no host name has two dots in a row.
  return `${name.slice(0, SHOWN_OF_LONG)}...${hash('sha256', name).slice(0, HASH_CHARS)}`;
}

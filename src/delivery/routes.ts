// Where each recipient domain's mail goes right now, remembered for as long as DNS allows.
// Domains of one large provider, or that share their set of MX hosts, form one group: limits hold
// for it as a whole. Each domain keeps its own hosts in their own order.
import type { Clock } from '../base/clock.ts';
import { findMailRoute, type MailHost, type MailRoute } from '../protocol/dns/mail-route.ts';
import { isPublicAddress } from '../protocol/dns/private-address.ts';
import type { Resolver } from '../protocol/dns/resolver.ts';
import type { Providers } from './provider-limits.ts';

export type Route = { kind: 'group'; group: string; hosts: MailHost[] } | Exclude<MailRoute, { kind: 'hosts' }>;

export interface Routes {
  find(domain: string): Promise<Route>;
}

export interface RoutesOptions {
  resolver: Resolver;
  clock: Clock;
  random: () => number;
  /** Whether private and loopback addresses may be connected to. */
  allowPrivate: boolean;
  providers: Providers;
}

// The resolver caches the single answers; this saves putting them together for every message.
const MAX_REMEMBERED = 20_000;
const LONGEST_MEMORY_MS = 5 * 60_000;

export function createRoutes(options: RoutesOptions): Routes {
  const remembered = new Map<string, { route: Route; until: number }>();
  return {
    async find(domain) {
      const known = remembered.get(domain);
      if (known && known.until > options.clock.now()) return known.route;
      const found = await findMailRoute(domain, options);
      const route = found.kind === 'hosts' ? groupRoute(domain, found.hosts, options) : found;
      if (found.kind === 'hosts') {
        if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
        remembered.set(domain, { route, until: options.clock.now() + Math.min(found.ttlMs, LONGEST_MEMORY_MS) });
      }
      return route;
    },
  };
}

function groupRoute(domain: string, hosts: MailHost[], { allowPrivate, providers }: RoutesOptions): Route {
  const reachable = hosts
    .map((host) => ({ ...host, addresses: host.addresses.filter(({ ip }) => allowPrivate || isPublicAddress(ip)) }))
    .filter((host) => host.addresses.length > 0);
  if (reachable.length === 0) {
    const reason = `every mail server of ${domain} has a private or loopback address, and these are not connected to (delivery.allow_private)`;
    return { kind: 'undeliverable', reason, enhancedCode: '5.4.4' };
  }
  return { kind: 'group', group: groupName(hosts, reachable, providers), hosts: reachable };
}

/**
 * A provider's only when all hosts are its own: whoever owns a domain chooses its hosts, and what
 * a strange one of them says must not count for the provider.
 */
function groupName(all: MailHost[], reachable: MailHost[], providers: Providers): string {
  const provider = providers.ofHosts(all.map(({ name }) => name));
  if (provider) return provider.id;
  const name = reachable
    .map((host) => host.name)
    .sort()
    .join(',');
  // Providers have no dot: a host that is named like one is told apart.
  return name.includes('.') ? name : `${name}.`;
}

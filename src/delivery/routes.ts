// Where each recipient domain's mail goes right now, remembered for as long as DNS allows.
// Domains that share their set of MX hosts form one group: limits hold for it as a whole.
import type { Clock } from '../base/clock.ts';
import { findMailRoute, type MailHost, type MailRoute } from '../protocol/dns/mail-route.ts';
import { isPublicAddress } from '../protocol/dns/private-address.ts';
import type { Resolver } from '../protocol/dns/resolver.ts';

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
      const route = found.kind === 'hosts' ? groupRoute(domain, found.hosts, options.allowPrivate) : found;
      if (found.kind === 'hosts') {
        if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
        remembered.set(domain, { route, until: options.clock.now() + Math.min(found.ttlMs, LONGEST_MEMORY_MS) });
      }
      return route;
    },
  };
}

function groupRoute(domain: string, hosts: MailHost[], allowPrivate: boolean): Route {
  const reachable = hosts
    .map((host) => ({ ...host, addresses: host.addresses.filter(({ ip }) => allowPrivate || isPublicAddress(ip)) }))
    .filter((host) => host.addresses.length > 0);
  if (reachable.length === 0) {
    const reason = `every mail server of ${domain} has a private or loopback address, and these are not connected to (delivery.allow_private)`;
    return { kind: 'undeliverable', reason, enhancedCode: '5.4.4' };
  }
  return { kind: 'group', group: groupName(reachable), hosts: reachable };
}

function groupName(hosts: MailHost[]): string {
  return hosts
    .map(({ name }) => name)
    .sort()
    .join(',');
}

// The route of mail that has waited in line for long, looked up just before it is sent: only what is sent costs a look-up,
// and nothing loses its place, however long a pause was.
import type { Routes } from '../route/routes.ts';
import { hostsFor } from '../route/source-addresses.ts';
import type { Shaping } from '../shaping/shaping-state.ts';
import type { OfGroup } from './group-port.ts';
import { hostsKeyOf, type WaitingLane } from './lane-rotation.ts';

interface RouteKit {
  routes: Pick<Routes, 'find'>;
  shaping: Pick<Shaping, 'verdict'>;
}

/** False: its mail goes to other servers by now, or may not go any more after the look-up. */
export async function refreshRoute(
  waiting: WaitingLane,
  group: OfGroup,
  { routes, shaping }: RouteKit,
): Promise<boolean> {
  const { tenantId, domain } = waiting.lane;
  const route = await routes.find(domain).catch(() => null); // routed again, it is logged
  if (route?.kind !== 'group' || route.group !== group.name) return false;
  const { hosts, staleAt } = route;
  // What the session that takes it was chosen by.
  if (hostsKeyOf(hosts) !== hostsKeyOf(waiting.hosts) || hostsFor(waiting.source, hosts).length === 0) return false;
  if (shaping.verdict({ tenantId, domain, group, connections: null }).decision === 'wait') return false;
  Object.assign(waiting, { hosts, staleAt });
  return true;
}

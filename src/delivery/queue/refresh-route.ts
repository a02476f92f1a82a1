// The route of mail that has waited in line for long, looked up just before it is sent: only what is sent costs a look-up,
// and nothing loses its place, however long a pause was.
import type { Routes } from '../route/routes.ts';
import { hostsFor } from '../route/source-addresses.ts';
import { hostsKeyOf, type WaitingLane } from './lane-rotation.ts';

/** Null: its mail goes elsewhere by now, as far as DNS says. */
export async function refreshRoute(
  { lane, hosts: old, source }: WaitingLane,
  groupName: string,
  routes: Pick<Routes, 'find'>,
): Promise<Pick<WaitingLane, 'hosts' | 'staleAt'> | null> {
  const route = await routes.find(lane.domain).catch(() => null); // routed again, it is logged
  if (route?.kind !== 'group' || route.group !== groupName) return null;
  const { hosts, staleAt } = route;
  // What the session that takes it was chosen by.
  if (hostsKeyOf(hosts) !== hostsKeyOf(old) || hostsFor(source, hosts).length === 0) return null;
  return { hosts, staleAt };
}

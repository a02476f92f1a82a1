// The way through the portal, by who walks: a tenant's people, or operators of the platform.
import type { Visitor } from '../store/accounts.ts';

export interface NavigationEntry {
  path: string;
  label: string;
  /** Only where mail is captured instead of sent. */
  sandboxOnly?: boolean;
}

const OF_TENANTS: readonly NavigationEntry[] = [
  { path: '/portal', label: 'Overview' },
  { path: '/portal/messages', label: 'Messages' },
  { path: '/portal/captured', label: 'Captured mail', sandboxOnly: true },
  { path: '/portal/domains', label: 'Domains' },
  { path: '/portal/templates', label: 'Templates' },
  { path: '/portal/suppressions', label: 'Suppressions' },
  { path: '/portal/webhooks', label: 'Webhooks' },
  { path: '/portal/keys', label: 'API keys' },
  { path: '/portal/dmarc', label: 'DMARC' },
  { path: '/portal/settings', label: 'Settings' },
];

const OF_OPERATORS: readonly NavigationEntry[] = [
  { path: '/portal/operator', label: 'Overview' },
  { path: '/portal/operator/tenants', label: 'Tenants' },
  { path: '/portal/operator/messages', label: 'Messages' },
  { path: '/portal/operator/queue', label: 'Queue' },
  { path: '/portal/operator/suppressions', label: 'Suppressions' },
  { path: '/portal/operator/inbound', label: 'Inbound mail' },
  { path: '/portal/operator/captured', label: 'Captured mail', sandboxOnly: true },
  { path: '/portal/operator/dmarc', label: 'DMARC' },
  { path: '/portal/operator/doctor', label: 'Doctor' },
  { path: '/portal/operator/audit', label: 'Audit log' },
];

export function navigationOf({ user }: Visitor, sandbox: boolean): NavigationEntry[] {
  const all = user.role === 'operator' ? OF_OPERATORS : OF_TENANTS;
  return all.filter(({ sandboxOnly }) => sandbox || !sandboxOnly);
}

/** The entry that the path belongs to: the longest that it begins with. */
export function currentEntry(entries: readonly NavigationEntry[], path: string): NavigationEntry | null {
  // The front door is the beginning of every path, and holds only what is part of it.
  const beginningOf = ({ path }: NavigationEntry) => (path === '/portal' ? '/portal/overview/' : `${path}/`);
  const holds = (entry: NavigationEntry) => path.startsWith(beginningOf(entry));
  const holding = entries.filter((entry) => path === entry.path || holds(entry));
  return holding.sort((one, other) => other.path.length - one.path.length)[0] ?? null;
}

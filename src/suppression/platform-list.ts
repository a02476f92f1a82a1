// What a tenant may know of the platform's list: that it has a mailbox, and until when. Not whose mail put it there.
import type { StoreVerbs } from '../store/store.ts';
import type { PlatformSuppression } from '../store/suppressions.ts';

export type PlatformListStore = StoreVerbs<{ suppressions: 'getSuppression' | 'listPlatformSuppressions' }>;

/** Null when it has none, or one that has expired. `address` is a suppression key. */
export async function findPlatformEntry(
  { suppressions }: StoreVerbs<{ suppressions: 'listPlatformSuppressions' }>,
  address: string,
  now: number,
): Promise<PlatformSuppression | null> {
  const [entry] = await suppressions.listPlatformSuppressions({ after: null, limit: 1, prefix: address });
  return entry?.address === address && entry.expiresAt > now ? entry : null;
}

/** Of an address that the tenant's own list does not have: removing it there would not help. */
export async function findOnPlatformOnly(
  store: PlatformListStore,
  { tenantId, address, now }: { tenantId: string; address: string; now: number },
): Promise<PlatformSuppression | null> {
  const own = await store.suppressions.getSuppression(tenantId, address);
  return own ? null : findPlatformEntry(store, address, now);
}

/** Follows "it is" or the like. */
export function onPlatformList({ expiresAt }: Pick<PlatformSuppression, 'expiresAt'>): string {
  const until = new Date(expiresAt).toISOString().slice(0, 10);
  return `on the service-wide list of nonexistent mailboxes until ${until}. If that is wrong, contact the operator.`;
}

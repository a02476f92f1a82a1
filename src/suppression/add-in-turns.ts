// Adds a list of any length to a tenant's suppressions, as the portal and the API import them: in portions, each a
// transaction of some milliseconds, so that other calls take their turns in between.
import type { StoreVerbs } from '../store/store.ts';
import type { Suppression } from '../store/suppressions.ts';

export interface AddInTurnsKit {
  store: StoreVerbs<{ suppressions: 'importSuppressions' }>;
  /** Lets the event loop turn. */
  turn(): Promise<unknown>;
}

const ENTRIES_AT_ONCE = 500;

/** Returns how many were new. When it fails, the portions before are on the list. */
export async function addInTurns(
  { store, turn }: AddInTurnsKit,
  tenantId: string,
  entries: readonly Suppression[],
): Promise<number> {
  let added = 0;
  for (let at = 0; at < entries.length; at += ENTRIES_AT_ONCE) {
    added += await store.suppressions.importSuppressions(tenantId, entries.slice(at, at + ENTRIES_AT_ONCE));
    await turn();
  }
  return added;
}

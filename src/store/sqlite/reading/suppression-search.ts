// Searching a tenant's suppression list for a page of the portal: over more entries than on the main thread.
import type { FoundSuppressions, SuppressionSearch } from '../../suppressions.ts';
import type { ReadingConnection } from '../engine/reading-connection.ts';
import * as verbs from '../verbs/suppressions.ts';

/** Takes some 10 ms. */
const MAX_SCANNED = 20_000;

export function searchSuppressions(
  db: ReadingConnection,
  tenantId: string,
  search: SuppressionSearch,
): FoundSuppressions {
  return verbs.searchSuppressions(db, tenantId, { ...search, scanned: MAX_SCANNED });
}

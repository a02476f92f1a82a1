// Searching a tenant's suppression list for a page of the portal: over more entries than on the main thread.

import type { FoundSuppressions, SuppressionSearch } from '../../suppressions.ts';
import type { Queries, Steps } from '../steps.ts';
import * as verbs from '../verbs/message/suppressions.ts';

/** Takes some 10 ms. */
const MAX_SCANNED = 20_000;

export function* searchSuppressions(
  db: Queries,
  tenantId: string,
  search: SuppressionSearch,
): Steps<FoundSuppressions> {
  return yield* verbs.searchSuppressions(db, tenantId, { ...search, scanned: MAX_SCANNED });
}

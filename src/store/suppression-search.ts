// Contract: looking through a tenant's suppression list.
import type { Suppression, SuppressionReason } from './suppressions.ts';

export interface SuppressionSearch {
  /** Only addresses that begin so: lower case, domain in ASCII. */
  prefix: string;
  reason: SuppressionReason | null;
  /** Behind this address. */
  after: string | null;
  limit: number;
}

export interface FoundSuppressions {
  /** In the order of the alphabet. */
  entries: Suppression[];
  /** Where to go on; null: that is all. There may be fewer entries than asked for, and more to come. */
  next: string | null;
}

export interface SuppressionQueries {
  searchSuppressions(tenantId: string, search: SuppressionSearch): FoundSuppressions;
}

// What the pages of suppressions work with.
import type { PortalReads } from '../../store/reads.ts';
import type { StoreVerbs } from '../../store/store.ts';

export interface SuppressionServices {
  store: StoreVerbs<{ suppressions: 'addSuppression' | 'removeSuppression' | 'importSuppressions' }>;
  reads: Pick<PortalReads, 'searchSuppressions'>;
  /** Lets the event loop turn, in the middle of what takes long. */
  turn(): Promise<unknown>;
}

export const LIST = '/portal/suppressions';

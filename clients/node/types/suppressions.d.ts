// Addresses that get no mail from the account.

import type { RejectionReason } from './emails.js';

/** Changing the list needs a key with the scope `suppressions:write`. */
export interface Suppressions {
  /** In alphabetical order. Pass `next` as `after` until `hasMore` is false. */
  list(query?: SuppressionQuery): Promise<SuppressionPage>;
  /** An address that is on the list keeps its reason; the result shows it. `reason` is `manual` unless given. */
  add(suppression: { address: string; reason?: RejectionReason | undefined }): Promise<Suppression>;
  remove(address: string): Promise<void>;
  /** Up to 10,000 at once. */
  import(addresses: SuppressionImport): Promise<ImportedSuppressions>;
}

export interface Suppression {
  address: string;
  reason: RejectionReason;
  /** The message that bounced, or that the recipient complained about or unsubscribed from. */
  messageId: string | null;
  createdAt: string;
}

export interface SuppressionQuery {
  address?: string | undefined;
  reason?: RejectionReason | undefined;
  after?: string | undefined;
  /** 1 to 1,000; 100 unless given. */
  limit?: number | undefined;
}

export interface SuppressionPage {
  suppressions: Suppression[];
  hasMore: boolean;
  /** What to pass as `after`; null at the end. */
  next: string | null;
}

/**
 * `csv` is the text of a file with the columns `address` and, if you like, `reason` and `created_at`, an export of another
 * service, or a plain list of addresses.
 */
export type SuppressionImport = { reason?: RejectionReason | undefined } & (
  | { addresses: string[]; csv?: undefined }
  | { csv: string; addresses?: undefined }
);

export interface ImportedSuppressions {
  added: number;
  /** On the list already. */
  known: number;
  refused: number;
  /** The first 100 that were refused: the `index` in `addresses` from 0, or the `line` of the CSV from 1. */
  refusals: { index?: number; line?: number; message: string }[];
  /** Names of columns of the CSV that are not understood, and were not imported. */
  ignoredColumns: string[];
}

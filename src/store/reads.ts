// Contract: what pages ask of the database beside the daemon's own work: lists, searches and sums
// over many rows. Each is a named query of plain arguments with a plain answer; its first argument
// is the tenant (null: an operator asks, across tenants). They are answered by a process of its own
// that only reads, one after the other, in turns per tenant, each within a limit of time.
import type { MessagePage, MessageSearch } from './message-search.ts';
import type { MessageViewQueries } from './message-view.ts';
import type { OperatorQueries } from './operator-reads.ts';
import type { OverviewQueries } from './overview.ts';
import type { SuppressionQueries } from './suppression-search.ts';

/**
 * The queries as the driver answers them. To add one: a line here, and its function in
 * store/sqlite/reading-queries.ts. Look at a bounded number of rows, whatever is asked for.
 */
export interface PortalQueries extends MessageViewQueries, SuppressionQueries, OperatorQueries, OverviewQueries {
  /** Newest first. Looks through as many messages as it has time for, and says how far it came. */
  searchMessages(tenantId: string, search: MessageSearch): MessagePage;
}

export type ReadOutcome<T> =
  | { kind: 'found'; value: T }
  /** Nobody has looked, or not to the end: the reason is a sentence for whoever asked. */
  | { kind: 'refused'; reason: string };

/** The same as they are called. */
export type PortalReads = {
  [Name in keyof PortalQueries]: (
    ...asked: Parameters<PortalQueries[Name]>
  ) => Promise<ReadOutcome<ReturnType<PortalQueries[Name]>>>;
} & {
  /** Somebody is about to ask: what the first question would have to wait for begins now. */
  warm(): void;
};

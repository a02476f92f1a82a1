// The registry of queries that the reading process answers. Each is a function of the connection and the arguments of
// its contract (store/reads.ts), and runs in its own transaction.
import type { PortalQueries } from '../../reads.ts';
import type { Answered } from './answered.ts';
import { searchMessages } from './message-search.ts';
import { MESSAGE_VIEW_QUERIES } from './message-view.ts';
import { OPERATOR_QUERIES } from './operator-reads.ts';
import { OVERVIEW_QUERIES } from './overview.ts';
import { searchSuppressions } from './suppression-search.ts';

export const QUERIES: Answered<PortalQueries> = {
  searchMessages,
  searchSuppressions,
  ...MESSAGE_VIEW_QUERIES,
  ...OPERATOR_QUERIES,
  ...OVERVIEW_QUERIES,
};

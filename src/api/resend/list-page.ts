// Pages of lists as Resend's SDKs ask for them: `limit`, and `after` or `before` the ID of an entry.
import { isUuid } from '../../base/ids.ts';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import { invalid, readLimit, refuseUnknown } from '../query.ts';

const MAX_LIMIT = 100;

export interface PageOf<Entry> {
  object: 'list';
  has_more: boolean;
  data: Entry[];
}

export interface Cursor {
  limit: number;
  after: string | null;
  before: string | null;
}

export function readCursor(query: URLSearchParams, defaultLimit: number): Cursor | Refusal {
  const unknown = refuseUnknown(query, ['limit', 'after', 'before']);
  if (unknown) return unknown;
  const limit = query.get('limit') ? readLimit(query, { max: MAX_LIMIT, byDefault: defaultLimit }) : defaultLimit;
  if (isRefusal(limit)) return limit;
  const [after, before] = [query.get('after') || null, query.get('before') || null];
  if (after !== null && before !== null) return invalid('before', 'must be left out when after is given.');
  for (const [name, id] of Object.entries({ after, before })) {
    if (id !== null && !isUuid(id)) return invalid(name, 'must be a hyphenated UUID.');
  }
  return { limit, after: after?.toLowerCase() ?? null, before: before?.toLowerCase() ?? null };
}

/** Of a list that is read as a whole; without a limit, all of it. */
export function pageOf<Entry extends { id: string }>(
  entries: Entry[],
  query: URLSearchParams,
): PageOf<Entry> | Refusal {
  const cursor = readCursor(query, entries.length);
  if (isRefusal(cursor)) return cursor;
  const { limit, after, before } = cursor;
  const at = after ?? before;
  const index = entries.findIndex(({ id }) => id === at);
  if (at !== null && index < 0) return invalid(after === null ? 'before' : 'after', 'not found.');
  const rest = before === null ? entries.slice(index + 1) : entries.slice(0, index);
  const data = before === null ? rest.slice(0, limit) : rest.slice(Math.max(0, rest.length - limit));
  return { object: 'list', has_more: rest.length > data.length, data };
}

// The filter of the list of messages: from the fields of its form to the question for the store, and
// to the address of the next page.
import { bytesToUuid, isUuid, uuidToBytes } from '../../base/ids.ts';
import { readSearchText } from '../../operator/search-text.ts';
import { MESSAGE_STATES, type MessageState } from '../../store/queue.ts';
import type { MessageSearch } from '../../store/reads.ts';
import { parseTag } from '../../submission/labels.ts';

const FILTER_FIELDS = ['search', 'state', 'sender', 'key', 'tag', 'from', 'until'] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

export interface MessageFilter {
  /** As they were sent, to be shown again. */
  fields: Record<FilterField, string>;
  /** By field: what is wrong with it. */
  problems: Partial<Record<FilterField, string>>;
  search: Omit<MessageSearch, 'limit' | 'budgetMs'>;
  /** Of an exact recipient: how suppression lists call it. */
  suppressionKey: string | null;
  /** Whether anything is asked for. */
  isSet: boolean;
  /** Whether anything is besides the search. */
  isNarrowed: boolean;
}

const MOST_CHARS = 1000;

export function readFilter(query: URLSearchParams): MessageFilter {
  const entries = FILTER_FIELDS.map((name) => [name, (query.get(name) ?? '').trim().slice(0, MOST_CHARS)] as const);
  const fields = Object.fromEntries(entries) as Record<FilterField, string>;
  const filter: MessageFilter = {
    fields,
    problems: {},
    search: {},
    suppressionKey: null,
    isSet: false,
    isNarrowed: false,
  };
  filter.isSet = entries.some(([, value]) => value !== '');
  filter.isNarrowed = entries.some(([name, value]) => name !== 'search' && value !== '');
  readSearch(filter);
  readChoices(filter);
  for (const name of ['from', 'until'] as const) readTime(filter, name);
  const olderThan = openCursor(query.get('after'));
  if (olderThan !== null) filter.search.olderThan = olderThan;
  return filter;
}

function readSearch(filter: MessageFilter): void {
  if (filter.fields.search === '') return;
  const { search, suppressionKey } = readSearchText(filter.fields.search);
  Object.assign(filter.search, search);
  filter.suppressionKey = suppressionKey;
}

function readChoices({ fields, search, problems }: MessageFilter): void {
  const state = MESSAGE_STATES.find((known) => known === fields.state);
  if (state !== undefined) search.state = state satisfies MessageState;
  else if (fields.state !== '') problems.state = 'Unknown state.';
  if (fields.sender !== '') search.senderDomain = fields.sender.toLowerCase();
  if (isUuid(fields.key)) search.apiKeyId = fields.key;
  else if (fields.key !== '') problems.key = 'Unknown key.';
  const tag = parseTag(fields.tag);
  if (tag !== null) search.tag = tag;
  else if (fields.tag !== '') problems.tag = 'Enter name and value of a tag, like campaign:spring.';
}

/** As a browser's field for date and time sends it; in UTC, as the label says. */
const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/;

function readTime({ fields, search, problems }: MessageFilter, name: 'from' | 'until'): void {
  const text = fields[name];
  if (text === '') return;
  const at = LOCAL_TIME.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  if (Number.isNaN(at)) problems[name] = 'Enter the time like 2026-01-31T14:30.';
  else search[name] = at;
}

/** The same filter from another place on. */
export function listPath({ fields }: Pick<MessageFilter, 'fields'>, olderThan: string | null): string {
  const query = new URLSearchParams();
  for (const name of FILTER_FIELDS) if (fields[name] !== '') query.set(name, fields[name]);
  if (olderThan !== null) query.set('after', uuidToBytes(olderThan).toString('base64url'));
  return query.size === 0 ? '/portal/messages' : `/portal/messages?${query}`;
}

const ID_BYTES = 16;

function openCursor(text: string | null): string | null {
  const bytes = Buffer.from(text ?? '', 'base64url');
  return bytes.length === ID_BYTES ? bytesToUuid(bytes) : null;
}

// GET /emails: the messages of a tenant, newest first, searched as on the portal's page of messages.
import { toTimestamp } from '../../base/clock.ts';
import { isUuid } from '../../base/ids.ts';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import { parseAddress } from '../../protocol/mail/addresses/address.ts';
import { parseDomain } from '../../protocol/mail/addresses/domain.ts';
import { givenLabels } from '../../store/event-of-message.ts';
import { MESSAGE_STATES } from '../../store/queue.ts';
import type { FoundMessage, MessagePage, MessageSearch, PortalReads } from '../../store/reads.ts';
import { ok } from '../answer.ts';
import type { Endpoint } from '../endpoint.ts';
import {
  invalid,
  plusAdvice,
  readChoice,
  readLimit,
  readTag,
  readTime,
  refuseUnknown,
  refuseUnread,
} from '../query.ts';

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 25;
/** Some 10 ms on an idle machine. More at once would hold up the lists of other tenants. */
const MAX_SCANNED = 10_000;
/** For a machine that is busy with other things; it then answers with less. */
const BUDGET_MS = 200;

export function emailListEndpoints(reads: Pick<PortalReads, 'searchMessages'>): Endpoint[] {
  return [
    {
      method: 'GET',
      pattern: '/emails',
      scope: null,
      body: 'none',
      async answer({ tenant, query }) {
        const search = readSearch(query());
        if (isRefusal(search)) return search;
        // One more than asked for tells whether there is more.
        const { limit } = search;
        const limits = { limit: limit + 1, budgetMs: BUDGET_MS, maxScanned: MAX_SCANNED };
        const found = await reads.searchMessages(tenant.id, { ...search, ...limits });
        return found.kind === 'refused' ? refuseUnread(found.reason) : ok(page(found.value, limit));
      },
    },
  ];
}

type Search = Omit<MessageSearch, 'budgetMs' | 'maxScanned'>;

const PARAMETERS = ['state', 'to', 'from', 'tag', 'created_after', 'created_before', 'after', 'limit'];

function readSearch(query: URLSearchParams): Search | Refusal {
  const unknown = refuseUnknown(query, PARAMETERS);
  if (unknown) return unknown;
  const state = readChoice(query, 'state', MESSAGE_STATES);
  if (isRefusal(state)) return state;
  const [to, from] = [readParty(query, 'to'), readParty(query, 'from')];
  if (isRefusal(to)) return to;
  if (isRefusal(from)) return from;
  const limit = readLimit(query, { max: MAX_LIMIT, byDefault: DEFAULT_LIMIT });
  if (isRefusal(limit)) return limit;
  const place = readPlace(query);
  if (isRefusal(place)) return place;
  const tag = readTag(query);
  if (isRefusal(tag)) return tag;
  return {
    ...(state !== null && { state }),
    ...(to && { recipientDomain: to.domain, ...(to.address !== null && { recipient: to.address }) }),
    ...(from && { senderDomain: from.domain, ...(from.address !== null && { sender: from.address }) }),
    ...(tag && { tag }),
    ...place,
    limit,
  };
}

interface Party {
  /** Null: all of its domain. */
  address: string | null;
  domain: string;
}

/** An address or a domain; null when the parameter is absent. */
function readParty(query: URLSearchParams, name: 'to' | 'from'): Party | null | Refusal {
  const text = query.get(name)?.trim();
  if (!text) return null;
  if (text.includes('@')) {
    const parsed = parseAddress(text);
    if (parsed.ok) return { address: text, domain: parsed.address.asciiDomain };
    return invalid(name, `${parsed.reason[0]!.toLowerCase()}${parsed.reason.slice(1)}${plusAdvice(text)}`);
  }
  const domain = parseDomain(text);
  if (domain.ok) return { address: null, domain: domain.asciiDomain };
  return invalid(name, 'must be an email address, or a domain such as example.com.');
}

type Place = Pick<MessageSearch, 'from' | 'until' | 'olderThan'>;

function readPlace(query: URLSearchParams): Place | Refusal {
  const [from, until] = [readTime(query, 'created_after'), readTime(query, 'created_before')];
  if (isRefusal(from)) return from;
  if (isRefusal(until)) return until;
  if (from !== null && until !== null && from >= until) {
    return invalid('created_after', 'must be before created_before.');
  }
  const after = query.get('after') || null;
  if (after !== null && !isUuid(after)) return invalid('after', 'must be the `next` of an earlier page.');
  return {
    ...(from !== null && { from }),
    ...(until !== null && { until }),
    ...(after !== null && { olderThan: after.toLowerCase() }),
  };
}

function page({ messages, next, stoppedEarly }: MessagePage, limit: number) {
  const isFull = messages.length > limit;
  const shown = messages.slice(0, limit);
  const position = isFull ? shown.at(-1)!.id : next;
  return { emails: shown.map(record), has_more: position !== null, complete: isFull || !stoppedEarly, next: position };
}

function record({ id, submissionId, state, from, recipient, subject, labels, createdAt }: FoundMessage) {
  return {
    id,
    submission_id: submissionId,
    state,
    from,
    to: recipient,
    subject,
    ...givenLabels(labels),
    created_at: toTimestamp(createdAt),
  };
}

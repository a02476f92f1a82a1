// GET /events: what happened to a tenant's messages, in the order in which it was stored.

import { isUuid } from '../../base/ids.ts';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import { eventBody } from '../../events/event-body.ts';
import type { StoreVerbs } from '../../store/store.ts';
import { ok } from '../answer.ts';
import type { Endpoint } from '../endpoint.ts';
import { invalid, readLimit, refuseUnknown } from '../query.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

export function eventEndpoints(store: StoreVerbs<{ events: 'listEvents' }>): Endpoint[] {
  return [
    {
      method: 'GET',
      pattern: '/events',
      scope: null,
      body: 'none',
      async answer({ tenant, query }) {
        const page = readPage(query());
        if (isRefusal(page)) return page;
        // One more than asked for tells whether there is more.
        const found = await store.events.listEvents(tenant.id, { after: page.after, limit: page.limit + 1 });
        if (found === 'unknown') return invalid('after', NOT_FOUND);
        return ok({ events: found.slice(0, page.limit).map(eventBody), has_more: found.length > page.limit });
      },
    },
  ];
}

const NOT_FOUND = 'event not found. Start again without after, and skip the events whose id you have seen.';

interface Page {
  after: string | null;
  limit: number;
}

function readPage(query: URLSearchParams): Page | Refusal {
  const unknown = refuseUnknown(query, ['after', 'limit']);
  if (unknown) return unknown;
  const after = query.get('after') || null;
  if (after !== null && !isUuid(after)) return invalid('after', 'must be an event ID (a UUID).');
  const limit = readLimit(query, { max: MAX_LIMIT, byDefault: DEFAULT_LIMIT });
  return isRefusal(limit) ? limit : { after: after?.toLowerCase() ?? null, limit };
}

// GET /events: what happened to a tenant's messages, in the order in which it was stored.

import { type Clock, DAY_MS, HOUR_MS } from '../../base/clock.ts';
import { isUuid, timeOfId } from '../../base/ids.ts';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import { eventBody } from '../../events/event-body.ts';
import type { StoredEvent } from '../../store/events.ts';
import type { StoreVerbs } from '../../store/store.ts';
import { ok } from '../answer.ts';
import type { Endpoint } from '../endpoint.ts';
import { invalid, readLimit, refuseUnknown } from '../query.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/** Retention goes by the time when a message finished, which the ID of its event can be a little ahead of. */
const AHEAD_MS = HOUR_MS;

export interface EventParts {
  store: StoreVerbs<{ events: 'listEvents' }>;
  clock: Clock;
  /** How long events are kept after their messages have finished. */
  recordsDays: number;
}

export function eventEndpoints(parts: EventParts): Endpoint[] {
  return [
    {
      method: 'GET',
      pattern: '/events',
      scope: null,
      body: 'none',
      async answer({ tenant, query }) {
        const page = readPage(query);
        if (isRefusal(page)) return page;
        // One more than asked for tells whether there is more.
        const found = await eventsAfter(parts, tenant.id, { after: page.after, limit: page.limit + 1 });
        if (found === 'unknown') return invalid('after', NOT_FOUND);
        return ok({ events: found.slice(0, page.limit).map(eventBody), has_more: found.length > page.limit });
      },
    },
  ];
}

const NOT_FOUND = 'event not found. Start again without after, and skip the events whose id you have seen.';

/**
 * A cursor that is older than what retention keeps was the ID of an event once. Everything that is kept came after it, or
 * was seen before: the feed goes on from the oldest event, so that a consumer that had nothing to read for long isn't
 * stuck.
 */
async function eventsAfter({ store, clock, recordsDays }: EventParts, tenantId: string, page: Page) {
  const found: StoredEvent[] | 'unknown' = await store.events.listEvents(tenantId, page);
  if (found !== 'unknown' || page.after === null) return found;
  const at = timeOfId(page.after);
  if (at === null || at > clock.now() - recordsDays * DAY_MS + AHEAD_MS) return 'unknown';
  return store.events.listEvents(tenantId, { after: null, limit: page.limit });
}

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

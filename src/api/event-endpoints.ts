// GET /events: what happened to a tenant's messages, in the order in which it was stored.

import { isUuid } from '../base/ids.ts';
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import { eventBody } from '../events/event-body.ts';
import type { StoreVerbs } from '../store/store.ts';
import { ok } from './answer.ts';
import type { Endpoint } from './endpoint.ts';

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
        const page = readPage(query);
        if (isRefusal(page)) return page;
        // One more than asked for tells whether there is more.
        const found = await store.events.listEvents(tenant.id, { after: page.after, limit: page.limit + 1 });
        if (found === 'unknown') return invalid('after: event not found.');
        return ok({ events: found.slice(0, page.limit).map(eventBody), has_more: found.length > page.limit });
      },
    },
  ];
}

interface Page {
  after: string | null;
  limit: number;
}

function readPage(query: URLSearchParams): Page | Refusal {
  for (const name of query.keys()) {
    if (name !== 'after' && name !== 'limit') return invalid(`${name.slice(0, 60)}: unknown parameter.`);
    if (query.getAll(name).length > 1) return invalid(`${name}: must be given only once.`);
  }
  // An empty parameter counts as absent, like null in a body.
  const after = query.get('after') || null;
  const limit = query.get('limit') || String(DEFAULT_LIMIT);
  if (after !== null && !isUuid(after)) return invalid('after: must be an event ID (a UUID).');
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT) {
    return invalid(`limit: must be an integer from 1 to ${MAX_LIMIT}.`);
  }
  return { after: after?.toLowerCase() ?? null, limit: Number(limit) };
}

function invalid(message: string): Refusal {
  return refuse('validation_failed', message);
}

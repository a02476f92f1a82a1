// What a webhook was sent: POST /webhooks/{id}/test, GET /webhooks/{id}/deliveries,
// POST /webhooks/{id}/deliveries/{event_id}/replay.
import { type Clock, toTimestamp } from '../../base/clock.ts';
import { unreachable } from '../../base/errors.ts';
import { isUuid } from '../../base/ids.ts';
import { isRefusal, type Refusal, refuse } from '../../base/refusals.ts';
import type { StoreVerbs } from '../../store/store.ts';
import {
  DELIVERY_STATES,
  type DeliveryPosition,
  type DeliverySearch,
  type DeliveryView,
  type FoundDeliveries,
} from '../../store/webhooks.ts';
import type { TestSender } from '../../webhooks/test-sender.ts';
import { webhookNotFound } from '../../webhooks/webhooks.ts';
import { ok } from '../answer.ts';
import type { Endpoint } from '../endpoint.ts';
import { invalid, readChoice, readLimit, refuseUnknown } from '../query.ts';

/** An entry can have 4 KiB of the endpoint's answer. */
const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 25;

export interface WebhookDeliveryParts {
  clock: Clock;
  store: StoreVerbs<{ webhooks: 'listWebhookDeliveries' | 'replayDelivery' }>;
  webhookTests: Pick<TestSender, 'send'>;
}

export function webhookDeliveryEndpoints(parts: WebhookDeliveryParts): Endpoint[] {
  const { webhooks } = parts.store;
  return [
    testEndpoint(parts),
    {
      method: 'GET',
      pattern: '/webhooks/:id/deliveries',
      scope: null,
      body: 'none',
      async answer({ tenant, id, query }) {
        const search = readSearch(query());
        if (isRefusal(search)) return search;
        const found = await webhooks.listWebhookDeliveries(tenant.id, { webhookId: id, ...search });
        if (found === null) return webhookNotFound();
        return found === 'unknown'
          ? invalid('after', 'the event of this position was erased; start anew.')
          : ok(page(found));
      },
    },
    {
      method: 'POST',
      pattern: '/webhooks/:id/deliveries/:event_id/replay',
      scope: 'webhooks:write',
      body: 'none',
      async answer({ tenant, id, params, audit }) {
        const eventId = params.event_id!;
        const target = { webhookId: id, eventId };
        const outcome = await webhooks.replayDelivery(tenant.id, target, parts.clock.now());
        switch (outcome) {
          case 'no_webhook':
            return webhookNotFound();
          case 'no_event':
            return refuse('event_not_found', 'Event not found. Old events are erased together with their messages.');
          case 'under_way':
            return refuse('webhook_busy', 'The event is being sent right now. Retry if that fails.');
          case 'due':
            await audit('webhook.event_replayed', { webhook_id: id, event_id: eventId });
            return { status: 202, body: { webhook_id: id, event_id: eventId, state: 'due' } };
          default:
            return unreachable(outcome);
        }
      },
    },
  ];
}

function testEndpoint({ webhookTests }: WebhookDeliveryParts): Endpoint {
  return {
    method: 'POST',
    pattern: '/webhooks/:id/test',
    scope: 'webhooks:write',
    body: 'none',
    async answer({ tenant, id, audit }) {
      const result = await webhookTests.send(tenant.id, id);
      if (isRefusal(result)) return webhookNotFound();
      if ('busy' in result) return refuse('webhook_busy', result.busy);
      const { accepted, status, reason, answer, elapsedMs } = result;
      await audit('webhook.tested', { webhook_id: id, taken: accepted, status });
      return ok({ accepted, status, reason, answer, elapsed_ms: elapsedMs });
    },
  };
}

function readSearch(query: URLSearchParams): Omit<DeliverySearch, 'webhookId'> | Refusal {
  const unknown = refuseUnknown(query, ['state', 'after', 'limit']);
  if (unknown) return unknown;
  const state = readChoice(query, 'state', DELIVERY_STATES);
  if (isRefusal(state)) return state;
  const after = readPosition(query.get('after') || null);
  if (isRefusal(after)) return after;
  const limit = readLimit(query, { max: MAX_LIMIT, byDefault: DEFAULT_LIMIT });
  return isRefusal(limit) ? limit : { state, after, limit };
}

/** `<milliseconds>.<event ID>`, as `cursorOf` writes it. */
function readPosition(text: string | null): DeliveryPosition | null | Refusal {
  if (text === null) return null;
  const [, at = '', eventId = ''] = /^(\d{1,15})\.(.*)$/.exec(text) ?? [];
  if (!isUuid(eventId)) return invalid('after', 'must be the `next` of an earlier page.');
  return { at: Number(at), eventId: eventId.toLowerCase() };
}

function cursorOf({ at, eventId }: DeliveryPosition): string {
  return `${at}.${eventId}`;
}

function page({ deliveries, next }: FoundDeliveries) {
  return { deliveries: deliveries.map(record), has_more: next !== null, next: next && cursorOf(next) };
}

function record({ eventId, eventType, state, attempts, dueAt, finishedAt, lastAttempt }: DeliveryView) {
  return {
    event_id: eventId,
    type: eventType,
    state,
    attempts,
    next_attempt_at: dueAt === null ? null : toTimestamp(dueAt),
    finished_at: finishedAt === null ? null : toTimestamp(finishedAt),
    last_attempt: lastAttempt && {
      number: lastAttempt.number,
      started_at: toTimestamp(lastAttempt.startedAt),
      elapsed_ms: lastAttempt.elapsedMs,
      status: lastAttempt.status,
      reason: lastAttempt.reason,
      answer: lastAttempt.answer,
    },
  };
}

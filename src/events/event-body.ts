// An event as webhooks and the feed show it: one shape for all types.
import { toTimestamp } from '../base/clock.ts';
import type { StoredEvent } from '../store/events.ts';
import { EVENT_TYPES } from './event-types.ts';

export interface EventBody {
  id: string;
  type: string;
  family: string;
  timestamp: string;
  data: Record<string, unknown>;
}

export function eventBody(event: StoredEvent): EventBody {
  const { family } = EVENT_TYPES[event.type];
  return { id: event.id, type: event.type, family, timestamp: toTimestamp(event.at), data: event.data };
}

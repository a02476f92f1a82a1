// Contract: events, one per fact in a message's life, in the order of their commits.

export type EventType =
  | 'email.delivered'
  | 'email.deferred'
  | 'email.bounced'
  | 'email.failed'
  | 'email.canceled'
  | 'email.complained'
  | 'email.opened'
  | 'email.clicked';

export type EventFamily = 'delivery' | 'bounce' | 'complaint' | 'open';

/** As the interface specification groups them. */
export const FAMILY_OF: Readonly<Record<EventType, EventFamily>> = {
  'email.delivered': 'delivery',
  'email.deferred': 'delivery',
  'email.bounced': 'bounce',
  'email.failed': 'bounce',
  'email.canceled': 'delivery',
  'email.complained': 'complaint',
  'email.opened': 'open',
  'email.clicked': 'open',
};

export interface NewEvent {
  id: string;
  type: EventType;
  at: number;
  /** As webhooks and the feed show it. */
  data: Record<string, unknown>;
}

export interface StoredEvent extends NewEvent {
  tenantId: string;
  messageId: string;
}

export interface EventStore {
  eventsOfMessage(tenantId: string, messageId: string): Promise<StoredEvent[]>;
  /**
   * In the order of commits, after the event with the ID `after`; 'unknown' when there was no such event, or it was erased
   * and so was one after it. (The last one that is old enough to be erased is known for ever.)
   */
  listEvents(tenantId: string, page: { after: string | null; limit: number }): Promise<StoredEvent[] | 'unknown'>;
}

// Contract: events, one per fact in a message's life, in the order of their commits.

export type EventType =
  | 'email.delivered'
  | 'email.deferred'
  | 'email.bounced'
  | 'email.failed'
  | 'email.complained'
  | 'email.opened'
  | 'email.clicked';

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
  /** In the order of commits, after the event with the ID `after`; 'unknown' when that event doesn't exist. */
  listEvents(tenantId: string, page: { after: string | null; limit: number }): Promise<StoredEvent[] | 'unknown'>;
}

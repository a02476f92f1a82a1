// Events. Their numbers are assigned by the insert, in the order of commits.

import { type EventStore, type EventType, FAMILY_OF, type NewEvent, type StoredEvent } from '../../../events.ts';
import type { EventChoice } from '../../../webhooks.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { placeOf } from './erased-events.ts';

export function eventVerbs(db: Transaction): Work<EventStore> {
  return {
    *eventsOfMessage(tenantId, messageId) {
      const rows = db.sql('SELECT * FROM events WHERE tenant_id = +? AND message_id = +? ORDER BY seq');
      return ((yield* rows.all(toId(tenantId), toId(messageId))) as Row[]).map(eventFromRow);
    },
    listEvents: (tenantId, page) => listEvents(db, tenantId, page),
  };
}

/**
 * For verbs that record a fact: in the same transaction as the change that it describes, together with deliveries to
 * all webhooks that the tenant has at this time and that want this type of event.
 */
export function* insertEvent(
  db: Transaction,
  of: { tenantId: string; messageId: string },
  event: NewEvent,
): Steps<void> {
  const tenant = toId(of.tenantId);
  const insert = db.sql(
    'INSERT INTO events (id, tenant_id, message_id, type, at, data) VALUES (+?, +?, +?, +?, +?, +?) RETURNING seq',
    'assigned',
  );
  const data = JSON.stringify(event.data);
  yield* db.beginEvents();
  const seq = (yield* insert.get(toId(event.id), tenant, toId(of.messageId), event.type, event.at, data)) as number;
  // Most tenants have no webhook, and many events are wanted by none: that must not cost a query for each.
  const listeners = yield* db.cached(`webhooks ${of.tenantId}`, () => listenersOf(db, tenant));
  const wanting = listeners.filter((listener) => wants(listener, event.type)).map(({ id }) => id);
  if (wanting.length === 0) return;
  yield* db.forAll(wanting, (id) => insertDelivery(db, tenant, { id, seq, at: event.at }));
  db.dueNotices.note(wanting);
}

function* insertDelivery(
  db: Transaction,
  tenant: Buffer,
  delivery: { id: Buffer; seq: number; at: number },
): Steps<void> {
  yield* db
    .sql(
      `INSERT INTO webhook_deliveries (webhook_id, event_seq, tenant_id, state, attempts, due_at)
     VALUES (+?, +?, +?, 'due', 0, +?)`,
    )
    .run(delivery.id, delivery.seq, tenant, delivery.at);
}

interface Listener {
  id: Buffer;
  /** Null: every event. */
  events: ReadonlySet<EventChoice> | null;
}

function wants({ events }: Listener, type: EventType): boolean {
  return events === null || events.has(type) || events.has(FAMILY_OF[type]);
}

function* listenersOf(db: Transaction, tenant: Buffer): Steps<Listener[]> {
  const rows = (yield* db.sql('SELECT id, events FROM webhooks WHERE tenant_id = +?').all(tenant)) as Row[];
  return rows.map((row) => {
    const events = eventsFromColumn(row.events);
    return { id: row.id as Buffer, events: events && new Set(events) };
  });
}

function* listEvents(
  db: Transaction,
  tenantId: string,
  page: { after: string | null; limit: number },
): Steps<StoredEvent[] | 'unknown'> {
  const afterSeq = page.after === null ? 0 : yield* placeOf(db, tenantId, page.after);
  if (afterSeq === null) return 'unknown';
  const rows = db.sql('SELECT * FROM events WHERE tenant_id = +? AND seq > +? ORDER BY seq LIMIT +?');
  return ((yield* rows.all(toId(tenantId), afterSeq, page.limit)) as Row[]).map(eventFromRow);
}

/** From a row with the columns of events. */
export function eventFromRow(row: Row): StoredEvent {
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    messageId: fromId(row.message_id),
    type: row.type as StoredEvent['type'],
    at: row.at as number,
    data: JSON.parse(row.data as string) as Record<string, unknown>,
  };
}

/** Null: every event. */
export function eventsFromColumn(column: Row[string]): EventChoice[] | null {
  return column === null ? null : (JSON.parse(column as string) as EventChoice[]);
}

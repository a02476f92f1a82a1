// Erasing the events of a message. Who reads the feed names the last event that they have seen, which may be erased before
// they come again: its place in the order is kept while they can have missed nothing by that, or only what is young.

import type { Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';
import { toId } from '../../values.ts';

interface ErasedEvent {
  seq: number;
  id: Buffer;
  at: number;
  tenant: Buffer;
}

/** With their webhook deliveries. What happened by then is old enough to be erased. */
export function* eraseEvents(db: Transaction, message: Buffer, before: number): Steps<void> {
  const read = db.sql('SELECT seq, id, at, tenant_id AS tenant FROM events WHERE message_id = +? ORDER BY seq');
  const events = (yield* read.all(message)) as unknown as ErasedEvent[];
  const lastOld = events.findLast(({ at }) => at <= before);
  if (lastOld) yield* forgetPlacesBefore(db, lastOld);
  for (const event of events) {
    if (event.seq >= (lastOld?.seq ?? 0)) yield* keepPlace(db, event, before);
    yield* eraseDeliveries(db, event);
    yield* db.sql('DELETE FROM events WHERE seq = +?').run(event.seq);
  }
}

/** Whoever has read no further than to one of these has missed an old event. */
function* forgetPlacesBefore(db: Transaction, { tenant, seq }: ErasedEvent): Steps<void> {
  yield* db.sql('DELETE FROM erased_events WHERE tenant_id = +? AND seq < +?').run(tenant, seq);
}

/** Unless what came next is old. */
function* keepPlace(db: Transaction, { tenant, seq, id }: ErasedEvent, before: number): Steps<void> {
  const next = db.sql('SELECT at FROM events WHERE tenant_id = +? AND seq > +? ORDER BY seq LIMIT 1', 'column');
  const nextAt = (yield* next.get(tenant, seq)) as number | undefined;
  if (nextAt !== undefined && nextAt <= before) return;
  yield* db.sql('INSERT INTO erased_events (tenant_id, seq, event_id) VALUES (+?, +?, +?)').run(tenant, seq, id);
}

/** A tenant has few webhooks, and the key of deliveries begins with the webhook. */
function* eraseDeliveries(db: Transaction, { seq, tenant }: ErasedEvent): Steps<void> {
  const webhooks = (yield* db.sql('SELECT id FROM webhooks WHERE tenant_id = +?', 'column').all(tenant)) as Buffer[];
  for (const webhook of webhooks) {
    yield* db.sql('DELETE FROM webhook_attempts WHERE webhook_id = +? AND event_seq = +?').run(webhook, seq);
    yield* db.sql('DELETE FROM webhook_deliveries WHERE webhook_id = +? AND event_seq = +?').run(webhook, seq);
  }
}

/** Where an event stands in the order of its tenant's, also if it was erased; null when it is unknown. */
export function* placeOf(db: Transaction, tenantId: string, eventId: string): Steps<number | null> {
  const tenant = toId(tenantId);
  const id = toId(eventId);
  const stored = db.sql('SELECT seq FROM events WHERE tenant_id = +? AND id = +?', 'column');
  const seq = (yield* stored.get(tenant, id)) as number | undefined;
  if (seq !== undefined) return seq;
  const erased = db.sql('SELECT seq FROM erased_events WHERE tenant_id = +? AND event_id = +?', 'column');
  return ((yield* erased.get(tenant, id)) as number | undefined) ?? null;
}

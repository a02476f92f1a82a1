// Erasing the events of messages. Who reads the feed names the last event that they have seen, which may be erased before
// they come again: its place in the order is kept while they can have missed nothing by that, or only what is young.

import type { Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';
import { fromId, toId } from '../../values.ts';

interface ErasedEvent {
  seq: number;
  id: Buffer;
  at: number;
  tenant: Buffer;
}

/** With their webhook deliveries. What happened by then is old enough to be erased. */
export function* eraseEvents(db: Transaction, messages: readonly Buffer[], before: number): Steps<void> {
  const read = db.sql('SELECT seq, id, at, tenant_id AS tenant FROM events WHERE message_id = +? ORDER BY seq');
  const found = yield* db.forAll(messages, (message) => read.all(message) as Steps<ErasedEvent[]>);
  const events = found.flat().sort((one, other) => one.seq - other.seq);
  const tenants = Map.groupBy(events, ({ tenant }) => fromId(tenant));
  yield* db.forAll([...tenants.values()], (ofTenant) => eraseEventsOfTenant(db, ofTenant, before));
}

/** In the order of the feed. */
function* eraseEventsOfTenant(db: Transaction, events: readonly ErasedEvent[], before: number): Steps<void> {
  const lastOld = events.findLast(({ at }) => at <= before);
  if (lastOld) yield* forgetPlacesBefore(db, lastOld);
  const last = events.filter(({ seq }) => seq >= (lastOld?.seq ?? 0));
  yield* db.forAll(last, (event) => keepPlace(db, event, before));
  yield* eraseDeliveries(db, events);
  yield* db.forAll(events, ({ seq }) => db.sql('DELETE FROM events WHERE seq = +?').run(seq));
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
function* eraseDeliveries(db: Transaction, events: readonly ErasedEvent[]): Steps<void> {
  const { tenant } = events[0]!;
  const webhooks = (yield* db.sql('SELECT id FROM webhooks WHERE tenant_id = +?', 'column').all(tenant)) as Buffer[];
  const deliveries = webhooks.flatMap((webhook) => events.map(({ seq }) => [webhook, seq] as const));
  yield* db.forAll(deliveries, function* (delivery) {
    yield* db.sql('DELETE FROM webhook_attempts WHERE webhook_id = +? AND event_seq = +?').run(...delivery);
    yield* db.sql('DELETE FROM webhook_deliveries WHERE webhook_id = +? AND event_seq = +?').run(...delivery);
  });
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

// Events in SQLite. seq is assigned by the insert; with one writer that is the order of commits.
import type { EventStore, NewEvent, StoredEvent } from '../../events.ts';
import type { Transaction, Work } from '../engine/connection.ts';
import { fromId, type Row, toId } from '../engine/values.ts';

export function eventVerbs(db: Transaction): Work<EventStore> {
  return {
    eventsOfMessage: (tenantId, messageId) => {
      const rows = db.sql('SELECT * FROM events WHERE tenant_id = +? AND message_id = +? ORDER BY seq');
      return (rows.all(toId(tenantId), toId(messageId)) as Row[]).map(eventFromRow);
    },
    listEvents: (tenantId, page) => listEvents(db, tenantId, page),
  };
}

/**
 * For verbs that record a fact: in the same transaction as the change that it describes, together with deliveries to
 * all webhooks that the tenant has at this time.
 */
export function insertEvent(db: Transaction, of: { tenantId: string; messageId: string }, event: NewEvent): void {
  const tenant = toId(of.tenantId);
  const insert = db.sql(
    'INSERT INTO events (id, tenant_id, message_id, type, at, data) VALUES (+?, +?, +?, +?, +?, +?)',
  );
  const data = JSON.stringify(event.data);
  const { lastInsertRowid: seq } = insert.run(
    ...[toId(event.id), tenant, toId(of.messageId), event.type, event.at, data],
  );
  // Most tenants have no webhook: that must not cost a query for each event.
  const webhooks = db.cached(`webhooks ${of.tenantId}`, () => webhookIds(db, tenant));
  if (webhooks.length === 0) return;
  const due = db.sql(
    `INSERT INTO webhook_deliveries (webhook_id, event_seq, tenant_id, state, attempts, due_at)
     SELECT id, +@seq, tenant_id, 'due', 0, +@at FROM webhooks WHERE tenant_id = +@tenant`,
  );
  due.run({ tenant, seq, at: event.at });
  db.dueNotices.note(webhooks);
}

function webhookIds(db: Transaction, tenant: Buffer): Buffer[] {
  const rows = db.sql('SELECT id FROM webhooks WHERE tenant_id = +?').all(tenant) as Row[];
  return rows.map((row) => row.id as Buffer);
}

function listEvents(
  db: Transaction,
  tenantId: string,
  page: { after: string | null; limit: number },
): StoredEvent[] | 'unknown' {
  let afterSeq = 0;
  if (page.after !== null) {
    const cursor = db.sql('SELECT seq FROM events WHERE tenant_id = +? AND id = +?');
    const row = cursor.get(toId(tenantId), toId(page.after)) as { seq: number } | undefined;
    if (!row) return 'unknown';
    afterSeq = row.seq;
  }
  const rows = db.sql('SELECT * FROM events WHERE tenant_id = +? AND seq > +? ORDER BY seq LIMIT +?');
  return (rows.all(toId(tenantId), afterSeq, page.limit) as Row[]).map(eventFromRow);
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

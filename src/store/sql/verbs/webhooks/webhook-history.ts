// Attempts to deliver events to webhooks, for people to read: by time, of one event,
// or the last ones of deliveries that wait or have failed.

import type {
  AttemptFilter,
  AttemptName,
  AttemptView,
  ReplayOutcome,
  WebhookDeliveryStore,
} from '../../../webhooks.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { eventFromRow } from '../message/events.ts';

export function attemptVerbs(
  db: Transaction,
): Work<Pick<WebhookDeliveryStore, 'listWebhookAttempts' | 'findWebhookAttempt'>> {
  return {
    listWebhookAttempts: (tenantId, filter) => listAttempts(db, tenantId, filter),
    findWebhookAttempt: (tenantId, webhookId, attempt) => findAttempt(db, { tenantId, webhookId }, attempt),
  };
}

function* hasWebhook(db: Transaction, tenant: Buffer, webhook: Buffer): Steps<boolean> {
  return (yield* db.sql('SELECT 1 FROM webhooks WHERE tenant_id = +? AND id = +?').get(tenant, webhook)) !== undefined;
}

/** Deliveries without an attempt are skipped, which must not take long where very many wait. */
const MAX_SCANNED = 1000;

const COLUMNS = `a.webhook_id, e.id AS event_id, e.type, a.number, a.started_at, a.elapsed_ms, a.status, a.reason,
  a.answer, a.next_at, d.state`;
const ATTEMPTS = `SELECT ${COLUMNS} FROM webhook_attempts a JOIN events e ON e.seq = a.event_seq
  JOIN webhook_deliveries d ON d.webhook_id = a.webhook_id AND d.event_seq = a.event_seq`;
const NEWEST = 'ORDER BY a.started_at DESC, a.event_seq DESC, a.number DESC LIMIT +@limit';

function* listAttempts(db: Transaction, tenantId: string, filter: AttemptFilter): Steps<AttemptView[]> {
  const { webhookId, eventId, limit, state, after } = filter;
  const of = { tenant: toId(tenantId), webhook: toId(webhookId), limit };
  if (!(yield* hasWebhook(db, of.tenant, of.webhook))) return [];
  if (state !== undefined) return yield* lastAttempts(db, of, state);
  if (eventId !== null) {
    const ofEvent = db.sql(
      `${ATTEMPTS} WHERE a.tenant_id = +@tenant AND a.webhook_id = +@webhook
         AND a.event_seq = (SELECT seq FROM events WHERE tenant_id = +@tenant AND id = +@event)
       ORDER BY a.number DESC LIMIT +@limit`,
    );
    return ((yield* ofEvent.all({ ...of, event: toId(eventId) })) as Row[]).map(attemptFromRow);
  }
  if (after === undefined) {
    const newest = db.sql(`${ATTEMPTS} WHERE a.tenant_id = +@tenant AND a.webhook_id = +@webhook ${NEWEST}`);
    return ((yield* newest.all(of)) as Row[]).map(attemptFromRow);
  }
  const position = yield* positionOf(db, of, after);
  if (!position) return [];
  const older = db.sql(
    `${ATTEMPTS} WHERE a.tenant_id = +@tenant AND a.webhook_id = +@webhook
       AND (a.started_at, a.event_seq, a.number) < (+@startedAt, +@seq, +@number) ${NEWEST}`,
  );
  return ((yield* older.all({ ...of, ...position })) as Row[]).map(attemptFromRow);
}

interface Of {
  tenant: Buffer;
  webhook: Buffer;
  limit: number;
}

function* positionOf(db: Transaction, { tenant, webhook }: Of, { eventId, number }: AttemptName) {
  const position = db.sql(
    `SELECT started_at AS "startedAt", event_seq AS seq, number FROM webhook_attempts
     WHERE webhook_id = +? AND number = +? AND tenant_id = +?
       AND event_seq = (SELECT seq FROM events WHERE tenant_id = +? AND id = +?)`,
  );
  const row = yield* position.get(webhook, number, tenant, tenant, toId(eventId));
  return row as { startedAt: number; seq: number; number: number } | undefined;
}

function* lastAttempts(db: Transaction, of: Of, state: NonNullable<AttemptFilter['state']>): Steps<AttemptView[]> {
  // An attempt in progress is counted already, but not recorded.
  const [which, order] =
    state === 'due'
      ? ['due_at IS NOT NULL', 'd.due_at, d.event_seq']
      : [`state = 'failed'`, 'd.finished_at DESC, d.event_seq DESC'];
  const last = db.sql(
    `SELECT ${COLUMNS}
     FROM (SELECT * FROM webhook_deliveries d WHERE d.webhook_id = +@webhook AND d.${which} ORDER BY ${order} LIMIT +@max) d
     JOIN webhook_attempts a ON a.webhook_id = d.webhook_id AND a.event_seq = d.event_seq AND a.number = d.attempts - d.leased
     JOIN events e ON e.seq = d.event_seq
     WHERE a.tenant_id = +@tenant ORDER BY ${order} LIMIT +@limit`,
  );
  return ((yield* last.all({ ...of, max: Math.max(of.limit, MAX_SCANNED) })) as Row[]).map(attemptFromRow);
}

function* findAttempt(
  db: Transaction,
  of: { tenantId: string; webhookId: string },
  { eventId, number }: AttemptName,
): Steps<{ attempt: AttemptView; event: ReturnType<typeof eventFromRow> } | null> {
  const tenant = toId(of.tenantId);
  const found = db.sql(
    `SELECT ${COLUMNS}, e.tenant_id, e.message_id, e.at, e.data FROM events e
     JOIN webhook_attempts a ON a.event_seq = e.seq AND a.webhook_id = +@webhook AND a.number = +@number
     JOIN webhook_deliveries d ON d.webhook_id = a.webhook_id AND d.event_seq = a.event_seq
     WHERE e.tenant_id = +@tenant AND e.id = +@event AND a.tenant_id = +@tenant`,
  );
  const row = (yield* found.get({ tenant, webhook: toId(of.webhookId), event: toId(eventId), number })) as
    | Row
    | undefined;
  if (!row) return null;
  return { attempt: attemptFromRow(row), event: eventFromRow({ ...row, id: row.event_id }) };
}

function attemptFromRow(row: Row): AttemptView {
  return {
    webhookId: fromId(row.webhook_id),
    eventId: fromId(row.event_id),
    eventType: row.type as string,
    number: row.number as number,
    startedAt: row.started_at as number,
    elapsedMs: row.elapsed_ms as number,
    status: row.status as number | null,
    reason: row.reason as string,
    answer: row.answer as string | null,
    nextAt: row.next_at as number | null,
    state: row.state as AttemptView['state'],
  };
}

// Replaying deliveries, and erasing those of deleted webhooks. Old deliveries are erased with the messages
// of their events (retention.ts).

type ReplayVerbs = Work<Pick<WebhookDeliveryStore, 'replayDelivery' | 'replayFailed' | 'forgetDeletedWebhooks'>>;

export function replayVerbs(db: Transaction): ReplayVerbs {
  return {
    replayDelivery: (tenantId, target, at) => replay(db, { tenantId, ...target }, at),
    replayFailed: (tenantId, target, at) => replayFailed(db, { tenantId, ...target }, at),
    forgetDeletedWebhooks: (limit) => forgetDeleted(db, limit),
  };
}

function* replay(
  db: Transaction,
  target: { tenantId: string; webhookId: string; eventId: string },
  at: number,
): Steps<ReplayOutcome> {
  const [tenant, webhook] = [toId(target.tenantId), toId(target.webhookId)];
  if (!(yield* hasWebhook(db, tenant, webhook))) return 'no_webhook';
  const event = (yield* db
    .sql('SELECT seq FROM events WHERE tenant_id = +? AND id = +?')
    .get(tenant, toId(target.eventId))) as { seq: number } | undefined;
  if (!event) return 'no_event';
  // An event from before the webhook was registered gets a delivery, too, so that a new endpoint can catch up.
  const restart = db.sql(
    `INSERT INTO webhook_deliveries (webhook_id, event_seq, tenant_id, state, attempts, due_at)
     VALUES (+@webhook, +@seq, +@tenant, 'due', 0, +@at)
     ON CONFLICT (webhook_id, event_seq) DO UPDATE
     SET state = 'due', attempts_before = webhook_deliveries.attempts, due_at = excluded.due_at, finished_at = NULL
     WHERE webhook_deliveries.leased = 0`,
  );
  if ((yield* restart.run({ webhook, seq: event.seq, tenant, at })).changes === 0) return 'under_way';
  db.dueNotices.note([webhook]);
  return 'due';
}

function* replayFailed(
  db: Transaction,
  target: { tenantId: string; webhookId: string; since: number; limit: number },
  at: number,
): Steps<number> {
  const [tenant, webhook] = [toId(target.tenantId), toId(target.webhookId)];
  if (!(yield* hasWebhook(db, tenant, webhook))) return 0;
  const restart = db.sql(
    `UPDATE webhook_deliveries SET state = 'due', attempts_before = attempts, due_at = +@at, finished_at = NULL
     WHERE webhook_id = +@webhook AND event_seq IN (
       SELECT event_seq FROM webhook_deliveries
       WHERE webhook_id = +@webhook AND state = 'failed' AND finished_at >= +@since ORDER BY finished_at LIMIT +@limit)`,
  );
  const { changes } = yield* restart.run({ webhook, since: target.since, limit: target.limit, at });
  if (changes > 0) db.dueNotices.note([webhook]);
  return changes;
}

function* forgetDeleted(db: Transaction, limit: number): Steps<number> {
  const gone = (yield* db.sql('SELECT id FROM deleted_webhooks LIMIT 1').get()) as Row | undefined;
  if (!gone) return 0;
  for (const table of ['webhook_attempts', 'webhook_deliveries']) {
    const order = table === 'webhook_attempts' ? 'event_seq, number' : 'event_seq';
    const erase = db.sql(
      `DELETE FROM ${table} WHERE webhook_id = +@id AND (${order}) IN
         (SELECT ${order} FROM ${table} WHERE webhook_id = +@id ORDER BY ${order} LIMIT +@limit)`,
    );
    const { changes } = yield* erase.run({ id: gone.id, limit });
    if (changes > 0) return changes;
  }
  return (yield* db.sql('DELETE FROM deleted_webhooks WHERE id = +?').run(gone.id)).changes;
}

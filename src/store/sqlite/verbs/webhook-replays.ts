// What people do with deliveries in SQLite: replaying; and erasing what deleted webhooks leave
// behind. Old deliveries go with the messages of their events (retention.ts).
import type { DeliveryStore, ReplayOutcome } from '../../webhook-deliveries.ts';
import type { Connection } from '../engine/connection.ts';
import { type Row, toId } from '../engine/values.ts';
import { hasWebhook } from './webhook-attempts.ts';

type ReplayVerbs = Pick<DeliveryStore, 'replayDelivery' | 'replayFailed' | 'forgetDeletedWebhooks'>;

export function replayVerbs(db: Connection): ReplayVerbs {
  return {
    replayDelivery: (tenantId, target, at) => db.writeMail(() => replay(db, { tenantId, ...target }, at)),
    replayFailed: (tenantId, target, at) => db.writeMail(() => replayFailed(db, { tenantId, ...target }, at)),
    forgetDeletedWebhooks: (limit) => db.writeMail(() => forgetDeleted(db, limit)),
  };
}

function replay(
  db: Connection,
  target: { tenantId: string; webhookId: string; eventId: string },
  at: number,
): ReplayOutcome {
  const [tenant, webhook] = [toId(target.tenantId), toId(target.webhookId)];
  if (!hasWebhook(db, tenant, webhook)) return 'no_webhook';
  const event = db.sql('SELECT seq FROM events WHERE tenant_id = ? AND id = ?').get(tenant, toId(target.eventId)) as
    | { seq: number }
    | undefined;
  if (!event) return 'no_event';
  // An event from before the webhook was registered gets a delivery, too: that is how a new endpoint catches up.
  const anew = db.sql(
    `INSERT INTO webhook_deliveries (webhook_id, event_seq, tenant_id, state, attempts, due_at)
     VALUES (@webhook, @seq, @tenant, 'due', 0, @at)
     ON CONFLICT (webhook_id, event_seq) DO UPDATE
     SET state = 'due', attempts_before = attempts, due_at = excluded.due_at, finished_at = NULL WHERE leased = 0`,
  );
  if (anew.run({ webhook, seq: event.seq, tenant, at }).changes === 0) return 'under_way';
  db.dueNotices.note([webhook]);
  return 'due';
}

function replayFailed(
  db: Connection,
  target: { tenantId: string; webhookId: string; since: number; limit: number },
  at: number,
): number {
  const [tenant, webhook] = [toId(target.tenantId), toId(target.webhookId)];
  if (!hasWebhook(db, tenant, webhook)) return 0;
  const anew = db.sql(
    `UPDATE webhook_deliveries SET state = 'due', attempts_before = attempts, due_at = @at, finished_at = NULL
     WHERE webhook_id = @webhook AND event_seq IN (
       SELECT event_seq FROM webhook_deliveries
       WHERE webhook_id = @webhook AND state = 'failed' AND finished_at >= @since ORDER BY finished_at LIMIT @limit)`,
  );
  const { changes } = anew.run({ webhook, since: target.since, limit: target.limit, at });
  if (changes > 0) db.dueNotices.note([webhook]);
  return changes;
}

function forgetDeleted(db: Connection, limit: number): number {
  const gone = db.sql('SELECT id FROM deleted_webhooks LIMIT 1').get() as Row | undefined;
  if (!gone) return 0;
  for (const table of ['webhook_attempts', 'webhook_deliveries']) {
    const order = table === 'webhook_attempts' ? 'event_seq, number' : 'event_seq';
    const erase = db.sql(
      `DELETE FROM ${table} WHERE webhook_id = @id AND (${order}) IN
         (SELECT ${order} FROM ${table} WHERE webhook_id = @id ORDER BY ${order} LIMIT @limit)`,
    );
    const { changes } = erase.run({ id: gone.id, limit });
    if (changes > 0) return changes;
  }
  return db.sql('DELETE FROM deleted_webhooks WHERE id = ?').run(gone.id).changes;
}

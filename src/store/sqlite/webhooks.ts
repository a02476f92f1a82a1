// Webhooks in SQLite.
import type { NewWebhook, Webhook, WebhookStore } from '../webhooks.ts';
import type { Connection } from './connection.ts';
import { fromId, type Row, toId } from './values.ts';

export function webhookVerbs(db: Connection): WebhookStore {
  return {
    createWebhook: (webhook, maxPerTenant) => db.write(() => createWebhook(db, webhook, maxPerTenant)),
    getWebhook: (tenantId, id) =>
      db.read(() => {
        const row = db.sql('SELECT * FROM webhooks WHERE tenant_id = ? AND id = ?').get(toId(tenantId), toId(id));
        return row === undefined ? null : webhookFromRow(row as Row);
      }),
    listWebhooks: (tenantId) =>
      db.read(() => {
        const rows = db.sql('SELECT * FROM webhooks WHERE tenant_id = ? ORDER BY id').all(toId(tenantId));
        return (rows as Row[]).map(webhookFromRow);
      }),
    deleteWebhook: (tenantId, id) =>
      db.write(() => {
        // What hangs on it goes with it: ON DELETE CASCADE.
        const remove = db.sql('DELETE FROM webhooks WHERE tenant_id = ? AND id = ?');
        return remove.run(toId(tenantId), toId(id)).changes === 1;
      }),
  };
}

function createWebhook(db: Connection, webhook: NewWebhook, maxPerTenant: number): 'created' | 'exists' | 'too_many' {
  const tenant = toId(webhook.tenantId);
  const same = db.sql('SELECT 1 FROM webhooks WHERE tenant_id = ? AND target = ?');
  if (same.get(tenant, webhook.target) !== undefined) return 'exists';
  const { count } = db.sql('SELECT count(*) AS count FROM webhooks WHERE tenant_id = ?').get(tenant) as {
    count: number;
  };
  if (count >= maxPerTenant) return 'too_many';

  const id = toId(webhook.id);
  db.sql(`INSERT INTO webhooks (id, tenant_id, url, target, description, created_at) VALUES (?, ?, ?, ?, ?, ?)`).run(
    id,
    tenant,
    webhook.url,
    webhook.target,
    webhook.description,
    webhook.createdAt,
  );
  const { masterKeyId, sealed } = webhook.secret;
  db.sql(`INSERT INTO webhook_secrets (webhook_id, master_key_id, sealed, created_at) VALUES (?, ?, ?, ?)`).run(
    id,
    masterKeyId,
    sealed,
    webhook.createdAt,
  );
  return 'created';
}

function webhookFromRow(row: Row): Webhook {
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    url: row.url as string,
    target: row.target as string,
    description: row.description as string | null,
    createdAt: row.created_at as number,
  };
}

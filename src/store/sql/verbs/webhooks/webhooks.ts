// Webhooks.

import { FIRST_SLOT } from '../../../owners.ts';
import {
  type EventChoice,
  MAX_DELIVERIES_COUNTED,
  MAX_SECRETS,
  type NewWebhook,
  type SecretRotation,
  type Webhook,
  type WebhookChange,
  type WebhookHealth,
  type WebhookSecret,
  type WebhookStore,
} from '../../../webhooks.ts';
import { eachOf, type Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';
import { eventsFromColumn } from '../message/events.ts';

export function webhookVerbs(db: Transaction): Work<WebhookStore> {
  return {
    createWebhook: (webhook, maxPerTenant) => createWebhook(db, webhook, maxPerTenant),
    changeWebhook: (tenantId, id, change) => changeWebhook(db, { tenantId, id }, change),
    getWebhook: (tenantId, id) => readWebhook(db, { tenantId, id }),
    *listWebhooks(tenantId) {
      const rows = yield* db.sql('SELECT * FROM webhooks WHERE tenant_id = +? ORDER BY id').all(toId(tenantId));
      return (rows as Row[]).map(webhookFromRow);
    },
    deleteWebhook: (tenantId, id) => deleteWebhook(db, tenantId, id),
    rotateWebhookSecret: (tenantId, id, rotation) => rotateSecret(db, { tenantId, id }, rotation),
    *ownerOfWebhook(id) {
      const row = (yield* db.sql('SELECT tenant_id FROM webhooks WHERE id = +?').get(toId(id))) as Row | undefined;
      return row === undefined ? null : fromId(row.tenant_id);
    },
    *listWebhookHealth(tenantId, maxCounted = MAX_DELIVERIES_COUNTED) {
      const rows =
        tenantId === null
          ? yield* db.sql('SELECT * FROM webhooks ORDER BY id').all()
          : yield* db.sql('SELECT * FROM webhooks WHERE tenant_id = +? ORDER BY id').all(toId(tenantId));
      return yield* eachOf(rows as Row[], (row) => healthFromRow(db, row, maxCounted));
    },
    *getWebhookHealth(tenantId, id) {
      const row = yield* db
        .sql('SELECT * FROM webhooks WHERE tenant_id = +? AND id = +?')
        .get(toId(tenantId), toId(id));
      return row === undefined ? null : yield* healthFromRow(db, row as Row, MAX_DELIVERIES_COUNTED);
    },
    listWebhookSecrets: (tenantId, id, now) => listSecrets(db, { tenantId, id }, now),
  };
}

function* createWebhook(
  db: Transaction,
  webhook: NewWebhook,
  maxPerTenant: number,
): Steps<'created' | 'exists' | 'too_many'> {
  const tenant = toId(webhook.tenantId);
  const same = db.sql('SELECT 1 FROM webhooks WHERE tenant_id = +? AND target = +?');
  if ((yield* same.get(tenant, webhook.target)) !== undefined) return 'exists';
  const { count } = (yield* db.sql('SELECT count(*) AS count FROM webhooks WHERE tenant_id = +?').get(tenant)) as {
    count: number;
  };
  if (count >= maxPerTenant) return 'too_many';

  const id = toId(webhook.id);
  yield* db
    .sql(
      `INSERT INTO webhooks (id, tenant_id, url, target, description, created_at, events, slot)
     VALUES (+?, +?, +?, +?, +?, +?, +?, +?)`,
    )
    .run(
      ...[id, tenant, webhook.url, webhook.target, webhook.description, webhook.createdAt],
      eventsColumn(webhook.events),
      webhook.slot ?? FIRST_SLOT,
    );
  yield* insertSecret(db, id, { secret: webhook.secret, at: webhook.createdAt });
  return 'created';
}

function* changeWebhook(
  db: Transaction,
  of: { tenantId: string; id: string },
  change: WebhookChange,
): Steps<Webhook | 'exists' | null> {
  const webhook = yield* readWebhook(db, of);
  if (!webhook) return null;
  const [tenant, id] = [toId(of.tenantId), toId(of.id)];
  const { url, target } = change.url ?? webhook;
  const same = db.sql('SELECT 1 FROM webhooks WHERE tenant_id = +? AND target = +? AND id <> +?');
  if ((yield* same.get(tenant, target, id)) !== undefined) return 'exists';
  const { description = webhook.description, events = webhook.events } = change;
  yield* db
    .sql('UPDATE webhooks SET url = +?, target = +?, description = +?, events = +? WHERE tenant_id = +? AND id = +?')
    .run(...[url, target, description, eventsColumn(events), tenant, id]);
  if (target !== webhook.target) {
    // The failures were those of the former target: of the new one nothing is known.
    const forget = db.sql('UPDATE webhooks SET failing_since = NULL, told_at = NULL WHERE tenant_id = +? AND id = +?');
    yield* forget.run(tenant, id);
  }
  return yield* readWebhook(db, of);
}

function* readWebhook(db: Transaction, { tenantId, id }: { tenantId: string; id: string }): Steps<Webhook | null> {
  const row = yield* db.sql('SELECT * FROM webhooks WHERE tenant_id = +? AND id = +?').get(toId(tenantId), toId(id));
  return row === undefined ? null : webhookFromRow(row as Row);
}

function eventsColumn(events: readonly EventChoice[] | null | undefined): string | null {
  return events ? JSON.stringify(events) : null;
}

/** Its secrets are deleted with it (ON DELETE CASCADE); its deliveries are unreachable now, and erased in slices. */
function* deleteWebhook(db: Transaction, tenantId: string, id: string): Steps<boolean> {
  const remove = db.sql('DELETE FROM webhooks WHERE tenant_id = +? AND id = +?');
  if ((yield* remove.run(toId(tenantId), toId(id))).changes === 0) return false;
  yield* db.sql('INSERT INTO deleted_webhooks (id) VALUES (+?)').run(toId(id));
  return true;
}

function* rotateSecret(
  db: Transaction,
  of: { tenantId: string; id: string },
  rotation: SecretRotation,
): Steps<boolean> {
  const id = toId(of.id);
  const known = db.sql('SELECT 1 FROM webhooks WHERE tenant_id = +? AND id = +?');
  if ((yield* known.get(toId(of.tenantId), id)) === undefined) return false;
  const { secret, at, previousUntil } = rotation;
  yield* db
    .sql('UPDATE webhook_secrets SET expires_at = +? WHERE webhook_id = +? AND expires_at IS NULL')
    .run(previousUntil, id);
  yield* insertSecret(db, id, { secret, at });
  const end = db.sql(
    `DELETE FROM webhook_secrets WHERE webhook_id = +? AND (expires_at <= +? OR id NOT IN
       (SELECT id FROM webhook_secrets WHERE webhook_id = +? ORDER BY id DESC LIMIT ${MAX_SECRETS}))`,
  );
  yield* end.run(id, at, id);
  return true;
}

function* insertSecret(
  db: Transaction,
  id: Buffer,
  { secret, at }: Pick<SecretRotation, 'secret' | 'at'>,
): Steps<void> {
  const insert = db.sql(
    `INSERT INTO webhook_secrets (webhook_id, master_key_id, sealed, created_at) VALUES (+?, +?, +?, +?)`,
  );
  yield* insert.run(id, secret.masterKeyId, secret.sealed, at);
}

function* listSecrets(db: Transaction, of: { tenantId: string; id: string }, now: number): Steps<WebhookSecret[]> {
  const rows = (yield* db
    .sql(
      `SELECT s.master_key_id, s.sealed, s.created_at, s.expires_at
       FROM webhooks w JOIN webhook_secrets s ON s.webhook_id = w.id
       WHERE w.tenant_id = +? AND w.id = +? AND (s.expires_at IS NULL OR s.expires_at > +?) ORDER BY s.id DESC`,
    )
    .all(toId(of.tenantId), toId(of.id), now)) as Row[];
  return rows.map((row) => ({
    secret: { masterKeyId: row.master_key_id as string, sealed: row.sealed as Buffer },
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number | null,
  }));
}

function* healthFromRow(db: Transaction, row: Row, maxCounted: number): Steps<WebhookHealth> {
  const count = function* (condition: string) {
    const counted = db.sql(
      `SELECT count(*) AS count FROM (SELECT 1 FROM webhook_deliveries WHERE webhook_id = +? AND ${condition} LIMIT +?) counted`,
    );
    return ((yield* counted.get(row.id, maxCounted)) as { count: number }).count;
  };
  return {
    ...webhookFromRow(row),
    failingSince: row.failing_since as number | null,
    due: yield* count('due_at IS NOT NULL'),
    failed: yield* count("state = 'failed'"),
  };
}

function webhookFromRow(row: Row): Webhook {
  const events = eventsFromColumn(row.events);
  return {
    id: fromId(row.id),
    tenantId: fromId(row.tenant_id),
    url: row.url as string,
    target: row.target as string,
    description: row.description as string | null,
    createdAt: row.created_at as number,
    ...(events && { events }),
  };
}

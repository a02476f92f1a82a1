-- Webhooks: where a tenant's events are sent. What is due for one hangs on it by a foreign key
-- with ON DELETE CASCADE, so that deleting a webhook drops everything of it at once.

CREATE TABLE webhooks (
  id          BLOB PRIMARY KEY,
  tenant_id   BLOB NOT NULL REFERENCES tenants (id),
  url         TEXT NOT NULL,        -- as the tenant wrote it
  target      TEXT NOT NULL,        -- normalised: what is compared and connected to
  description TEXT,
  created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_of_tenant ON webhooks (tenant_id, id);
CREATE UNIQUE INDEX webhooks_target ON webhooks (tenant_id, target);

-- Signing secrets. A table of its own so that they can be rotated: a webhook then has two for a while.
CREATE TABLE webhook_secrets (
  id            INTEGER PRIMARY KEY,
  webhook_id    BLOB NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  master_key_id TEXT NOT NULL,
  sealed        BLOB NOT NULL,
  created_at    INTEGER NOT NULL,
  expires_at    INTEGER             -- NULL: the current one
) STRICT;
CREATE INDEX webhook_secrets_of_webhook ON webhook_secrets (webhook_id);

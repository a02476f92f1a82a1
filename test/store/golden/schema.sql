CREATE TABLE api_keys (
 id BLOB PRIMARY KEY,
 tenant_id BLOB NOT NULL REFERENCES tenants (id),
 public_id TEXT NOT NULL UNIQUE,
 name TEXT NOT NULL,
 scopes TEXT NOT NULL,
 bound_domain TEXT,
 secret_hash BLOB NOT NULL,
 created_at INTEGER NOT NULL,
 revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_keys_of_tenant ON api_keys (tenant_id, id);

CREATE TABLE attempts (
 message_id BLOB NOT NULL,
 number INTEGER NOT NULL,
 tenant_id BLOB NOT NULL,
 outcome TEXT NOT NULL CHECK (outcome IN ('delivered', 'temporary', 'permanent')),
 started_at INTEGER NOT NULL,
 elapsed_ms INTEGER NOT NULL,
 stage TEXT NOT NULL,
 mx TEXT,
 remote_ip TEXT,
 tls TEXT,
 smtp_code INTEGER,
 enhanced_code TEXT,
 response TEXT NOT NULL,
 PRIMARY KEY (message_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE contents (
 id INTEGER PRIMARY KEY AUTOINCREMENT,
 subject TEXT NOT NULL,
 html TEXT,
 text TEXT,
 headers TEXT NOT NULL
) STRICT;

CREATE TABLE domains (
 id BLOB PRIMARY KEY,
 tenant_id BLOB NOT NULL REFERENCES tenants (id),
 name TEXT NOT NULL,
 state TEXT NOT NULL CHECK (state IN ('pending', 'verified', 'failed', 'revoked')),
 signing_key INTEGER NOT NULL,
 failure_reason TEXT,
 verified_at INTEGER,
 last_checked_at INTEGER,
 open_messages INTEGER NOT NULL DEFAULT 0,
 created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX domains_live_name ON domains (tenant_id, name) WHERE state <> 'revoked';

CREATE INDEX domains_of_tenant ON domains (tenant_id, id);

CREATE UNIQUE INDEX domains_verified_name ON domains (name) WHERE state = 'verified';

CREATE TABLE events (
 seq INTEGER PRIMARY KEY AUTOINCREMENT,
 id BLOB NOT NULL UNIQUE,
 tenant_id BLOB NOT NULL,
 message_id BLOB NOT NULL,
 type TEXT NOT NULL,
 at INTEGER NOT NULL,
 data TEXT NOT NULL
) STRICT;

CREATE INDEX events_of_message ON events (message_id, seq);

CREATE INDEX events_of_tenant ON events (tenant_id, seq);

CREATE TABLE lanes (
 id INTEGER PRIMARY KEY,
 tenant_id BLOB NOT NULL,
 domain TEXT NOT NULL,
 UNIQUE (tenant_id, domain)
) STRICT;

CREATE TABLE messages (
 id BLOB PRIMARY KEY,
 tenant_id BLOB NOT NULL,
 submission_id BLOB NOT NULL,
 lane INTEGER NOT NULL,
 recipient TEXT NOT NULL,
 recipient_name TEXT,
 state TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'deferred', 'delivered', 'bounced', 'failed')),
 attempts INTEGER NOT NULL,
 due_at INTEGER,
 expires_at INTEGER NOT NULL,
 last_reason TEXT,
 ambiguous INTEGER NOT NULL,
 notices INTEGER NOT NULL DEFAULT 0,
 parked INTEGER NOT NULL,
 bounce TEXT CHECK (bounce IN ('hard', 'soft', 'block')),
 complained INTEGER NOT NULL DEFAULT 0,
 created_at INTEGER NOT NULL,
 finished_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX messages_due ON messages (lane, due_at, id) WHERE state IN ('queued', 'deferred') AND parked = 0;

CREATE INDEX messages_expiry ON messages (expires_at, id) WHERE finished_at IS NULL;

CREATE INDEX messages_of_submission ON messages (submission_id, id);

CREATE INDEX messages_of_tenant ON messages (tenant_id, id);

CREATE INDEX messages_sending ON messages (id) WHERE state = 'sending';

CREATE TABLE meta (
 name TEXT PRIMARY KEY,
 value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE platform_keys (
 purpose TEXT NOT NULL,
 key_id TEXT NOT NULL,
 master_key_id TEXT NOT NULL,
 sealed BLOB NOT NULL,
 public_part TEXT,
 created_at INTEGER NOT NULL,
 retired_at INTEGER,
 PRIMARY KEY (purpose, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE platform_suppressions (
 address TEXT PRIMARY KEY,
 mx_group TEXT,
 rule TEXT NOT NULL,
 message_id BLOB,
 created_at INTEGER NOT NULL,
 expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE signing_keys (
 id INTEGER PRIMARY KEY,
 domain_id BLOB NOT NULL,
 selector TEXT NOT NULL,
 public_key TEXT NOT NULL,
 master_key_id TEXT NOT NULL,
 sealed BLOB,
 created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX signing_keys_of_domain ON signing_keys (domain_id);

CREATE TABLE submissions (
 id BLOB PRIMARY KEY,
 tenant_id BLOB NOT NULL,
 api_key_id BLOB NOT NULL,
 domain_id BLOB NOT NULL,
 content_id INTEGER NOT NULL,
 idempotency_key TEXT,
 from_address TEXT NOT NULL,
 from_name TEXT,
 subject TEXT NOT NULL,
 rejected TEXT NOT NULL,
 created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX submissions_idempotency ON submissions (tenant_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE suppressions (
 tenant_id BLOB NOT NULL,
 address TEXT NOT NULL,
 reason TEXT NOT NULL CHECK (reason IN ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
 message_id BLOB,
 created_at INTEGER NOT NULL,
 PRIMARY KEY (tenant_id, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE templates (
 tenant_id BLOB NOT NULL REFERENCES tenants (id),
 id BLOB NOT NULL,
 name TEXT NOT NULL,
 html TEXT,
 text TEXT,
 created_at INTEGER NOT NULL,
 updated_at INTEGER NOT NULL,
 PRIMARY KEY (tenant_id, id)
) STRICT;

CREATE TABLE tenants (
 id BLOB PRIMARY KEY,
 name TEXT NOT NULL,
 status TEXT NOT NULL CHECK (status IN ('pending_verification', 'in_review', 'active', 'suspended')),
 status_reason TEXT,
 tier TEXT NOT NULL CHECK (tier IN ('1k', '10k', 'uncapped')),
 tier_pinned INTEGER NOT NULL,
 open_tracking INTEGER NOT NULL,
 click_tracking INTEGER NOT NULL,
 unsubscribe INTEGER NOT NULL,
 links_host TEXT,
 bounces_domain TEXT,
 created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
 id BLOB PRIMARY KEY,
 tenant_id BLOB REFERENCES tenants (id),
 email TEXT NOT NULL UNIQUE,
 role TEXT NOT NULL CHECK (role IN ('operator', 'owner', 'member', 'viewer')),
 password_hash TEXT NOT NULL,
 created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_secrets (
 id INTEGER PRIMARY KEY,
 webhook_id BLOB NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
 master_key_id TEXT NOT NULL,
 sealed BLOB NOT NULL,
 created_at INTEGER NOT NULL,
 expires_at INTEGER
) STRICT;

CREATE INDEX webhook_secrets_of_webhook ON webhook_secrets (webhook_id);

CREATE TABLE webhooks (
 id BLOB PRIMARY KEY,
 tenant_id BLOB NOT NULL REFERENCES tenants (id),
 url TEXT NOT NULL,
 target TEXT NOT NULL,
 description TEXT,
 created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX webhooks_of_tenant ON webhooks (tenant_id, id);

CREATE UNIQUE INDEX webhooks_target ON webhooks (tenant_id, target);

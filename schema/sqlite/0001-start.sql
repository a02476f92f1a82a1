-- The first shape of the store. Ids are 16-byte UUIDs, times are milliseconds since 1970,
-- lists that nobody searches are JSON text. Rows of tenants carry tenant_id, and every
-- index over them starts with it.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Keys of the platform itself: HMAC keys of return paths and tokens, the service's DKIM key.
-- Several may live side by side: tokens carry key_id, rows carry the master key that sealed them.
CREATE TABLE platform_keys (
  purpose       TEXT NOT NULL,
  key_id        TEXT NOT NULL,
  master_key_id TEXT NOT NULL,
  sealed        BLOB NOT NULL,
  public_part   TEXT,
  created_at    INTEGER NOT NULL,
  retired_at    INTEGER,
  PRIMARY KEY (purpose, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tenants (
  id             BLOB PRIMARY KEY,
  name           TEXT NOT NULL,
  status         TEXT NOT NULL CHECK (status IN ('pending_verification', 'in_review', 'active', 'suspended')),
  status_reason  TEXT,
  tier           TEXT NOT NULL CHECK (tier IN ('1k', '10k', 'uncapped')),
  tier_pinned    INTEGER NOT NULL,
  open_tracking  INTEGER NOT NULL,
  click_tracking INTEGER NOT NULL,
  unsubscribe    INTEGER NOT NULL,
  links_host     TEXT,              -- a tenant's own tracking host; NULL: the service's
  bounces_domain TEXT,              -- a tenant's own bounce subdomain; NULL: the service's
  created_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  id            BLOB PRIMARY KEY,
  tenant_id     BLOB REFERENCES tenants (id),  -- NULL: an operator of the platform
  email         TEXT NOT NULL UNIQUE,          -- lower case
  role          TEXT NOT NULL CHECK (role IN ('operator', 'owner', 'member', 'viewer')),
  password_hash TEXT NOT NULL,
  created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  id           BLOB PRIMARY KEY,
  tenant_id    BLOB NOT NULL REFERENCES tenants (id),
  public_id    TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  scopes       TEXT NOT NULL,      -- JSON list
  bound_domain TEXT,
  secret_hash  BLOB NOT NULL,      -- SHA-256 of the 256-bit secret
  created_at   INTEGER NOT NULL,
  revoked_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_of_tenant ON api_keys (tenant_id, id);

CREATE TABLE domains (
  id              BLOB PRIMARY KEY,
  tenant_id       BLOB NOT NULL REFERENCES tenants (id),
  name            TEXT NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('pending', 'verified', 'failed', 'revoked')),
  signing_key     INTEGER NOT NULL,   -- the current one in signing_keys
  failure_reason  TEXT,
  verified_at     INTEGER,
  last_checked_at INTEGER,
  open_messages   INTEGER NOT NULL DEFAULT 0,  -- accepted and not finished: the key must outlive them
  created_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX domains_of_tenant ON domains (tenant_id, id);
CREATE UNIQUE INDEX domains_live_name ON domains (tenant_id, name) WHERE state <> 'revoked';
CREATE UNIQUE INDEX domains_verified_name ON domains (name) WHERE state = 'verified';

-- DKIM keys of domains. A table of its own so that keys can be rotated: a domain then has several.
CREATE TABLE signing_keys (
  id            INTEGER PRIMARY KEY,
  domain_id     BLOB NOT NULL,
  selector      TEXT NOT NULL,
  public_key    TEXT NOT NULL,      -- base64 of the SubjectPublicKeyInfo
  master_key_id TEXT NOT NULL,
  sealed        BLOB,               -- NULL once erased
  created_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX signing_keys_of_domain ON signing_keys (domain_id);

-- Apart from the submission because it is large and goes first (retention).
-- AUTOINCREMENT: the id of an erased content is never given to another one.
CREATE TABLE contents (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  subject TEXT NOT NULL,
  html    TEXT,
  text    TEXT,
  headers TEXT NOT NULL             -- JSON list of [name, value]
) STRICT;

CREATE TABLE submissions (
  id              BLOB PRIMARY KEY,
  tenant_id       BLOB NOT NULL,
  api_key_id      BLOB NOT NULL,
  domain_id       BLOB NOT NULL,
  content_id      INTEGER NOT NULL,
  idempotency_key TEXT,
  from_address    TEXT NOT NULL,
  from_name       TEXT,
  subject         TEXT NOT NULL,    -- kept as long as the events that quote it
  rejected        TEXT NOT NULL,    -- JSON list of {to, reason}
  created_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX submissions_idempotency ON submissions (tenant_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- A lane is one tenant's mail to one domain: the unit in which the scheduler takes turns.
CREATE TABLE lanes (
  id        INTEGER PRIMARY KEY,
  tenant_id BLOB NOT NULL,
  domain    TEXT NOT NULL,          -- ASCII, lower case
  UNIQUE (tenant_id, domain)
) STRICT;

CREATE TABLE messages (
  id             BLOB PRIMARY KEY,
  tenant_id      BLOB NOT NULL,
  submission_id  BLOB NOT NULL,
  lane           INTEGER NOT NULL,
  recipient      TEXT NOT NULL,
  recipient_name TEXT,
  state          TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'deferred', 'delivered', 'bounced', 'failed')),
  attempts       INTEGER NOT NULL,
  due_at         INTEGER,           -- while sending: the time of the next attempt should this one vanish
  expires_at     INTEGER NOT NULL,
  last_reason    TEXT,              -- why it waits, or why it ended
  ambiguous      INTEGER NOT NULL,  -- the last attempt may have been accepted without our knowing
  notices        INTEGER NOT NULL DEFAULT 0,  -- how often the tenant was told of a delay
  parked         INTEGER NOT NULL,  -- 1: cannot be read; waits for a person
  bounce         TEXT CHECK (bounce IN ('hard', 'soft', 'block')),
  complained     INTEGER NOT NULL DEFAULT 0,
  created_at     INTEGER NOT NULL,
  finished_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_of_tenant ON messages (tenant_id, id);
CREATE INDEX messages_of_submission ON messages (submission_id, id);
CREATE INDEX messages_due ON messages (lane, due_at, id) WHERE state IN ('queued', 'deferred') AND parked = 0;
CREATE INDEX messages_sending ON messages (id) WHERE state = 'sending';
CREATE INDEX messages_expiry ON messages (expires_at, id) WHERE finished_at IS NULL;

CREATE TABLE attempts (
  message_id    BLOB NOT NULL,
  number        INTEGER NOT NULL,
  tenant_id     BLOB NOT NULL,
  outcome       TEXT NOT NULL CHECK (outcome IN ('delivered', 'temporary', 'permanent')),
  started_at    INTEGER NOT NULL,
  elapsed_ms    INTEGER NOT NULL,
  stage         TEXT NOT NULL,
  mx            TEXT,
  remote_ip     TEXT,
  tls           TEXT,               -- JSON
  smtp_code     INTEGER,
  enhanced_code TEXT,
  response      TEXT NOT NULL,
  PRIMARY KEY (message_id, number)
) STRICT, WITHOUT ROWID;

-- One row per fact. seq is the order in which readers see them: assigned inside the commit.
CREATE TABLE events (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         BLOB NOT NULL UNIQUE,
  tenant_id  BLOB NOT NULL,
  message_id BLOB NOT NULL,
  type       TEXT NOT NULL,
  at         INTEGER NOT NULL,
  data       TEXT NOT NULL          -- JSON, as webhooks and the feed show it
) STRICT;
CREATE INDEX events_of_tenant ON events (tenant_id, seq);
CREATE INDEX events_of_message ON events (message_id, seq);

CREATE TABLE suppressions (
  tenant_id  BLOB NOT NULL,
  address    TEXT NOT NULL,         -- lower case, domain in ASCII
  reason     TEXT NOT NULL CHECK (reason IN ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
  message_id BLOB,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE platform_suppressions (
  address    TEXT PRIMARY KEY,
  mx_group   TEXT,                  -- where the statement came from, so that a bad hour can be undone
  rule       TEXT NOT NULL,
  message_id BLOB,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

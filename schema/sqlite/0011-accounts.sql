-- People who sign in to the portal: their sessions, second factors, links that came by mail, members of
-- tenants, and who changed what. Of every secret that only has to be recognized, only its SHA-256 is here.

CREATE TABLE sessions (
  id           BLOB PRIMARY KEY,
  user_id      BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash   BLOB NOT NULL UNIQUE,
  client       TEXT,                -- what the browser calls itself
  address      TEXT NOT NULL,       -- where it was last seen
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,    -- moves with last_seen_at, but never beyond ends_at
  ends_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_of_user ON sessions (user_id, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE INDEX users_of_tenant ON users (tenant_id, id);

-- TOTP (RFC 6238). Until the first code was typed it protects nothing.
CREATE TABLE second_factors (
  user_id       BLOB PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  master_key_id TEXT NOT NULL,
  sealed        BLOB NOT NULL,
  last_step     INTEGER NOT NULL,   -- of the last code that was taken: none is taken twice
  created_at    INTEGER NOT NULL,
  confirmed_at  INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE recovery_codes (
  user_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_hash BLOB NOT NULL,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

-- A link in a mail that proves who reads the address. Used once: then the row is gone.
CREATE TABLE mail_links (
  id         BLOB PRIMARY KEY,
  token_hash BLOB NOT NULL UNIQUE,
  purpose    TEXT NOT NULL CHECK (purpose IN ('reset', 'confirmation', 'invitation')),
  email      TEXT NOT NULL,                                         -- lower case
  user_id    BLOB REFERENCES users (id) ON DELETE CASCADE,          -- NULL: an invitation makes the user
  tenant_id  BLOB REFERENCES tenants (id) ON DELETE CASCADE,        -- of an invitation
  role       TEXT CHECK (role IN ('owner', 'member', 'viewer')),    -- of an invitation
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_links_of_tenant ON mail_links (tenant_id, id) WHERE tenant_id IS NOT NULL;
CREATE INDEX mail_links_of_user ON mail_links (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX mail_links_expiry ON mail_links (expires_at);

-- Tenants that came by themselves and have not confirmed their address yet.
CREATE TABLE sign_ups (
  tenant_id  BLOB PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
  user_id    BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_ups_by_age ON sign_ups (created_at);
CREATE INDEX sign_ups_of_user ON sign_ups (user_id);

-- Who changed what. Names stand here as they were: users and tenants may be gone by the time somebody asks.
CREATE TABLE audit (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id BLOB,                   -- NULL: it is about the platform
  at        INTEGER NOT NULL,
  actor     TEXT NOT NULL CHECK (actor IN ('user', 'operator', 'command', 'system')),
  user_id   BLOB,
  who       TEXT NOT NULL,
  address   TEXT,                   -- the client's
  action    TEXT NOT NULL,
  data      TEXT NOT NULL           -- JSON, without secrets
) STRICT;
CREATE INDEX audit_of_tenant ON audit (tenant_id, seq);

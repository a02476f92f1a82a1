-- What people look at on the pages of domains, keys and webhooks.

-- When a key was last used, in steps of a minute. A table of its own: what every call looks up about
-- a key stays remembered while these rows change.
CREATE TABLE api_key_uses (
  key_id       BLOB PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
  tenant_id    BLOB NOT NULL,
  last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_uses_of_tenant ON api_key_uses (tenant_id, key_id);

-- What the last look into DNS has found, record by record: expected beside found.
CREATE TABLE domain_checks (
  domain_id  BLOB PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  tenant_id  BLOB NOT NULL,
  checked_at INTEGER NOT NULL,
  checks     TEXT NOT NULL          -- JSON list
) STRICT, WITHOUT ROWID;

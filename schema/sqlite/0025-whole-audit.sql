-- API keys act too, and failed sign-ins of an hour are summed in one entry. SQLite cannot change a CHECK in place.
CREATE TABLE whole_audit (
  seq       INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id BLOB,                   -- NULL: it is about the platform
  at        INTEGER NOT NULL,
  actor     TEXT NOT NULL CHECK (actor IN ('user', 'operator', 'command', 'system', 'key')),
  user_id   BLOB,
  key_id    BLOB,                   -- of an API key
  who       TEXT NOT NULL,
  address   TEXT,                   -- the client's
  action    TEXT NOT NULL,
  data      TEXT NOT NULL,          -- JSON, without secrets
  sum_key   TEXT                    -- the hour, account and network of failed sign-ins
) STRICT;
INSERT INTO whole_audit (seq, tenant_id, at, actor, user_id, who, address, action, data)
  SELECT seq, tenant_id, at, actor, user_id, who, address, action, data FROM audit ORDER BY seq;
DROP TABLE audit;
ALTER TABLE whole_audit RENAME TO audit;
CREATE INDEX audit_of_tenant ON audit (tenant_id, seq);
CREATE INDEX audit_by_time ON audit (at);
CREATE UNIQUE INDEX audit_sums ON audit (sum_key) WHERE sum_key IS NOT NULL;

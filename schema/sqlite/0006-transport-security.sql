-- What is known of the security of receiving servers: MTA-STS policies (RFC 8461), which must
-- outlive a restart to be worth anything, and hosts whose TLS is broken. Both end by themselves.

CREATE TABLE tls_policies (
  domain     TEXT PRIMARY KEY,      -- the recipients' domain: ASCII, lower case
  policy_id  TEXT NOT NULL,         -- of the TXT record that led to it
  mode       TEXT NOT NULL CHECK (mode IN ('none', 'testing', 'enforce')),
  mx         TEXT NOT NULL,         -- JSON list of patterns
  fetched_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tls_policies_expiry ON tls_policies (expires_at);

CREATE TABLE broken_tls (
  host       TEXT PRIMARY KEY,      -- name of an MX host
  reason     TEXT NOT NULL,
  since      INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX broken_tls_expiry ON broken_tls (expires_at);

-- Which policy held for an attempt, and what did not come up to it although the mail went on.
ALTER TABLE attempts ADD COLUMN tls_policy TEXT NOT NULL DEFAULT 'none'
  CHECK (tls_policy IN ('none', 'testing', 'enforce'));
ALTER TABLE attempts ADD COLUMN tls_failure TEXT;

-- When the DNS records of a domain are looked at again by itself, and how it fared. A row per domain
-- that is not revoked; next_at NULL: not any more, until somebody asks for it.

CREATE TABLE domain_rechecks (
  domain_id     BLOB PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  tenant_id     BLOB NOT NULL,
  next_at       INTEGER,
  since         INTEGER NOT NULL,           -- of this stretch of growing pauses
  looks         INTEGER NOT NULL DEFAULT 0, -- in this stretch
  misses        INTEGER NOT NULL DEFAULT 0, -- of a verified domain: definite ones in a row
  first_miss_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX domain_rechecks_due ON domain_rechecks (next_at) WHERE next_at IS NOT NULL;

-- Those that are there already are spread over a day.
INSERT INTO domain_rechecks (domain_id, tenant_id, next_at, since)
SELECT id, tenant_id, unixepoch() * 1000 + abs(random()) % 86400000, unixepoch() * 1000
FROM domains WHERE state <> 'revoked';

-- Retention walks finished messages in the order in which they were finished.
CREATE INDEX messages_finished ON messages (finished_at, id) WHERE finished_at IS NOT NULL;

-- How long the content of this tenant's messages is kept after their end; NULL: as configured.
ALTER TABLE tenants ADD COLUMN content_days INTEGER;

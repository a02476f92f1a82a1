-- Batches that were sent with an idempotency key: what a repeated call is answered.

CREATE TABLE batches (
  seq             INTEGER PRIMARY KEY,
  tenant_id       BLOB NOT NULL,
  idempotency_key TEXT NOT NULL,
  items           TEXT NOT NULL,    -- JSON list of {submission} or {error, message}, in the order of the call
  created_at      INTEGER NOT NULL,
  UNIQUE (tenant_id, idempotency_key)
) STRICT;
CREATE INDEX batches_by_age ON batches (created_at);

-- What is due at webhooks. A row per event and webhook, written in the transaction of the event.
-- No foreign key: a deleted webhook can have very many; they are erased in slices, and nobody
-- looks at them meanwhile, since everything begins at the webhook's own row.

CREATE TABLE webhook_deliveries (
  webhook_id      BLOB NOT NULL,
  event_seq       INTEGER NOT NULL,
  tenant_id       BLOB NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('due', 'delivered', 'failed')),
  attempts        INTEGER NOT NULL,           -- in all
  attempts_before INTEGER NOT NULL DEFAULT 0, -- those before the last replay: the retry table begins anew
  due_at          INTEGER,                    -- while leased: when it is due should the attempt vanish; NULL: at an end
  leased          INTEGER NOT NULL DEFAULT 0, -- an attempt is under way
  finished_at     INTEGER,
  PRIMARY KEY (webhook_id, event_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at, event_seq) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook_id, event_seq) WHERE leased = 1;
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id, finished_at, event_seq) WHERE state = 'failed';

CREATE TABLE webhook_attempts (
  webhook_id BLOB NOT NULL,
  event_seq  INTEGER NOT NULL,
  number     INTEGER NOT NULL,
  tenant_id  BLOB NOT NULL,
  started_at INTEGER NOT NULL,
  elapsed_ms INTEGER NOT NULL,
  status     INTEGER,                -- of HTTP; NULL: no answer
  reason     TEXT NOT NULL,          -- how it ended and what follows, as a sentence
  answer     TEXT,                   -- the beginning of the answer's body
  next_at    INTEGER,                -- NULL: no other attempt
  PRIMARY KEY (webhook_id, event_seq, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_attempts_newest ON webhook_attempts (webhook_id, started_at);

-- Deleted webhooks whose deliveries are still to be erased.
CREATE TABLE deleted_webhooks (
  id BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Since when no attempt has succeeded, and when the tenant was told.
ALTER TABLE webhooks ADD COLUMN failing_since INTEGER;
ALTER TABLE webhooks ADD COLUMN told_at INTEGER;
CREATE INDEX webhooks_failing ON webhooks (failing_since) WHERE failing_since IS NOT NULL AND told_at IS NULL;

-- Mail for later: the state `scheduled` comes before `queued`, and `canceled` is an end of its own. SQLite cannot change
-- a CHECK, so the table is made anew; migrations run without foreign keys, or link_hits would lose its rows.

CREATE TABLE messages_new (
  id               BLOB PRIMARY KEY,
  tenant_id        BLOB NOT NULL,
  submission_id    BLOB NOT NULL,
  lane             INTEGER NOT NULL,
  recipient        TEXT NOT NULL,
  recipient_name   TEXT,
  copy             TEXT CHECK (copy IN ('cc', 'bcc')),  -- NULL: named in `to`
  state            TEXT NOT NULL CHECK (state IN
                     ('scheduled', 'queued', 'sending', 'deferred', 'delivered', 'bounced', 'failed', 'canceled')),
  attempts         INTEGER NOT NULL,
  due_at           INTEGER,           -- while sending: the time of the next attempt should this one vanish
  expires_at       INTEGER NOT NULL,
  last_reason      TEXT,              -- why it waits, or why it ended
  ambiguous        INTEGER NOT NULL,  -- the last attempt may have been accepted without our knowing
  notices          INTEGER NOT NULL DEFAULT 0,  -- how often the tenant was told of a delay
  parked           INTEGER NOT NULL,  -- 1: cannot be read; waits for a person
  put_off          INTEGER NOT NULL DEFAULT 0,  -- 1: due_at is the end of the pause that holds it
  source_address   TEXT,              -- of all its attempts; NULL: not tried yet, or the system picks
  bounce           TEXT CHECK (bounce IN ('hard', 'soft', 'block')),
  complained       INTEGER NOT NULL DEFAULT 0,
  complaint_weight REAL,
  created_at       INTEGER NOT NULL,
  finished_at      INTEGER
) STRICT, WITHOUT ROWID;

INSERT INTO messages_new (id, tenant_id, submission_id, lane, recipient, recipient_name, copy, state, attempts, due_at,
    expires_at, last_reason, ambiguous, notices, parked, put_off, source_address, bounce, complained, complaint_weight,
    created_at, finished_at)
  SELECT id, tenant_id, submission_id, lane, recipient, recipient_name, copy, state, attempts, due_at,
    expires_at, last_reason, ambiguous, notices, parked, put_off, source_address, bounce, complained, complaint_weight,
    created_at, finished_at
  FROM messages ORDER BY id;
DROP TABLE messages;
ALTER TABLE messages_new RENAME TO messages;

CREATE INDEX messages_of_tenant ON messages (tenant_id, id);
CREATE INDEX messages_of_submission ON messages (submission_id, id);
CREATE INDEX messages_due ON messages (lane, due_at, id) WHERE state IN ('queued', 'deferred') AND parked = 0;
CREATE INDEX messages_sending ON messages (id) WHERE state = 'sending';
CREATE INDEX messages_expiry ON messages (expires_at, id) WHERE finished_at IS NULL;
CREATE INDEX messages_finished ON messages (finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX messages_parked ON messages (lane, id) WHERE parked = 1;
CREATE INDEX messages_put_off ON messages (lane) WHERE put_off = 1;
-- In the order of their times, over all tenants; and for those who end a lane's mail.
CREATE INDEX messages_scheduled ON messages (due_at, id) WHERE state = 'scheduled';
CREATE INDEX messages_scheduled_of_lane ON messages (lane, id) WHERE state = 'scheduled';

ALTER TABLE submissions ADD COLUMN send_at INTEGER;   -- NULL: at once

ALTER TABLE chart_figures ADD COLUMN canceled INTEGER NOT NULL DEFAULT 0;

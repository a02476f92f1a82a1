-- What a call may have beyond the specification: visible recipients, attachments, labels, and its own tracking.

ALTER TABLE submissions ADD COLUMN labels TEXT;           -- JSON {tags, metadata}, each null or an object; NULL: neither
ALTER TABLE submissions ADD COLUMN track_opens INTEGER;   -- NULL: as the tenant has set it
ALTER TABLE submissions ADD COLUMN track_clicks INTEGER;

ALTER TABLE contents ADD COLUMN lists TEXT;               -- JSON {to, cc, replyTo} of [name, address]; NULL: none are shown
ALTER TABLE contents ADD COLUMN attachments INTEGER NOT NULL DEFAULT 0;  -- how many there are

ALTER TABLE messages ADD COLUMN copy TEXT CHECK (copy IN ('cc', 'bcc'));  -- NULL: named in `to`

-- Stored once per submission, and erased with its content.
CREATE TABLE attachments (
  content_id   INTEGER NOT NULL,    -- in contents
  position     INTEGER NOT NULL,    -- as in the call, from 0
  filename     TEXT NOT NULL,
  content_type TEXT NOT NULL,
  cid          TEXT,                -- its Content-ID; NULL: none
  bytes        BLOB NOT NULL,
  PRIMARY KEY (content_id, position)
) STRICT;

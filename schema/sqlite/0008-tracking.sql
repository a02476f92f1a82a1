-- How often the pixel and the links of a message were fetched, and how often its tenant was told.
-- A row comes with the first fetch and goes with its message.

CREATE TABLE link_hits (
  message_id    BLOB NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  link          INTEGER NOT NULL,   -- index of the tracked link in the HTML; -1: the pixel
  tenant_id     BLOB NOT NULL,
  hits          INTEGER NOT NULL,
  events        INTEGER NOT NULL,
  first_at      INTEGER NOT NULL,
  last_at       INTEGER NOT NULL,
  last_event_at INTEGER,            -- at most one event per minute
  PRIMARY KEY (message_id, link)
) STRICT, WITHOUT ROWID;

-- Sums of what happened to the mail of all tenants, by our source address and by receiver, for operators. They are
-- added up with those of charts, out of the same events, and kept for a month: there is a row for each hour, address
-- and receiver. What was accepted is not among them, since a message has neither at first.

CREATE TABLE service_figures (
  hour              INTEGER NOT NULL,            -- since 1970
  source            TEXT NOT NULL,               -- the address that the message goes out from; empty: not known
  provider          TEXT NOT NULL,               -- an MX group; empty: not known; 'other': one of many small ones
  accepted          INTEGER NOT NULL DEFAULT 0,
  delivered         INTEGER NOT NULL DEFAULT 0,
  deferred          INTEGER NOT NULL DEFAULT 0,
  bounced_hard      INTEGER NOT NULL DEFAULT 0,
  bounced_soft      INTEGER NOT NULL DEFAULT 0,
  bounced_block     INTEGER NOT NULL DEFAULT 0,
  bounced_later     INTEGER NOT NULL DEFAULT 0,
  failed            INTEGER NOT NULL DEFAULT 0,
  canceled          INTEGER NOT NULL DEFAULT 0,
  complained        INTEGER NOT NULL DEFAULT 0,
  opened            INTEGER NOT NULL DEFAULT 0,
  opened_by_machine INTEGER NOT NULL DEFAULT 0,
  clicked           INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, source, provider)
) STRICT, WITHOUT ROWID;

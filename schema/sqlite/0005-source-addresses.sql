-- Which of the service's own addresses speak: each message keeps the one of its first attempt,
-- and addresses that are new to a receiver send it little at first.

ALTER TABLE messages ADD COLUMN source_address TEXT;  -- NULL: not tried yet, or the system picks

-- One row per address and MX group, whatever was sent: the days with mail make an address known
-- there. A row that is older than the memory of receivers goes, and the address is new again.
CREATE TABLE source_usage (
  address    TEXT NOT NULL,
  mx_group   TEXT NOT NULL,
  day        INTEGER NOT NULL,      -- the last day with mail, in days since 1970 (UTC)
  used_today INTEGER NOT NULL,      -- new messages on that day
  days_used  INTEGER NOT NULL,      -- days with mail, that day included
  PRIMARY KEY (mx_group, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_usage_by_day ON source_usage (day);

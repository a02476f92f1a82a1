-- Certificates from an ACME directory (RFC 8555), one row per directory and set of names. Counters and times of an attempt
-- are written before the directory is called, so that a daemon that dies in it waits as if it had failed.

CREATE TABLE certificates (
  directory           TEXT NOT NULL,     -- the URL of the directory
  names               TEXT NOT NULL,     -- sorted, separated by spaces
  chain               TEXT,              -- PEM; NULL: none yet
  key_master_id       TEXT,              -- the master key that sealed its private key
  key_sealed          BLOB,
  not_before          INTEGER,
  not_after           INTEGER,
  order_url           TEXT,              -- an order that is not finished; NULL: none
  order_key_master_id TEXT,              -- the master key that sealed the private key of that order
  order_key_sealed    BLOB,
  failures            INTEGER NOT NULL,  -- attempts since the last success, with one that is running
  next_attempt_at     INTEGER NOT NULL,
  failure             TEXT,              -- why the latest attempt failed; NULL: it did not, or it is running
  failed_at           INTEGER,
  PRIMARY KEY (directory, names)
) STRICT, WITHOUT ROWID;

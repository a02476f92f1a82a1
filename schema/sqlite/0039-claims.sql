-- A mail that came in belongs to the slot of the node that accepted it, and so do the notes of which mail may have
-- crashed a daemon: the next owner of the slot reads them.

ALTER TABLE inbound_mails ADD COLUMN slot INTEGER NOT NULL DEFAULT 1;
DROP INDEX inbound_waiting;
CREATE INDEX inbound_waiting ON inbound_mails (slot, seq) WHERE processed_at IS NULL;

CREATE TABLE inbound_trials_new (
  slot     INTEGER PRIMARY KEY,
  mail_seq INTEGER NOT NULL
) STRICT;

INSERT INTO inbound_trials_new (slot, mail_seq) SELECT 1, mail_seq FROM inbound_trials WHERE worker = 'daemon';
DROP TABLE inbound_trials;
ALTER TABLE inbound_trials_new RENAME TO inbound_trials;

CREATE TABLE inbound_reaches_new (
  slot  INTEGER PRIMARY KEY,
  mails INTEGER NOT NULL
) STRICT;

INSERT INTO inbound_reaches_new (slot, mails) SELECT 1, mails FROM inbound_reaches WHERE worker = 'daemon';
DROP TABLE inbound_reaches;
ALTER TABLE inbound_reaches_new RENAME TO inbound_reaches;

-- Which node runs a timer that only one may run. Each time a node takes it, the epoch rises.
CREATE TABLE timers (
  name        TEXT PRIMARY KEY,
  node        TEXT NOT NULL,
  epoch       INTEGER NOT NULL,
  lease_until INTEGER             -- NULL: until the node's process ends
) STRICT, WITHOUT ROWID;

-- Which mail a daemon works on alone, because an earlier daemon may have ended with it in work: should the
-- daemon end now, this mail is the suspect, and no other that waits.

CREATE TABLE inbound_trials (
  worker   TEXT PRIMARY KEY,
  mail_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Until now a try was counted against everything that waited.
UPDATE inbound_mails SET tries = 0 WHERE processed_at IS NULL;

-- Written mails: mail as an application wrote it, handed in by SMTP, which goes out as it was written. Its body is stored
-- in pieces while it arrives, before the submission that makes them count.

ALTER TABLE submissions ADD COLUMN source TEXT;             -- 'smtp': a written mail; NULL: HTTP
ALTER TABLE submissions ADD COLUMN header_message_id TEXT;  -- the Message-ID of a written mail; NULL: that of each message

CREATE TABLE written_mails (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant_id      BLOB NOT NULL,
  submission_id  BLOB NOT NULL,
  leftover_since INTEGER,           -- when its latest piece came; 0: given up, or erased; NULL: accepted
  header         BLOB,              -- as it goes out, without our own fields; NULL: not accepted, or erased
  pieces         INTEGER,           -- how many the body has, and their bytes in all
  bytes          INTEGER,
  body_hash      TEXT,              -- the bh= of its DKIM signatures
  eight_bit      INTEGER,           -- 1: the body has octets above 127
  UNIQUE (tenant_id, submission_id)
) STRICT;
CREATE INDEX written_leftovers ON written_mails (leftover_since) WHERE leftover_since IS NOT NULL;

CREATE TABLE written_pieces (
  mail     INTEGER NOT NULL REFERENCES written_mails (seq),
  position INTEGER NOT NULL,        -- in the body, from 0
  bytes    BLOB NOT NULL,
  PRIMARY KEY (mail, position)
) STRICT;

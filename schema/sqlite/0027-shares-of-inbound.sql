-- What comes back for a message (return paths, unsubscribe addresses) is bounded, too: whoever got one mail knows
-- its return path. The contents have a bounded store of their own, and each message a bound per day.

CREATE TABLE returned_mails (
  mail_seq    INTEGER PRIMARY KEY,
  message_id  BLOB,              -- which its recipient proves; NULL: it came before this version
  received_at INTEGER NOT NULL,
  beyond      INTEGER NOT NULL,  -- the bounds of its message's day: 1: it waits, 2: it had no effect, and is only noted
  bytes       INTEGER NOT NULL   -- 0 once the content is erased
) STRICT;
CREATE INDEX returned_with_content ON returned_mails (mail_seq) WHERE bytes > 0;
CREATE INDEX returned_of_message ON returned_mails (message_id, received_at) WHERE beyond = 0;
CREATE INDEX returned_noted ON returned_mails (mail_seq) WHERE beyond = 2;

-- Their sums: whoever erases a mail or a content, for whatever reason, need not think of them.
CREATE TABLE returned_room (
  id            INTEGER PRIMARY KEY CHECK (id = 1),
  bytes         INTEGER NOT NULL,
  waiting_bytes INTEGER NOT NULL  -- of those beyond the bounds, which wait to be acted on
) STRICT;
INSERT INTO returned_room (id, bytes, waiting_bytes) VALUES (1, 0, 0);

CREATE TRIGGER returned_kept AFTER INSERT ON returned_mails BEGIN
  UPDATE returned_room SET bytes = bytes + NEW.bytes, waiting_bytes = waiting_bytes + NEW.bytes * (NEW.beyond = 1) WHERE id = 1;
END;
CREATE TRIGGER returned_changed AFTER UPDATE OF bytes, beyond ON returned_mails BEGIN
  UPDATE returned_room SET bytes = bytes + NEW.bytes - OLD.bytes,
    waiting_bytes = waiting_bytes + NEW.bytes * (NEW.beyond = 1) - OLD.bytes * (OLD.beyond = 1) WHERE id = 1;
END;
CREATE TRIGGER returned_gone AFTER DELETE ON returned_mails BEGIN
  UPDATE returned_room SET bytes = bytes - OLD.bytes, waiting_bytes = waiting_bytes - OLD.bytes * (OLD.beyond = 1) WHERE id = 1;
END;
CREATE TRIGGER returned_content_erased AFTER DELETE ON inbound_contents BEGIN
  UPDATE returned_mails SET bytes = 0 WHERE mail_seq = OLD.mail_seq;
END;
CREATE TRIGGER returned_mail_erased AFTER DELETE ON inbound_mails BEGIN
  DELETE FROM returned_mails WHERE mail_seq = OLD.seq;
END;

-- All contents from before this version that nothing has counted.
INSERT INTO returned_mails (mail_seq, message_id, received_at, beyond, bytes)
  SELECT m.seq, m.message_id, m.received_at, 0, length(c.content)
  FROM inbound_mails m JOIN inbound_contents c ON c.mail_seq = m.seq
  WHERE m.seq NOT IN (SELECT mail_seq FROM unasked_mails);

-- DMARC reports: what one organization may take of a domain's day and of a day of arrivals. Of senders from before this
-- version, the organization is taken to be the sender's domain itself.
ALTER TABLE dmarc_reporters ADD COLUMN organization TEXT NOT NULL DEFAULT '';
UPDATE dmarc_reporters SET organization = sender;

-- What the reports of one UTC day of arrival have taken, as it is counted against the limit. The day begins again.
DROP TABLE dmarc_room;
CREATE TABLE dmarc_room (
  day          TEXT NOT NULL,
  organization TEXT NOT NULL,  -- empty: reports without a proven sender
  bytes        INTEGER NOT NULL,
  PRIMARY KEY (day, organization)
) STRICT, WITHOUT ROWID;

-- How many of the first waiting mails a daemon may have in work, where that is more than usual: while it works on
-- suspects alone, in turns, it works on what came later beside them.
CREATE TABLE inbound_reaches (
  worker TEXT PRIMARY KEY,
  mails  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which addresses appear among which messages, so that "did this person get our mail?" is answered
-- without a walk over all of a tenant's messages, and without an index that every accepted message
-- would pay for: a row stands for some 1,000 messages that follow each other, and is written once,
-- minutes after them.

CREATE TABLE recipient_marks (
  seq      INTEGER PRIMARY KEY,     -- in the order of the messages
  first_id BLOB NOT NULL,           -- of the messages that it stands for
  last_id  BLOB NOT NULL,
  marks    BLOB NOT NULL            -- CRC-32 of tenant and address of each, 4 bytes each, ascending
) STRICT;

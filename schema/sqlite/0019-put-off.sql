-- Messages that were due and were moved to the end of a pause: when that ends early, they are due at once.

ALTER TABLE messages ADD COLUMN put_off INTEGER NOT NULL DEFAULT 0;
CREATE INDEX messages_put_off ON messages (lane) WHERE put_off = 1;

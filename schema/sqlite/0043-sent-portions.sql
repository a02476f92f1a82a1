-- Where several nodes share the store: how much of a limit on sending they have taken, in portions, by what it limits (a
-- tenant's hour, a receiver's minute). Each row counts until a span after it was taken.
CREATE TABLE sent_portions (
  subject  TEXT NOT NULL,
  gone_at  INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  PRIMARY KEY (subject, gone_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX sent_portions_gone ON sent_portions (gone_at);

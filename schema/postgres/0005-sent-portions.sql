-- As schema/sqlite/0043-sent-portions.sql. Few rows, updated all the time.

CREATE TABLE sent_portions (
  subject  text COLLATE "C" NOT NULL,
  gone_at  bigint NOT NULL,
  messages bigint NOT NULL,
  PRIMARY KEY (subject, gone_at)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX sent_portions_gone ON sent_portions (gone_at);

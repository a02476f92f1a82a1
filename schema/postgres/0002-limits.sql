-- As schema/sqlite/0041-limits.sql. Both tables have few rows, updated all the time.

CREATE TABLE call_buckets (
  key     bytea PRIMARY KEY,
  full_at bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE throttles (
  key          bytea PRIMARY KEY,
  count        bigint NOT NULL,
  open_at      bigint NOT NULL,
  forgotten_at bigint NOT NULL
);
CREATE INDEX throttles_forgotten ON throttles (forgotten_at);

-- As schema/sqlite/0042-domain-counts.sql. Daemons of the version before, beside the first one of this version, still change
-- domains.open_messages: the two counts together are right.

CREATE TABLE domain_counts (
  domain_id     bytea PRIMARY KEY,
  open_messages bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
INSERT INTO domain_counts (domain_id, open_messages) SELECT id, 0 FROM domains;

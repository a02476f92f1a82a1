-- As schema/sqlite/0044-shared-connections.sql. Few rows, updated all the time.

CREATE TABLE shared_connections (
  mx_group    text COLLATE "C" NOT NULL,
  node        text COLLATE "C" NOT NULL,
  connections bigint NOT NULL,
  wanted      bigint NOT NULL,
  lease_until bigint NOT NULL,
  PRIMARY KEY (mx_group, node)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

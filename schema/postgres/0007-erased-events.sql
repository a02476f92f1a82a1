-- As schema/sqlite/0045-erased-events.sql.

CREATE TABLE erased_events (
  tenant_id bytea NOT NULL,
  seq       bigint NOT NULL,
  event_id  bytea NOT NULL,
  PRIMARY KEY (tenant_id, seq),
  UNIQUE (tenant_id, event_id)
);

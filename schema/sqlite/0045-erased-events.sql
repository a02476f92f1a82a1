-- Where erased events stood in the order of their tenant, for those who have read the feed up to one of them. A row stays
-- while what came after it is younger than what is erased, or nothing came.
CREATE TABLE erased_events (
  tenant_id BLOB NOT NULL,
  seq       INTEGER NOT NULL,
  event_id  BLOB NOT NULL,
  PRIMARY KEY (tenant_id, seq),
  UNIQUE (tenant_id, event_id)
) STRICT, WITHOUT ROWID;

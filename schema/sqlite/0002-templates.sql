-- Templates of tenants. The sources may be large; what was rendered from them is kept with the
-- submission, so a template can be changed and deleted at any time.

CREATE TABLE templates (
  tenant_id  BLOB NOT NULL REFERENCES tenants (id),
  id         BLOB NOT NULL,
  name       TEXT NOT NULL,
  html       TEXT,                  -- Liquid; at least one of html and text is there
  text       TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant_id, id)
) STRICT;

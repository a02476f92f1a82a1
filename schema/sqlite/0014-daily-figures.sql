-- Sums for charts: what became of a tenant's mail in each hour, by receiving provider. Accepted messages are
-- counted as they are accepted, without a provider; all else is added up afterwards, out of events in the order
-- of their commits (meta knows how far). The sums outlive messages and events.

CREATE TABLE chart_figures (
  tenant_id         BLOB NOT NULL,
  hour              INTEGER NOT NULL,            -- since 1970
  provider          TEXT NOT NULL,               -- an MX group; empty: not known; 'other': one of many small ones
  accepted          INTEGER NOT NULL DEFAULT 0,
  delivered         INTEGER NOT NULL DEFAULT 0,
  deferred          INTEGER NOT NULL DEFAULT 0,
  bounced_hard      INTEGER NOT NULL DEFAULT 0,
  bounced_soft      INTEGER NOT NULL DEFAULT 0,
  bounced_block     INTEGER NOT NULL DEFAULT 0,
  failed            INTEGER NOT NULL DEFAULT 0,
  complained        INTEGER NOT NULL DEFAULT 0,
  opened            INTEGER NOT NULL DEFAULT 0,  -- messages: the first fetch of each pixel
  opened_by_machine INTEGER NOT NULL DEFAULT 0,  -- of these: most likely by no person
  clicked           INTEGER NOT NULL DEFAULT 0,  -- links: the first fetch of each
  PRIMARY KEY (tenant_id, hour, provider)
) STRICT, WITHOUT ROWID;
CREATE INDEX chart_figures_old ON chart_figures (hour);

-- Events of before are counted as all others are; messages of before only here.
INSERT INTO chart_figures (tenant_id, hour, provider, accepted)
  SELECT tenant_id, created_at / 3600000, '', count(*) FROM messages GROUP BY 1, 2;

-- Who changed it last in the portal; NULL: a call of the API.
ALTER TABLE templates ADD COLUMN changed_by TEXT;

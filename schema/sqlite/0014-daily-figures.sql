-- Sums for charts: what became of a tenant's mail in each hour, by receiving provider. They are added up
-- afterwards, out of submissions and events in the order of their commits, and outlive both.

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

-- How far each source is counted. It moves in the transaction that adds to the sums.
CREATE TABLE chart_positions (
  source   TEXT PRIMARY KEY,
  position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO chart_positions (source, position) VALUES ('submissions', 0), ('events', 0);

-- Submissions in the order of their commits: the id of a content is assigned inside the transaction that
-- takes the submission in, and never given twice. Ids of submissions are made before it.
CREATE INDEX submissions_in_order ON submissions (content_id);

-- Who changed it last in the portal; NULL: a call of the API.
ALTER TABLE templates ADD COLUMN changed_by TEXT;

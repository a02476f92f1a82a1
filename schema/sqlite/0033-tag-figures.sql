-- Sums of what happened to the messages with a tag, by hour and by day: of each tenant and day only so many tags
-- are counted, since tenants make them up. Everything is added up afterwards: what happened out of events, what was
-- accepted out of submissions with labels, in the order of their commits (meta knows how far).

CREATE TABLE tag_figures (
  tenant_id         BLOB NOT NULL,
  step_hours        INTEGER NOT NULL CHECK (step_hours IN (1, 24)),
  hour              INTEGER NOT NULL,            -- since 1970: the first of the step
  tag               TEXT NOT NULL,               -- name:value
  accepted          INTEGER NOT NULL DEFAULT 0,
  delivered         INTEGER NOT NULL DEFAULT 0,
  deferred          INTEGER NOT NULL DEFAULT 0,
  bounced_hard      INTEGER NOT NULL DEFAULT 0,
  bounced_soft      INTEGER NOT NULL DEFAULT 0,
  bounced_block     INTEGER NOT NULL DEFAULT 0,
  bounced_later     INTEGER NOT NULL DEFAULT 0,
  failed            INTEGER NOT NULL DEFAULT 0,
  canceled          INTEGER NOT NULL DEFAULT 0,
  complained        INTEGER NOT NULL DEFAULT 0,
  opened            INTEGER NOT NULL DEFAULT 0,
  opened_by_machine INTEGER NOT NULL DEFAULT 0,
  clicked           INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, step_hours, hour, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_figures_old ON tag_figures (step_hours, hour);

-- Contents are numbered in the order of commits, and the number stays when the content is erased.
CREATE INDEX submissions_labelled ON submissions (content_id) WHERE labels IS NOT NULL;

-- Events of before are not counted by tag, so neither is what was accepted before.
INSERT INTO meta (name, value)
  SELECT 'submissions_in_tags', CAST(content_id AS TEXT) FROM submissions WHERE labels IS NOT NULL
  ORDER BY content_id DESC LIMIT 1;

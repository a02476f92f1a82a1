-- Slots: each is a share of the work that one node does, under an epoch that every takeover raises. A lane belongs to a
-- slot, so the mail of one tenant to one domain may have a lane in each; a webhook belongs to one slot.

CREATE TABLE slots (
  slot        INTEGER PRIMARY KEY,
  node        TEXT NOT NULL,
  epoch       INTEGER NOT NULL,
  lease_until INTEGER             -- NULL: until the node's process ends
) STRICT;

CREATE TABLE lanes_new (
  id        INTEGER PRIMARY KEY,
  tenant_id BLOB NOT NULL,
  domain    TEXT NOT NULL,
  slot      INTEGER NOT NULL DEFAULT 1,
  UNIQUE (tenant_id, domain, slot)
) STRICT;

INSERT INTO lanes_new (id, tenant_id, domain) SELECT id, tenant_id, domain FROM lanes ORDER BY id;
DROP TABLE lanes;
ALTER TABLE lanes_new RENAME TO lanes;
CREATE INDEX lanes_of_domain ON lanes (domain, id);

ALTER TABLE webhooks ADD COLUMN slot INTEGER NOT NULL DEFAULT 1;

-- The MX group that said so, for tenants' entries as well: the platform's list has no entry until a second tenant's
-- message confirms it, and a receiver's bad hour must be undone without one. Earlier entries get their domain's group.

ALTER TABLE suppressions ADD COLUMN mx_group TEXT;
UPDATE suppressions SET mx_group = (
    SELECT g.mx_group FROM groups_of_domains g WHERE g.domain = substr(address, instr(address, '@') + 1)
  )
  WHERE reason = 'hard_bounce' AND message_id IS NOT NULL AND (rule IS NULL OR rule NOT GLOB 'route-*');
CREATE INDEX suppressions_group ON suppressions (mx_group, created_at) WHERE mx_group IS NOT NULL;

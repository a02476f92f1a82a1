-- The rule that put an address on a tenant's list, so that what one rule has done since a time can be undone
-- there too. Entries made before this, and those that people make, have none.

ALTER TABLE suppressions ADD COLUMN rule TEXT;
CREATE INDEX suppressions_rule ON suppressions (rule, created_at) WHERE rule IS NOT NULL;
CREATE INDEX platform_suppressions_rule ON platform_suppressions (rule, created_at);

-- A tenant's own tracking host was never built: nothing ever wrote this column.
ALTER TABLE tenants DROP COLUMN links_host;

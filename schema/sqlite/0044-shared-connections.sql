-- Where several nodes share the store: how many connections to a receiver each of them may have open, of those that its limit
-- allows all of them. A row counts until its lease is over.
CREATE TABLE shared_connections (
  mx_group    TEXT NOT NULL,
  node        TEXT NOT NULL,
  connections INTEGER NOT NULL,
  wanted      INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  PRIMARY KEY (mx_group, node)
) STRICT, WITHOUT ROWID;

-- Limits that hold over all nodes of a store, and across restarts.

-- How many calls of an API key, or mails of a tenant's people, are used up: a token bucket as the time when it is full again,
-- by the store's clock. A full one has no row. Only where several nodes share the store.
CREATE TABLE call_buckets (
  key     BLOB PRIMARY KEY,
  full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Attempts to sign in and to make the service send mail, by what they count for. The key is a hash: neither addresses nor
-- networks are stored.
CREATE TABLE throttles (
  key          BLOB PRIMARY KEY,
  count        INTEGER NOT NULL,
  open_at      INTEGER NOT NULL,
  forgotten_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX throttles_forgotten ON throttles (forgotten_at);

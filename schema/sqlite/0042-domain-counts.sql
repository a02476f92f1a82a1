-- Counts of a domain that change with every commit of mail, apart from what each message reads about its domain: on
-- PostgreSQL a row that is changed all the time is slow to read while a long transaction is open.

-- Together with `domains.open_messages`, which nothing changes any more: how many messages are accepted and not finished.
CREATE TABLE domain_counts (
  domain_id     BLOB PRIMARY KEY,
  open_messages INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO domain_counts (domain_id, open_messages) SELECT id, 0 FROM domains;

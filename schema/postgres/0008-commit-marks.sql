-- What the last transaction of a writing connection has left of itself. When the connection is lost during a COMMIT, the number
-- of the transaction alone does not tell whether that took effect: a server that crashed can give the number out again. A row
-- per daemon, made and deleted all the time; those that a crash leaves are deleted at a start, a day later. SQLite has no
-- connection to lose.

CREATE TABLE commit_marks (
  mark    uuid PRIMARY KEY,
  left_at timestamptz NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

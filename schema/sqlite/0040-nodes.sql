-- Nodes: the daemons that share this store, each with the last time it renewed its slots. One that is being drained hands
-- them over and takes no others.

CREATE TABLE nodes (
  node       TEXT PRIMARY KEY,
  version    TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,
  draining   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

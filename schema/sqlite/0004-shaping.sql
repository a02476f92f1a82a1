-- What holds mail back besides its own due time: pauses by operators, pauses that a receiver has
-- asked for, and how many connections each MX group bears. Rows exist only while they say
-- something: a group without trouble has none.

-- By operators. `target` is a tenant's or message's id, an MX group, or a recipient domain.
CREATE TABLE queue_pauses (
  kind      TEXT NOT NULL CHECK (kind IN ('tenant', 'group', 'domain', 'message')),
  target    TEXT NOT NULL,
  paused_by TEXT NOT NULL,
  note      TEXT NOT NULL,
  paused_at INTEGER NOT NULL,
  due_at    INTEGER,                -- of a message: when it was due
  PRIMARY KEY (kind, target)
) STRICT, WITHOUT ROWID;

-- Who acted on the queue, when, why, and on how many messages.
CREATE TABLE operator_notes (
  id       INTEGER PRIMARY KEY,
  at       INTEGER NOT NULL,
  made_by  TEXT NOT NULL,
  action   TEXT NOT NULL CHECK (action IN ('pause', 'resume', 'retry', 'cancel')),
  kind     TEXT NOT NULL,
  target   TEXT NOT NULL,
  note     TEXT NOT NULL,
  messages INTEGER                  -- NULL where nobody counted
) STRICT;
CREATE INDEX operator_notes_of_target ON operator_notes (kind, target, id);

-- By replies of receivers, always towards one MX group.
CREATE TABLE suspensions (
  mx_group  TEXT NOT NULL,
  scope     TEXT NOT NULL CHECK (scope IN ('group', 'source', 'sender_domain', 'domain')),
  tenant_id BLOB NOT NULL,          -- of a sender domain; empty otherwise
  subject   TEXT NOT NULL,          -- source address, sender or recipient domain; empty for the group
  rule      TEXT NOT NULL,
  reply     TEXT NOT NULL,
  since     INTEGER NOT NULL,
  until     INTEGER NOT NULL,
  PRIMARY KEY (mx_group, scope, tenant_id, subject)
) STRICT, WITHOUT ROWID;

-- How many connections a group bears, as far as that is less than it is allowed.
CREATE TABLE group_states (
  mx_group   TEXT PRIMARY KEY,
  state      TEXT NOT NULL,         -- JSON
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What paced tenants have sent within the last hour, so that a restart gives nobody a second hour.
CREATE TABLE tenant_paces (
  tenant_id BLOB PRIMARY KEY,
  slots     TEXT NOT NULL           -- JSON list of [minute, messages]
) STRICT, WITHOUT ROWID;

-- Where a recipient domain's mail went last: only DNS knows, and operators ask by group.
CREATE TABLE groups_of_domains (
  domain   TEXT PRIMARY KEY,
  mx_group TEXT NOT NULL,
  seen_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX domains_of_group ON groups_of_domains (mx_group, domain);
CREATE INDEX domains_seen ON groups_of_domains (seen_at);

CREATE INDEX lanes_of_domain ON lanes (domain, id);
-- Parked and paused messages stand in no other index that leads from their lane.
CREATE INDEX messages_parked ON messages (lane, id) WHERE parked = 1;

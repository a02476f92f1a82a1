-- Mail that came in: bounces, complaints, mail by people, DMARC reports. A row is on disk before
-- its sender hears 250; processed_at says that it has been acted on, in the same transaction.

CREATE TABLE inbound_mails (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           BLOB NOT NULL UNIQUE,
  received_at  INTEGER NOT NULL,
  remote_ip    TEXT NOT NULL,
  ehlo_name    TEXT NOT NULL,
  tls          TEXT,                -- such as TLSv1.3; NULL in clear text
  mail_from    TEXT NOT NULL,       -- empty: the null sender
  recipients   TEXT NOT NULL,       -- JSON list, as RCPT named them
  size_octets  INTEGER NOT NULL,
  tries        INTEGER NOT NULL DEFAULT 0,  -- how often a daemon ended while it waited
  processed_at INTEGER,
  kind         TEXT CHECK (kind IN ('report', 'complaint', 'auto_reply', 'human', 'dmarc', 'unsubscribe', 'unreadable')),
  effect       TEXT CHECK (effect IN ('bounced', 'deferred', 'complained', 'unsubscribed', 'stored', 'forwarded', 'kept', 'none')),
  reason       TEXT,                -- why it had that effect, as a sentence
  digest       BLOB,                -- of what a report says: the same report again changes nothing
  message_id   BLOB,                -- the message that its return path or token proves
  tenant_id    BLOB,
  finding      TEXT                 -- JSON, for people
) STRICT;
CREATE INDEX inbound_waiting ON inbound_mails (seq) WHERE processed_at IS NULL;
CREATE INDEX inbound_of_message ON inbound_mails (message_id, seq) WHERE message_id IS NOT NULL;
CREATE INDEX inbound_of_kind ON inbound_mails (kind, seq);
CREATE INDEX inbound_of_effect ON inbound_mails (effect, seq);
CREATE INDEX inbound_received ON inbound_mails (received_at);

-- Apart, because it is large and goes first (retention).
CREATE TABLE inbound_contents (
  mail_seq INTEGER PRIMARY KEY,
  content  BLOB NOT NULL
) STRICT;

-- DMARC aggregate reports (RFC 7489 section 7.2): each one once, and their sums per domain and day.
CREATE TABLE dmarc_reports (
  id          INTEGER PRIMARY KEY,
  domain      TEXT NOT NULL,        -- of the published policy
  org_name    TEXT NOT NULL,
  report_id   TEXT NOT NULL,
  begins_at   INTEGER NOT NULL,
  ends_at     INTEGER NOT NULL,
  policy      TEXT NOT NULL,        -- JSON
  inbound_id  BLOB NOT NULL,
  received_at INTEGER NOT NULL,
  UNIQUE (domain, org_name, report_id)
) STRICT;
CREATE INDEX dmarc_reports_received ON dmarc_reports (received_at);

CREATE TABLE dmarc_days (
  domain      TEXT NOT NULL,        -- of the From field
  day         TEXT NOT NULL,        -- UTC, such as 2026-01-31
  org_name    TEXT NOT NULL,
  source_ip   TEXT NOT NULL,
  disposition TEXT NOT NULL,
  dkim        TEXT NOT NULL,        -- whether an aligned signature passed: pass or fail
  spf         TEXT NOT NULL,
  messages    INTEGER NOT NULL,
  PRIMARY KEY (domain, day, org_name, source_ip, disposition, dkim, spf)
) STRICT, WITHOUT ROWID;
CREATE INDEX dmarc_days_old ON dmarc_days (day);

-- Receivers whose hard bounces have leapt: until an operator decides they count as soft.
CREATE TABLE doubted_receivers (
  mx_group TEXT PRIMARY KEY,
  since    INTEGER NOT NULL,
  reason   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The newest message that a tenant had when it was stopped for review: older ones are not held
-- against it a second time.
CREATE TABLE tenant_reviews (
  tenant_id    BLOB PRIMARY KEY,
  last_message BLOB NOT NULL,
  at           INTEGER NOT NULL,
  reason       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- For undoing a receiver's bad hour, and for letting go of what has expired.
CREATE INDEX platform_suppressions_group ON platform_suppressions (mx_group, created_at);
CREATE INDEX platform_suppressions_expiry ON platform_suppressions (expires_at);
CREATE INDEX suppressions_hard ON suppressions (address) WHERE reason = 'hard_bounce';

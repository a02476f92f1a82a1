-- What comes in unasked is bounded. DMARC reports: the reporter's name once, the domain and day once per
-- reporter, and what a day's reports may take. Mail to roles and reports: the room of their contents.

-- A reporter is a name, and the domain that vouches for the mails with its reports.
CREATE TABLE dmarc_reporters (
  id     INTEGER PRIMARY KEY,
  name   TEXT NOT NULL,
  sender TEXT NOT NULL,  -- the domain that SPF or DKIM has proved; empty: none
  UNIQUE (name, sender)
) STRICT;

CREATE TABLE dmarc_domain_days (
  id          INTEGER PRIMARY KEY,
  domain      TEXT NOT NULL,     -- of the From field
  day         TEXT NOT NULL,     -- UTC, such as 2026-01-31
  proven      INTEGER NOT NULL,  -- whether the reporter has a sender
  reporter_id INTEGER NOT NULL,
  row_count   INTEGER NOT NULL DEFAULT 0,
  UNIQUE (domain, day, proven, reporter_id)
) STRICT;
CREATE INDEX dmarc_domain_days_old ON dmarc_domain_days (day);
CREATE INDEX dmarc_domain_days_reporter ON dmarc_domain_days (reporter_id);

CREATE TABLE dmarc_rows (
  domain_day_id INTEGER NOT NULL,
  source_ip     TEXT NOT NULL,
  disposition   TEXT NOT NULL,
  dkim          TEXT NOT NULL,  -- whether an aligned signature passed: pass or fail
  spf           TEXT NOT NULL,
  messages      INTEGER NOT NULL,
  PRIMARY KEY (domain_day_id, source_ip, disposition, dkim, spf)
) STRICT, WITHOUT ROWID;

-- What the reports of one UTC day of arrival have taken, as it is counted against the limit.
CREATE TABLE dmarc_room (
  day    TEXT NOT NULL,
  proven INTEGER NOT NULL,
  bytes  INTEGER NOT NULL,
  PRIMARY KEY (day, proven)
) STRICT, WITHOUT ROWID;

-- Nobody has checked the senders of earlier reports. What no report can say today does not come along.
INSERT INTO dmarc_reporters (name, sender)
  SELECT substr(org_name, 1, 200), '' FROM dmarc_days UNION SELECT substr(org_name, 1, 200), '' FROM dmarc_reports;
INSERT INTO dmarc_domain_days (domain, day, proven, reporter_id)
  SELECT DISTINCT o.domain, o.day, 0, r.id FROM dmarc_days o
  JOIN dmarc_reporters r ON r.name = substr(o.org_name, 1, 200) AND r.sender = ''
  WHERE o.day <= date('now', '+2 days');
INSERT INTO dmarc_rows (domain_day_id, source_ip, disposition, dkim, spf, messages)
  SELECT d.id, o.source_ip, o.disposition, o.dkim, o.spf, CAST(min(total(o.messages), 1e9) AS INTEGER)
  FROM dmarc_days o JOIN dmarc_reporters r ON r.name = substr(o.org_name, 1, 200) AND r.sender = ''
  JOIN dmarc_domain_days d ON d.domain = o.domain AND d.day = o.day AND d.proven = 0 AND d.reporter_id = r.id
  WHERE length(o.source_ip) <= 45 AND o.disposition IN ('none', 'quarantine', 'reject')
  GROUP BY d.id, o.source_ip, o.disposition, o.dkim, o.spf;
UPDATE dmarc_domain_days SET row_count = (SELECT count(*) FROM dmarc_rows r WHERE r.domain_day_id = dmarc_domain_days.id);
DROP TABLE dmarc_days;

CREATE TABLE dmarc_reports_kept (
  id          INTEGER PRIMARY KEY,
  reporter_id INTEGER NOT NULL,
  domain      TEXT NOT NULL,    -- of the published policy
  report_id   TEXT NOT NULL,
  begins_at   INTEGER NOT NULL,
  ends_at     INTEGER NOT NULL,
  policy      TEXT NOT NULL,    -- JSON
  inbound_id  BLOB NOT NULL,
  received_at INTEGER NOT NULL,
  UNIQUE (reporter_id, domain, report_id)
) STRICT;
INSERT OR IGNORE INTO dmarc_reports_kept
  SELECT o.id, r.id, o.domain, o.report_id, o.begins_at, o.ends_at, o.policy, o.inbound_id, o.received_at
  FROM dmarc_reports o JOIN dmarc_reporters r ON r.name = substr(o.org_name, 1, 200) AND r.sender = '';
DROP TABLE dmarc_reports;
ALTER TABLE dmarc_reports_kept RENAME TO dmarc_reports;
CREATE INDEX dmarc_reports_received ON dmarc_reports (received_at);

-- Mails that prove no message of ours, and what their contents take.
CREATE TABLE unasked_mails (
  mail_seq INTEGER PRIMARY KEY,
  bytes    INTEGER NOT NULL  -- 0 once the content is erased
) STRICT;
CREATE INDEX unasked_with_content ON unasked_mails (mail_seq) WHERE bytes > 0;

-- Their sums: whoever erases a mail or a content, for whatever reason, need not think of them.
CREATE TABLE unasked_room (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  mails INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;
INSERT INTO unasked_room (id, mails, bytes) VALUES (1, 0, 0);

CREATE TRIGGER unasked_kept AFTER INSERT ON unasked_mails BEGIN
  UPDATE unasked_room SET mails = mails + 1, bytes = bytes + NEW.bytes WHERE id = 1;
END;
CREATE TRIGGER unasked_emptied AFTER UPDATE OF bytes ON unasked_mails BEGIN
  UPDATE unasked_room SET bytes = bytes + NEW.bytes - OLD.bytes WHERE id = 1;
END;
CREATE TRIGGER unasked_gone AFTER DELETE ON unasked_mails BEGIN
  UPDATE unasked_room SET mails = mails - 1, bytes = bytes - OLD.bytes WHERE id = 1;
END;
CREATE TRIGGER inbound_content_erased AFTER DELETE ON inbound_contents BEGIN
  UPDATE unasked_mails SET bytes = 0 WHERE mail_seq = OLD.mail_seq;
END;
CREATE TRIGGER inbound_mail_erased AFTER DELETE ON inbound_mails BEGIN
  DELETE FROM unasked_mails WHERE mail_seq = OLD.seq;
END;

-- What people and reporters sent before this version.
INSERT INTO unasked_mails (mail_seq, bytes)
  SELECT m.seq, coalesce(length(c.content), 0) FROM inbound_mails m LEFT JOIN inbound_contents c ON c.mail_seq = m.seq
  WHERE m.kind IN ('human', 'dmarc') AND m.message_id IS NULL;

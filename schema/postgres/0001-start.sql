-- The whole schema at the time when PostgreSQL came: what schema/sqlite made in steps up to its number 0040. IDs are 16-byte
-- UUIDs, times are milliseconds since 1970, lists that nobody searches are JSON text. Rows of tenants carry tenant_id, and
-- every index over them starts with it. The statements are the same ones that run on SQLite, which decides the types:
--   * bigint for every integer, flags of 0 and 1 included, since the statements compare them with numbers;
--   * text COLLATE "C", since pages of lists compare texts by their bytes, whatever the database's own collation is;
--   * IDENTITY where the insert assigns the number. It has gaps where a transaction was rolled back.
--
-- All of it is in a schema of its own, `postrider`: a database may belong to another program as well, whose tables may have
-- the same names, and since PostgreSQL 15 only the owner may create anything in `public`. It can be backed up
-- (pg_dump -n postrider) and dropped alone. The search path of each connection names it, so no statement does.
--
-- Hot tables are vacuumed early: their dead rows are in the way of every look-up. Of those whose few rows are updated all
-- the time, half of each page stays free, so that the new version of a row stays beside the old one, and no index changes.

-- What SQLite has under these names, so that one text of a statement serves both.
-- Its max(a, b) and min(a, b) are null if one of them is. A name with one argument is an aggregate; of bytea, PostgreSQL has
-- those since its version 18.
CREATE FUNCTION max(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN a >= b THEN a WHEN a < b THEN b END;
CREATE FUNCTION min(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN a <= b THEN a WHEN a > b THEN b END;
CREATE FUNCTION larger(a bytea, b bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN CASE WHEN a >= b THEN a ELSE b END;
CREATE FUNCTION smaller(a bytea, b bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN CASE WHEN a <= b THEN a ELSE b END;
CREATE AGGREGATE max(bytea) (SFUNC = larger, STYPE = bytea, SORTOP = >);
CREATE AGGREGATE min(bytea) (SFUNC = smaller, STYPE = bytea, SORTOP = <);
CREATE FUNCTION instr(text text, part text) RETURNS int LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN position(part IN text);
CREATE FUNCTION hex(bytes bytea) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN upper(encode(bytes, 'hex'));
CREATE FUNCTION unhex(digits text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN decode(digits, 'hex');

-- JSON is kept as text, byte for byte as it was stored.
CREATE FUNCTION json_valid(document text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  RETURN document::json IS NOT NULL;
EXCEPTION WHEN others THEN
  RETURN false;
END $$;
-- '$.bounce.type', '$.tags."name"', or the name of a member.
CREATE FUNCTION json_path(path text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN CASE WHEN left(path, 2) = '$.' THEN string_to_array(replace(substr(path, 3), '"', ''), '.') ELSE ARRAY[path] END;
CREATE FUNCTION json_part(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (document::json #> json_path(path))::text;
-- True is 1 and false is 0.
CREATE FUNCTION json_text(document text, path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN CASE (document::json #> json_path(path))::text WHEN 'true' THEN '1' WHEN 'false' THEN '0'
    ELSE document::json #>> json_path(path) END;
CREATE OPERATOR -> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_part);
CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_text);
CREATE FUNCTION json_each(document text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT json_array_elements_text(document::json) $$;

-- Raised in the transaction of every verb that may change what nodes have cached; read at the start of every group.
CREATE TABLE config_version (
  id      bigint PRIMARY KEY CHECK (id = 1),
  version bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
INSERT INTO config_version (id, version) VALUES (1, 0);

-- Facts about the database itself: its schema, and how far work that goes on for long has got.
CREATE TABLE meta (
  name  text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL
);

CREATE TABLE tenants (
  id             bytea PRIMARY KEY,
  name           text COLLATE "C" NOT NULL,
  status         text COLLATE "C" NOT NULL CHECK (status IN ('pending_verification', 'in_review', 'active', 'suspended')),
  status_reason  text COLLATE "C",
  tier           text COLLATE "C" NOT NULL CHECK (tier IN ('1k', '10k', 'uncapped')),
  tier_pinned    bigint NOT NULL,
  open_tracking  bigint NOT NULL,
  click_tracking bigint NOT NULL,
  unsubscribe    bigint NOT NULL,
  bounces_domain text COLLATE "C",  -- a tenant's own bounce subdomain; NULL: the service's
  created_at     bigint NOT NULL,
  content_days   bigint  -- how long the content of its messages is kept after their end; NULL: as configured
);

CREATE TABLE users (
  id            bytea PRIMARY KEY,
  tenant_id     bytea REFERENCES tenants (id),  -- NULL: an operator of the platform
  email         text COLLATE "C" NOT NULL UNIQUE,  -- lower case
  role          text COLLATE "C" NOT NULL CHECK (role IN ('operator', 'owner', 'member', 'viewer')),
  password_hash text COLLATE "C" NOT NULL,
  created_at    bigint NOT NULL
);
CREATE INDEX users_of_tenant ON users (tenant_id, id);

CREATE TABLE api_keys (
  id           bytea PRIMARY KEY,
  tenant_id    bytea NOT NULL REFERENCES tenants (id),
  public_id    text COLLATE "C" NOT NULL UNIQUE,
  name         text COLLATE "C" NOT NULL,
  scopes       text COLLATE "C" NOT NULL,  -- JSON list
  bound_domain text COLLATE "C",
  secret_hash  bytea NOT NULL,  -- SHA-256 of the 256-bit secret
  created_at   bigint NOT NULL,
  revoked_at   bigint
);
CREATE INDEX api_keys_of_tenant ON api_keys (tenant_id, id);

CREATE TABLE domains (
  id              bytea PRIMARY KEY,
  tenant_id       bytea NOT NULL REFERENCES tenants (id),
  name            text COLLATE "C" NOT NULL,
  state           text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'verified', 'failed', 'revoked')),
  signing_key     bigint NOT NULL,  -- the current one in signing_keys
  failure_reason  text COLLATE "C",
  verified_at     bigint,
  last_checked_at bigint,
  open_messages   bigint NOT NULL DEFAULT 0,  -- accepted and not finished: the key must outlive them
  created_at      bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE UNIQUE INDEX domains_live_name ON domains (tenant_id, name) WHERE state <> 'revoked';
CREATE INDEX domains_of_tenant ON domains (tenant_id, id);
CREATE UNIQUE INDEX domains_verified_name ON domains (name) WHERE state = 'verified';

CREATE TABLE webhooks (
  id            bytea PRIMARY KEY,
  tenant_id     bytea NOT NULL REFERENCES tenants (id),
  url           text COLLATE "C" NOT NULL,  -- as the tenant wrote it
  target        text COLLATE "C" NOT NULL,  -- normalised: what is compared and connected to
  description   text COLLATE "C",
  created_at    bigint NOT NULL,
  failing_since bigint,  -- since when no attempt has succeeded; NULL: the last one did
  told_at       bigint,  -- when the tenant was told of that
  events        text COLLATE "C",  -- JSON list of types and families; NULL: every event
  slot          bigint NOT NULL DEFAULT 1
);
CREATE INDEX webhooks_failing ON webhooks (failing_since) WHERE failing_since IS NOT NULL AND told_at IS NULL;
CREATE INDEX webhooks_of_tenant ON webhooks (tenant_id, id);
CREATE UNIQUE INDEX webhooks_target ON webhooks (tenant_id, target);

-- One recipient each.
CREATE TABLE messages (
  id               bytea PRIMARY KEY,
  tenant_id        bytea NOT NULL,
  submission_id    bytea NOT NULL,
  lane             bigint NOT NULL,
  recipient        text COLLATE "C" NOT NULL,
  recipient_name   text COLLATE "C",
  copy             text COLLATE "C" CHECK (copy IN ('cc', 'bcc')),  -- NULL: named in `to`
  state            text COLLATE "C" NOT NULL
    CHECK (state IN ('scheduled', 'queued', 'sending', 'deferred', 'delivered', 'bounced', 'failed', 'canceled')),
  attempts         bigint NOT NULL,
  due_at           bigint,  -- while sending: the time of the next attempt should this one vanish
  expires_at       bigint NOT NULL,
  last_reason      text COLLATE "C",  -- why it waits, or why it ended
  ambiguous        bigint NOT NULL,  -- the last attempt may have been accepted without our knowing
  notices          bigint NOT NULL DEFAULT 0,  -- how often the tenant was told of a delay
  parked           bigint NOT NULL,  -- 1: cannot be read; waits for a person
  put_off          bigint NOT NULL DEFAULT 0,  -- 1: due_at is the end of the pause that holds it
  source_address   text COLLATE "C",  -- of all its attempts; NULL: not tried yet, or the system picks
  bounce           text COLLATE "C" CHECK (bounce IN ('hard', 'soft', 'block')),
  complained       bigint NOT NULL DEFAULT 0,
  complaint_weight double precision,  -- how much its complaint counts; NULL: none, or in full
  created_at       bigint NOT NULL,
  finished_at      bigint,
  first_attempt_at bigint  -- of a first attempt that its event tells, and that has no row in attempts
) WITH (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX messages_due ON messages (lane, due_at, id) WHERE state IN ('queued', 'deferred') AND parked = 0;
CREATE INDEX messages_expiry ON messages (expires_at, id) WHERE finished_at IS NULL;
CREATE INDEX messages_finished ON messages (finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX messages_of_tenant ON messages (tenant_id, id);
CREATE INDEX messages_parked ON messages (lane, id) WHERE parked = 1;
CREATE INDEX messages_put_off ON messages (lane) WHERE put_off = 1;
CREATE INDEX messages_scheduled ON messages (due_at, id) WHERE state = 'scheduled';
CREATE INDEX messages_scheduled_of_lane ON messages (lane, id) WHERE state = 'scheduled';
CREATE INDEX messages_sending ON messages (id) WHERE state = 'sending';

-- Mails that came as a whole, by SMTP; their bodies are in pieces.
CREATE TABLE written_mails (
  seq            bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tenant_id      bytea NOT NULL,
  submission_id  bytea NOT NULL,
  leftover_since bigint,  -- when its latest piece came; 0: given up, or erased; NULL: accepted
  header         bytea,  -- as it goes out, without our own fields; NULL: not accepted, or erased
  pieces         bigint,  -- how many the body has, and their bytes in all
  bytes          bigint,
  body_hash      text COLLATE "C",  -- the bh= of its DKIM signatures
  eight_bit      bigint,  -- 1: the body has octets above 127
  UNIQUE (tenant_id, submission_id)
);
CREATE INDEX written_leftovers ON written_mails (leftover_since) WHERE leftover_since IS NOT NULL;

-- When a key was last used, in steps of a minute. A table of its own: what every call looks up about
-- a key stays remembered while these rows change.
CREATE TABLE api_key_uses (
  key_id       bytea PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
  tenant_id    bytea NOT NULL,
  last_used_at bigint NOT NULL
);
CREATE INDEX api_key_uses_of_tenant ON api_key_uses (tenant_id, key_id);

-- Stored once per submission, and erased with its content.
CREATE TABLE attachments (
  content_id   bigint NOT NULL,  -- in contents
  position     bigint NOT NULL,  -- as in the call, from 0
  filename     text COLLATE "C" NOT NULL,
  content_type text COLLATE "C" NOT NULL,
  cid          text COLLATE "C",  -- its Content-ID; NULL: none
  bytes        bytea NOT NULL,
  PRIMARY KEY (content_id, position)
);

CREATE TABLE attempts (
  message_id    bytea NOT NULL,
  number        bigint NOT NULL,
  tenant_id     bytea NOT NULL,
  outcome       text COLLATE "C" NOT NULL CHECK (outcome IN ('delivered', 'temporary', 'permanent')),
  started_at    bigint NOT NULL,
  elapsed_ms    bigint NOT NULL,
  stage         text COLLATE "C" NOT NULL,
  mx            text COLLATE "C",
  remote_ip     text COLLATE "C",
  tls           text COLLATE "C",  -- JSON
  smtp_code     bigint,
  enhanced_code text COLLATE "C",
  response      text COLLATE "C" NOT NULL,
  tls_policy    text COLLATE "C" NOT NULL DEFAULT 'none' CHECK (tls_policy IN ('none', 'testing', 'enforce')),
  tls_failure   text COLLATE "C",
  tried         text COLLATE "C",  -- JSON; NULL: there was a session, or nobody was called
  PRIMARY KEY (message_id, number)
);

-- Who did what. Failed sign-ins of an hour are summed up in one entry.
CREATE TABLE audit (
  seq       bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tenant_id bytea,  -- NULL: it is about the platform
  at        bigint NOT NULL,
  actor     text COLLATE "C" NOT NULL CHECK (actor IN ('user', 'operator', 'command', 'system', 'key')),
  user_id   bytea,
  key_id    bytea,  -- of an API key
  who       text COLLATE "C" NOT NULL,
  address   text COLLATE "C",  -- the client's
  action    text COLLATE "C" NOT NULL,
  data      text COLLATE "C" NOT NULL,  -- JSON, without secrets
  sum_key   text COLLATE "C"  -- the hour, account and network of failed sign-ins
);
CREATE INDEX audit_by_time ON audit (at);
CREATE INDEX audit_of_tenant ON audit (tenant_id, seq);
CREATE UNIQUE INDEX audit_sums ON audit (sum_key) WHERE sum_key IS NOT NULL;

CREATE TABLE batches (
  seq             bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tenant_id       bytea NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  items           text COLLATE "C" NOT NULL,  -- JSON list of {submission} or {error, message}, in the order of the call
  created_at      bigint NOT NULL,
  UNIQUE (tenant_id, idempotency_key)
);
CREATE INDEX batches_by_age ON batches (created_at);

CREATE TABLE broken_tls (
  host       text COLLATE "C" PRIMARY KEY,  -- name of an MX host
  reason     text COLLATE "C" NOT NULL,
  since      bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX broken_tls_expiry ON broken_tls (expires_at);

CREATE TABLE certificates (
  directory           text COLLATE "C" NOT NULL,  -- the URL of the directory
  names               text COLLATE "C" NOT NULL,  -- sorted, separated by spaces
  chain               text COLLATE "C",  -- PEM; NULL: none yet
  key_master_id       text COLLATE "C",  -- the master key that sealed its private key
  key_sealed          bytea,
  not_before          bigint,
  not_after           bigint,
  order_url           text COLLATE "C",  -- an order that is not finished; NULL: none
  order_key_master_id text COLLATE "C",  -- the master key that sealed the private key of that order
  order_key_sealed    bytea,
  failures            bigint NOT NULL,  -- attempts since the last success, with one that is running
  next_attempt_at     bigint NOT NULL,
  failure             text COLLATE "C",  -- why the latest attempt failed; NULL: it did not, or it is running
  failed_at           bigint,
  PRIMARY KEY (directory, names)
);

CREATE TABLE chart_figures (
  tenant_id         bytea NOT NULL,
  hour              bigint NOT NULL,  -- since 1970
  provider          text COLLATE "C" NOT NULL,  -- an MX group; empty: not known; 'other': one of many small ones
  accepted          bigint NOT NULL DEFAULT 0,
  delivered         bigint NOT NULL DEFAULT 0,
  deferred          bigint NOT NULL DEFAULT 0,
  bounced_hard      bigint NOT NULL DEFAULT 0,
  bounced_soft      bigint NOT NULL DEFAULT 0,
  bounced_block     bigint NOT NULL DEFAULT 0,
  failed            bigint NOT NULL DEFAULT 0,
  complained        bigint NOT NULL DEFAULT 0,
  opened            bigint NOT NULL DEFAULT 0,  -- messages: the first fetch of each pixel
  opened_by_machine bigint NOT NULL DEFAULT 0,  -- of these: most likely by no person
  clicked           bigint NOT NULL DEFAULT 0,  -- links: the first fetch of each
  bounced_later     bigint NOT NULL DEFAULT 0,  -- of the bounces: of messages that are counted as delivered as well
  canceled          bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, hour, provider)
);
CREATE INDEX chart_figures_old ON chart_figures (hour);

-- Apart from the submission because it is large and goes first (retention).
CREATE TABLE contents (
  id          bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  subject     text COLLATE "C" NOT NULL,
  html        text COLLATE "C",
  text        text COLLATE "C",
  headers     text COLLATE "C" NOT NULL,  -- JSON list of [name, value]
  lists       text COLLATE "C",  -- JSON {to, cc, replyTo} of [name, address]; NULL: none are shown
  attachments bigint NOT NULL DEFAULT 0  -- how many there are
);

-- Deleted webhooks whose deliveries are still to be erased.
CREATE TABLE deleted_webhooks (
  id bytea PRIMARY KEY
);

CREATE TABLE dmarc_domain_days (
  id          bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  domain      text COLLATE "C" NOT NULL,  -- of the From field
  day         text COLLATE "C" NOT NULL,  -- UTC, such as 2026-01-31
  proven      bigint NOT NULL,  -- whether the reporter has a sender
  reporter_id bigint NOT NULL,
  row_count   bigint NOT NULL DEFAULT 0,
  UNIQUE (domain, day, proven, reporter_id)
);
CREATE INDEX dmarc_domain_days_old ON dmarc_domain_days (day);
CREATE INDEX dmarc_domain_days_reporter ON dmarc_domain_days (reporter_id);

-- A reporter is a name, and the domain that vouches for the mails with its reports.
CREATE TABLE dmarc_reporters (
  id           bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  name         text COLLATE "C" NOT NULL,
  sender       text COLLATE "C" NOT NULL,  -- the domain that SPF or DKIM has proved; empty: none
  organization text COLLATE "C" NOT NULL DEFAULT '',  -- of the sender: what it may take is bounded
  UNIQUE (name, sender)
);

-- DMARC aggregate reports (RFC 7489 section 7.2): each one once, and their sums per domain and day.
CREATE TABLE dmarc_reports (
  id          bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  reporter_id bigint NOT NULL,
  domain      text COLLATE "C" NOT NULL,  -- of the published policy
  report_id   text COLLATE "C" NOT NULL,
  begins_at   bigint NOT NULL,
  ends_at     bigint NOT NULL,
  policy      text COLLATE "C" NOT NULL,  -- JSON
  inbound_id  bytea NOT NULL,
  received_at bigint NOT NULL,
  UNIQUE (reporter_id, domain, report_id)
);
CREATE INDEX dmarc_reports_received ON dmarc_reports (received_at);

-- What the reports of one UTC day of arrival have taken, as it is counted against the limit.
CREATE TABLE dmarc_room (
  day          text COLLATE "C" NOT NULL,
  organization text COLLATE "C" NOT NULL,  -- empty: reports without a proven sender
  bytes        bigint NOT NULL,
  PRIMARY KEY (day, organization)
);

CREATE TABLE dmarc_rows (
  domain_day_id bigint NOT NULL,
  source_ip     text COLLATE "C" NOT NULL,
  disposition   text COLLATE "C" NOT NULL,
  dkim          text COLLATE "C" NOT NULL,  -- whether an aligned signature passed: pass or fail
  spf           text COLLATE "C" NOT NULL,
  messages      bigint NOT NULL,
  PRIMARY KEY (domain_day_id, source_ip, disposition, dkim, spf)
);

-- What the last look into DNS has found, record by record: expected beside found.
CREATE TABLE domain_checks (
  domain_id  bytea PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  tenant_id  bytea NOT NULL,
  checked_at bigint NOT NULL,
  checks     text COLLATE "C" NOT NULL  -- JSON list
);

CREATE TABLE domain_rechecks (
  domain_id     bytea PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  tenant_id     bytea NOT NULL,
  next_at       bigint,
  since         bigint NOT NULL,  -- of this stretch of growing pauses
  looks         bigint NOT NULL DEFAULT 0,  -- in this stretch
  misses        bigint NOT NULL DEFAULT 0,  -- of a verified domain: definite ones in a row
  first_miss_at bigint
);
CREATE INDEX domain_rechecks_due ON domain_rechecks (next_at) WHERE next_at IS NOT NULL;

-- Receivers whose hard bounces have leapt: until an operator decides they count as soft.
CREATE TABLE doubted_receivers (
  mx_group text COLLATE "C" PRIMARY KEY,
  since    bigint NOT NULL,
  reason   text COLLATE "C" NOT NULL
);

-- One row per fact. seq is the order in which readers see them: assigned inside the commit.
CREATE TABLE events (
  seq        bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id         bytea NOT NULL UNIQUE,
  tenant_id  bytea NOT NULL,
  message_id bytea NOT NULL,
  type       text COLLATE "C" NOT NULL,
  at         bigint NOT NULL,
  data       text COLLATE "C" NOT NULL  -- JSON, as webhooks and the feed show it
);
CREATE INDEX events_of_message ON events (message_id, seq);
CREATE INDEX events_of_tenant ON events (tenant_id, seq);

-- How many connections a group bears, as far as that is less than it is allowed.
CREATE TABLE group_states (
  mx_group   text COLLATE "C" PRIMARY KEY,
  state      text COLLATE "C" NOT NULL,  -- JSON
  changed_at bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Where a recipient domain's mail went last: only DNS knows, and operators ask by group.
CREATE TABLE groups_of_domains (
  domain   text COLLATE "C" PRIMARY KEY,
  mx_group text COLLATE "C" NOT NULL,
  seen_at  bigint NOT NULL
);
CREATE INDEX domains_of_group ON groups_of_domains (mx_group, domain);
CREATE INDEX domains_seen ON groups_of_domains (seen_at);

CREATE TABLE inbound_mails (
  seq          bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  id           bytea NOT NULL UNIQUE,
  received_at  bigint NOT NULL,
  remote_ip    text COLLATE "C" NOT NULL,
  ehlo_name    text COLLATE "C" NOT NULL,
  tls          text COLLATE "C",  -- such as TLSv1.3; NULL in clear text
  mail_from    text COLLATE "C" NOT NULL,  -- empty: the null sender
  recipients   text COLLATE "C" NOT NULL,  -- JSON list, as RCPT named them
  size_octets  bigint NOT NULL,
  tries        bigint NOT NULL DEFAULT 0,  -- how often a daemon ended while it waited
  processed_at bigint,
  kind         text COLLATE "C"
    CHECK (kind IN ('report', 'complaint', 'auto_reply', 'human', 'dmarc', 'unsubscribe', 'unreadable')),
  effect       text COLLATE "C"
    CHECK (effect IN ('bounced', 'deferred', 'complained', 'unsubscribed', 'stored', 'forwarded', 'kept', 'none')),
  reason       text COLLATE "C",  -- why it had that effect, as a sentence
  digest       bytea,  -- of what a report says: the same report again changes nothing
  message_id   bytea,  -- the message that its return path or token proves
  tenant_id    bytea,
  finding      text COLLATE "C",  -- JSON, for people
  refused_with text COLLATE "C",  -- the reply that its sender got; NULL: it was taken
  slot         bigint NOT NULL DEFAULT 1
);
CREATE INDEX inbound_of_effect ON inbound_mails (effect, seq);
CREATE INDEX inbound_of_kind ON inbound_mails (kind, seq);
CREATE INDEX inbound_of_message ON inbound_mails (message_id, seq) WHERE message_id IS NOT NULL;
CREATE INDEX inbound_received ON inbound_mails (received_at);
CREATE INDEX inbound_refused ON inbound_mails (seq) WHERE refused_with IS NOT NULL;
CREATE INDEX inbound_waiting ON inbound_mails (slot, seq) WHERE processed_at IS NULL;

CREATE TABLE returned_mails (
  mail_seq    bigint PRIMARY KEY,
  message_id  bytea,  -- which its recipient proves
  received_at bigint NOT NULL,
  beyond      bigint NOT NULL,  -- the bounds of its message's day: 1: it waits, 2: it had no effect, and is only noted
  bytes       bigint NOT NULL  -- 0 once the content is erased
);
CREATE INDEX returned_noted ON returned_mails (mail_seq) WHERE beyond = 2;
CREATE INDEX returned_of_message ON returned_mails (message_id, received_at) WHERE beyond = 0;
CREATE INDEX returned_with_content ON returned_mails (mail_seq) WHERE bytes > 0;

-- The sums of the table above, kept by triggers: whoever erases a mail or a content need not think of them.
CREATE TABLE returned_room (
  id            bigint PRIMARY KEY CHECK (id = 1),
  bytes         bigint NOT NULL,
  waiting_bytes bigint NOT NULL  -- of those beyond the bounds, which wait to be acted on
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
INSERT INTO returned_room (id, bytes, waiting_bytes) VALUES (1, 0, 0);

-- Mails that prove no message of ours, and what their contents take.
CREATE TABLE unasked_mails (
  mail_seq bigint PRIMARY KEY,
  bytes    bigint NOT NULL  -- 0 once the content is erased
);
CREATE INDEX unasked_with_content ON unasked_mails (mail_seq) WHERE bytes > 0;

-- The sums of the table above, kept by triggers: whoever erases a mail or a content need not think of them.
CREATE TABLE unasked_room (
  id    bigint PRIMARY KEY CHECK (id = 1),
  mails bigint NOT NULL,
  bytes bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
INSERT INTO unasked_room (id, mails, bytes) VALUES (1, 0, 0);

-- Apart, because it is large and goes first (retention).
CREATE TABLE inbound_contents (
  mail_seq bigint PRIMARY KEY,
  content  bytea NOT NULL
);

-- How many of its first waiting mails a slot may have in work, where that is more than usual.
CREATE TABLE inbound_reaches (
  slot  bigint PRIMARY KEY,
  mails bigint NOT NULL
);

-- The mail of a slot that is being tried alone, since it may have ended the process before.
CREATE TABLE inbound_trials (
  slot     bigint PRIMARY KEY,
  mail_seq bigint NOT NULL
);

-- A lane is one tenant's mail to one domain: the unit in which the scheduler takes turns.
CREATE TABLE lanes (
  id        bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tenant_id bytea NOT NULL,
  domain    text COLLATE "C" NOT NULL,  -- ASCII, lower case
  slot      bigint NOT NULL DEFAULT 1,
  UNIQUE (tenant_id, domain, slot)
);
CREATE INDEX lanes_of_domain ON lanes (domain, id);

CREATE TABLE link_hits (
  message_id    bytea NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  link          bigint NOT NULL,  -- index of the tracked link in the HTML; -1: the pixel
  tenant_id     bytea NOT NULL,
  hits          bigint NOT NULL,
  events        bigint NOT NULL,
  first_at      bigint NOT NULL,
  last_at       bigint NOT NULL,
  last_event_at bigint,  -- at most one event per minute
  PRIMARY KEY (message_id, link)
);

-- A link in a mail that proves who reads the address. Used once: then the row is gone.
CREATE TABLE mail_links (
  id         bytea PRIMARY KEY,
  token_hash bytea NOT NULL UNIQUE,
  purpose    text COLLATE "C" NOT NULL CHECK (purpose IN ('reset', 'confirmation', 'invitation')),
  email      text COLLATE "C" NOT NULL,  -- lower case
  user_id    bytea REFERENCES users (id) ON DELETE CASCADE,  -- NULL: an invitation makes the user
  tenant_id  bytea REFERENCES tenants (id) ON DELETE CASCADE,  -- of an invitation
  role       text COLLATE "C" CHECK (role IN ('owner', 'member', 'viewer')),  -- of an invitation
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX mail_links_expiry ON mail_links (expires_at);
CREATE INDEX mail_links_of_tenant ON mail_links (tenant_id, id) WHERE tenant_id IS NOT NULL;
CREATE INDEX mail_links_of_user ON mail_links (user_id, id) WHERE user_id IS NOT NULL;

-- The daemons that share this store, each with the last time it renewed its slots. One that is being drained hands them
-- over and takes no others.
CREATE TABLE nodes (
  node       text COLLATE "C" PRIMARY KEY,
  version    text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  seen_at    bigint NOT NULL,
  draining   bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Who acted on the queue, when, why, and on how many messages.
CREATE TABLE operator_notes (
  id       bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  at       bigint NOT NULL,
  made_by  text COLLATE "C" NOT NULL,
  action   text COLLATE "C" NOT NULL CHECK (action IN ('pause', 'resume', 'retry', 'cancel')),
  kind     text COLLATE "C" NOT NULL,
  target   text COLLATE "C" NOT NULL,
  note     text COLLATE "C" NOT NULL,
  messages bigint  -- NULL where nobody counted
);
CREATE INDEX operator_notes_of_target ON operator_notes (kind, target, id);

-- Keys of the platform itself: HMAC keys of return paths and tokens, the service's DKIM key.
-- Several may live side by side: tokens carry key_id, rows carry the master key that sealed them.
CREATE TABLE platform_keys (
  purpose       text COLLATE "C" NOT NULL,
  key_id        text COLLATE "C" NOT NULL,
  master_key_id text COLLATE "C" NOT NULL,
  sealed        bytea NOT NULL,
  public_part   text COLLATE "C",
  created_at    bigint NOT NULL,
  retired_at    bigint,
  PRIMARY KEY (purpose, key_id)
);

CREATE TABLE platform_suppressions (
  address    text COLLATE "C" PRIMARY KEY,
  mx_group   text COLLATE "C",  -- where the statement came from, so that a bad hour can be undone
  rule       text COLLATE "C" NOT NULL,
  message_id bytea,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX platform_suppressions_expiry ON platform_suppressions (expires_at);
CREATE INDEX platform_suppressions_group ON platform_suppressions (mx_group, created_at);
CREATE INDEX platform_suppressions_rule ON platform_suppressions (rule, created_at);

-- By operators. `target` is a tenant's or message's id, an MX group, or a recipient domain.
CREATE TABLE queue_pauses (
  kind      text COLLATE "C" NOT NULL CHECK (kind IN ('tenant', 'group', 'domain', 'message')),
  target    text COLLATE "C" NOT NULL,
  paused_by text COLLATE "C" NOT NULL,
  note      text COLLATE "C" NOT NULL,
  paused_at bigint NOT NULL,
  due_at    bigint,  -- of a message: when it was due
  PRIMARY KEY (kind, target)
);

CREATE TABLE recipient_marks (
  seq      bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,  -- in the order of the messages
  first_id bytea NOT NULL,  -- of the messages that it stands for
  last_id  bytea NOT NULL,
  marks    bytea NOT NULL  -- CRC-32 of tenant and address of each, 4 bytes each, ascending
);

CREATE TABLE recovery_codes (
  user_id   bytea NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_hash bytea NOT NULL,
  PRIMARY KEY (user_id, code_hash)
);

-- TOTP (RFC 6238). Until the first code was typed it protects nothing.
CREATE TABLE second_factors (
  user_id       bytea PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  master_key_id text COLLATE "C" NOT NULL,
  sealed        bytea NOT NULL,
  last_step     bigint NOT NULL,  -- of the last code that was taken: none is taken twice
  created_at    bigint NOT NULL,
  confirmed_at  bigint
);

CREATE TABLE service_figures (
  hour              bigint NOT NULL,  -- since 1970
  source            text COLLATE "C" NOT NULL,  -- the address that the message goes out from; empty: not known
  provider          text COLLATE "C" NOT NULL,  -- an MX group; empty: not known; 'other': one of many small ones
  accepted          bigint NOT NULL DEFAULT 0,
  delivered         bigint NOT NULL DEFAULT 0,
  deferred          bigint NOT NULL DEFAULT 0,
  bounced_hard      bigint NOT NULL DEFAULT 0,
  bounced_soft      bigint NOT NULL DEFAULT 0,
  bounced_block     bigint NOT NULL DEFAULT 0,
  bounced_later     bigint NOT NULL DEFAULT 0,
  failed            bigint NOT NULL DEFAULT 0,
  canceled          bigint NOT NULL DEFAULT 0,
  complained        bigint NOT NULL DEFAULT 0,
  opened            bigint NOT NULL DEFAULT 0,
  opened_by_machine bigint NOT NULL DEFAULT 0,
  clicked           bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (hour, source, provider)
);

CREATE TABLE sessions (
  id           bytea PRIMARY KEY,
  user_id      bytea NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash   bytea NOT NULL UNIQUE,
  client       text COLLATE "C",  -- what the browser calls itself
  address      text COLLATE "C" NOT NULL,  -- where it was last seen
  created_at   bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  expires_at   bigint NOT NULL,  -- moves with last_seen_at, but never beyond ends_at
  ends_at      bigint NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_of_user ON sessions (user_id, id);

-- Tenants that came by themselves and have not confirmed their address yet.
CREATE TABLE sign_ups (
  tenant_id  bytea PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
  user_id    bytea NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at bigint NOT NULL
);
CREATE INDEX sign_ups_by_age ON sign_ups (created_at);
CREATE INDEX sign_ups_of_user ON sign_ups (user_id);

-- DKIM keys of domains. A table of its own so that keys can be rotated: a domain then has several.
CREATE TABLE signing_keys (
  id            bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  domain_id     bytea NOT NULL,
  selector      text COLLATE "C" NOT NULL,
  public_key    text COLLATE "C" NOT NULL,  -- base64 of the SubjectPublicKeyInfo
  master_key_id text COLLATE "C" NOT NULL,
  sealed        bytea,  -- NULL once erased
  created_at    bigint NOT NULL
);
CREATE INDEX signing_keys_of_domain ON signing_keys (domain_id);

-- Each is a share of the work that one node does, under an epoch that every takeover raises.
CREATE TABLE slots (
  slot        bigint PRIMARY KEY,
  node        text COLLATE "C" NOT NULL,
  epoch       bigint NOT NULL,
  lease_until bigint  -- NULL: until the node's process ends
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- One row per address and MX group, whatever was sent: the days with mail make an address known
-- there. A row that is older than the memory of receivers goes, and the address is new again.
CREATE TABLE source_usage (
  address    text COLLATE "C" NOT NULL,
  mx_group   text COLLATE "C" NOT NULL,
  day        bigint NOT NULL,  -- the last day with mail, in days since 1970 (UTC)
  used_today bigint NOT NULL,  -- new messages on that day
  days_used  bigint NOT NULL,  -- days with mail, that day included
  PRIMARY KEY (mx_group, address)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
CREATE INDEX source_usage_by_day ON source_usage (day);

CREATE TABLE submissions (
  id                bytea PRIMARY KEY,
  tenant_id         bytea NOT NULL,
  api_key_id        bytea NOT NULL,
  domain_id         bytea NOT NULL,
  content_id        bigint NOT NULL,
  idempotency_key   text COLLATE "C",
  from_address      text COLLATE "C" NOT NULL,
  from_name         text COLLATE "C",
  subject           text COLLATE "C" NOT NULL,  -- kept as long as the events that quote it
  rejected          text COLLATE "C" NOT NULL,  -- JSON list of {to, reason}
  created_at        bigint NOT NULL,
  labels            text COLLATE "C",  -- JSON {tags, metadata}, each null or an object; NULL: neither
  track_opens       bigint,  -- NULL: as the tenant has set it
  track_clicks      bigint,
  send_at           bigint,  -- NULL: at once
  source            text COLLATE "C",  -- 'smtp': a written mail; NULL: HTTP
  header_message_id text COLLATE "C",  -- the Message-ID of a written mail; NULL: that of each message
  first_message     bytea,
  last_message      bytea  -- NULL: the first one is the only one
);
CREATE UNIQUE INDEX submissions_idempotency ON submissions (tenant_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX submissions_labelled ON submissions (content_id) WHERE labels IS NOT NULL;

CREATE TABLE suppressions (
  tenant_id  bytea NOT NULL,
  address    text COLLATE "C" NOT NULL,  -- lower case, domain in ASCII
  reason     text COLLATE "C" NOT NULL CHECK (reason IN ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
  message_id bytea,
  created_at bigint NOT NULL,
  rule       text COLLATE "C",
  mx_group   text COLLATE "C",
  PRIMARY KEY (tenant_id, address)
);
CREATE INDEX suppressions_group ON suppressions (mx_group, created_at) WHERE mx_group IS NOT NULL;
CREATE INDEX suppressions_hard ON suppressions (address) WHERE reason = 'hard_bounce';
CREATE INDEX suppressions_rule ON suppressions (rule, created_at) WHERE rule IS NOT NULL;

-- By replies of receivers, always towards one MX group.
CREATE TABLE suspensions (
  mx_group  text COLLATE "C" NOT NULL,
  scope     text COLLATE "C" NOT NULL CHECK (scope IN ('group', 'source', 'sender_domain', 'domain')),
  tenant_id bytea NOT NULL,  -- of a sender domain; empty otherwise
  subject   text COLLATE "C" NOT NULL,  -- source address, sender or recipient domain; empty for the group
  rule      text COLLATE "C" NOT NULL,
  reply     text COLLATE "C" NOT NULL,
  since     bigint NOT NULL,
  until     bigint NOT NULL,
  PRIMARY KEY (mx_group, scope, tenant_id, subject)
);

CREATE TABLE tag_figures (
  tenant_id         bytea NOT NULL,
  step_hours        bigint NOT NULL CHECK (step_hours IN (1, 24)),
  hour              bigint NOT NULL,  -- since 1970: the first of the step
  tag               text COLLATE "C" NOT NULL,  -- name:value
  accepted          bigint NOT NULL DEFAULT 0,
  delivered         bigint NOT NULL DEFAULT 0,
  deferred          bigint NOT NULL DEFAULT 0,
  bounced_hard      bigint NOT NULL DEFAULT 0,
  bounced_soft      bigint NOT NULL DEFAULT 0,
  bounced_block     bigint NOT NULL DEFAULT 0,
  bounced_later     bigint NOT NULL DEFAULT 0,
  failed            bigint NOT NULL DEFAULT 0,
  canceled          bigint NOT NULL DEFAULT 0,
  complained        bigint NOT NULL DEFAULT 0,
  opened            bigint NOT NULL DEFAULT 0,
  opened_by_machine bigint NOT NULL DEFAULT 0,
  clicked           bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, step_hours, hour, tag)
);
CREATE INDEX tag_figures_old ON tag_figures (step_hours, hour);

CREATE TABLE templates (
  tenant_id  bytea NOT NULL REFERENCES tenants (id),
  id         bytea NOT NULL,
  name       text COLLATE "C" NOT NULL,
  html       text COLLATE "C",  -- Liquid; at least one of html and text is there
  text       text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  changed_by text COLLATE "C",  -- who changed it last in the portal; NULL: a call of the API
  subject    text COLLATE "C",  -- Liquid; NULL: the call brings its own
  PRIMARY KEY (tenant_id, id)
);

-- What paced tenants have sent within the last hour, so that a restart gives nobody a second hour.
CREATE TABLE tenant_paces (
  tenant_id bytea PRIMARY KEY,
  slots     text COLLATE "C" NOT NULL  -- JSON list of [minute, messages]
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The newest message that a tenant had when it was stopped for review: older ones are not held
-- against it a second time.
CREATE TABLE tenant_reviews (
  tenant_id    bytea PRIMARY KEY,
  last_message bytea NOT NULL,
  at           bigint NOT NULL,
  reason       text COLLATE "C" NOT NULL
);

-- Which node runs a timer that only one may run. Each time a node takes it, the epoch rises.
CREATE TABLE timers (
  name        text COLLATE "C" PRIMARY KEY,
  node        text COLLATE "C" NOT NULL,
  epoch       bigint NOT NULL,
  lease_until bigint  -- NULL: until the node's process ends
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE tls_policies (
  domain     text COLLATE "C" PRIMARY KEY,  -- the recipients' domain: ASCII, lower case
  policy_id  text COLLATE "C" NOT NULL,  -- of the TXT record that led to it
  mode       text COLLATE "C" NOT NULL CHECK (mode IN ('none', 'testing', 'enforce')),
  mx         text COLLATE "C" NOT NULL,  -- JSON list of patterns
  fetched_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX tls_policies_expiry ON tls_policies (expires_at);

CREATE TABLE webhook_attempts (
  webhook_id bytea NOT NULL,
  event_seq  bigint NOT NULL,
  number     bigint NOT NULL,
  tenant_id  bytea NOT NULL,
  started_at bigint NOT NULL,
  elapsed_ms bigint NOT NULL,
  status     bigint,  -- of HTTP; NULL: no answer
  reason     text COLLATE "C" NOT NULL,  -- how it ended and what follows, as a sentence
  answer     text COLLATE "C",  -- the beginning of the answer's body
  next_at    bigint,  -- NULL: no other attempt
  PRIMARY KEY (webhook_id, event_seq, number)
);
CREATE INDEX webhook_attempts_newest ON webhook_attempts (webhook_id, started_at);

CREATE TABLE webhook_deliveries (
  webhook_id      bytea NOT NULL,
  event_seq       bigint NOT NULL,
  tenant_id       bytea NOT NULL,
  state           text COLLATE "C" NOT NULL CHECK (state IN ('due', 'delivered', 'failed')),
  attempts        bigint NOT NULL,  -- in all
  attempts_before bigint NOT NULL DEFAULT 0,  -- those before the last replay: the retry table begins anew
  due_at          bigint,  -- while leased: when it is due should the attempt vanish; NULL: at an end
  leased          bigint NOT NULL DEFAULT 0,  -- an attempt is under way
  finished_at     bigint,
  PRIMARY KEY (webhook_id, event_seq)
) WITH (
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at, event_seq) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id, finished_at, event_seq) WHERE state = 'failed';
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook_id, event_seq) WHERE leased = 1;

-- Signing secrets. A table of its own so that they can be rotated: a webhook then has two for a while.
CREATE TABLE webhook_secrets (
  id            bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  webhook_id    bytea NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  master_key_id text COLLATE "C" NOT NULL,
  sealed        bytea NOT NULL,
  created_at    bigint NOT NULL,
  expires_at    bigint  -- NULL: the current one
);
CREATE INDEX webhook_secrets_of_webhook ON webhook_secrets (webhook_id);

CREATE TABLE written_pieces (
  mail     bigint NOT NULL REFERENCES written_mails (seq),
  position bigint NOT NULL,  -- in the body, from 0
  bytes    bytea NOT NULL,
  PRIMARY KEY (mail, position)
);

CREATE FUNCTION count_returned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE returned_room SET bytes = bytes - OLD.bytes,
      waiting_bytes = waiting_bytes - CASE OLD.beyond WHEN 1 THEN OLD.bytes ELSE 0 END WHERE id = 1;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    UPDATE returned_room SET bytes = bytes + NEW.bytes,
      waiting_bytes = waiting_bytes + CASE NEW.beyond WHEN 1 THEN NEW.bytes ELSE 0 END WHERE id = 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER returned_counted AFTER INSERT OR DELETE OR UPDATE OF bytes, beyond ON returned_mails
  FOR EACH ROW EXECUTE FUNCTION count_returned();

CREATE FUNCTION count_unasked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE unasked_room SET mails = mails - 1, bytes = bytes - OLD.bytes WHERE id = 1;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    UPDATE unasked_room SET mails = mails + 1, bytes = bytes + NEW.bytes WHERE id = 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER unasked_counted AFTER INSERT OR DELETE OR UPDATE OF bytes ON unasked_mails
  FOR EACH ROW EXECUTE FUNCTION count_unasked();

CREATE FUNCTION note_erased_content() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE unasked_mails SET bytes = 0 WHERE mail_seq = OLD.mail_seq;
  UPDATE returned_mails SET bytes = 0 WHERE mail_seq = OLD.mail_seq;
  RETURN NULL;
END $$;
CREATE TRIGGER content_erased AFTER DELETE ON inbound_contents
  FOR EACH ROW EXECUTE FUNCTION note_erased_content();

CREATE FUNCTION forget_erased_mail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM unasked_mails WHERE mail_seq = OLD.seq;
  DELETE FROM returned_mails WHERE mail_seq = OLD.seq;
  RETURN NULL;
END $$;
CREATE TRIGGER mail_erased AFTER DELETE ON inbound_mails
  FOR EACH ROW EXECUTE FUNCTION forget_erased_mail();

CREATE TABLE api_key_uses (
 key_id BLOB PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
 tenant_id BLOB NOT NULL,
 last_used_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_uses_of_tenant ON api_key_uses (tenant_id, key_id);

CREATE TABLE api_keys (
 id BLOB PRIMARY KEY,
 tenant_id BLOB NOT NULL REFERENCES tenants (id),
 public_id TEXT NOT NULL UNIQUE,
 name TEXT NOT NULL,
 scopes TEXT NOT NULL,
 bound_domain TEXT,
 secret_hash BLOB NOT NULL,
 created_at INTEGER NOT NULL,
 revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_keys_of_tenant ON api_keys (tenant_id, id);

CREATE TABLE attachments (
 content_id INTEGER NOT NULL,
 position INTEGER NOT NULL,
 filename TEXT NOT NULL,
 content_type TEXT NOT NULL,
 cid TEXT,
 bytes BLOB NOT NULL,
 PRIMARY KEY (content_id, position)
) STRICT;

CREATE TABLE attempts (
 message_id BLOB NOT NULL,
 number INTEGER NOT NULL,
 tenant_id BLOB NOT NULL,
 outcome TEXT NOT NULL CHECK (outcome IN ('delivered', 'temporary', 'permanent')),
 started_at INTEGER NOT NULL,
 elapsed_ms INTEGER NOT NULL,
 stage TEXT NOT NULL,
 mx TEXT,
 remote_ip TEXT,
 tls TEXT,
 smtp_code INTEGER,
 enhanced_code TEXT,
 response TEXT NOT NULL, tls_policy TEXT NOT NULL DEFAULT 'none'
 CHECK (tls_policy IN ('none', 'testing', 'enforce')), tls_failure TEXT, tried TEXT,
 PRIMARY KEY (message_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE "audit" (
 seq INTEGER PRIMARY KEY AUTOINCREMENT,
 tenant_id BLOB,
 at INTEGER NOT NULL,
 actor TEXT NOT NULL CHECK (actor IN ('user', 'operator', 'command', 'system', 'key')),
 user_id BLOB,
 key_id BLOB,
 who TEXT NOT NULL,
 address TEXT,
 action TEXT NOT NULL,
 data TEXT NOT NULL,
 sum_key TEXT
) STRICT;

CREATE INDEX audit_by_time ON audit (at);

CREATE INDEX audit_of_tenant ON audit (tenant_id, seq);

CREATE UNIQUE INDEX audit_sums ON audit (sum_key) WHERE sum_key IS NOT NULL;

CREATE TABLE batches (
 seq INTEGER PRIMARY KEY,
 tenant_id BLOB NOT NULL,
 idempotency_key TEXT NOT NULL,
 items TEXT NOT NULL,
 created_at INTEGER NOT NULL,
 UNIQUE (tenant_id, idempotency_key)
) STRICT;

CREATE INDEX batches_by_age ON batches (created_at);

CREATE TABLE broken_tls (
 host TEXT PRIMARY KEY,
 reason TEXT NOT NULL,
 since INTEGER NOT NULL,
 expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX broken_tls_expiry ON broken_tls (expires_at);

CREATE TABLE call_buckets (
 key BLOB PRIMARY KEY,
 full_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE certificates (
 directory TEXT NOT NULL,
 names TEXT NOT NULL,
 chain TEXT,
 key_master_id TEXT,
 key_sealed BLOB,
 not_before INTEGER,
 not_after INTEGER,
 order_url TEXT,
 order_key_master_id TEXT,
 order_key_sealed BLOB,
 failures INTEGER NOT NULL,
 next_attempt_at INTEGER NOT NULL,
 failure TEXT,
 failed_at INTEGER,
 PRIMARY KEY (directory, names)
) STRICT, WITHOUT ROWID;

CREATE TABLE chart_figures (
 tenant_id BLOB NOT NULL,
 hour INTEGER NOT NULL,
 provider TEXT NOT NULL,
 accepted INTEGER NOT NULL DEFAULT 0,
 delivered INTEGER NOT NULL DEFAULT 0,
 deferred INTEGER NOT NULL DEFAULT 0,
 bounced_hard INTEGER NOT NULL DEFAULT 0,
 bounced_soft INTEGER NOT NULL DEFAULT 0,
 bounced_block INTEGER NOT NULL DEFAULT 0,
 failed INTEGER NOT NULL DEFAULT 0,
 complained INTEGER NOT NULL DEFAULT 0,
 opened INTEGER NOT NULL DEFAULT 0,
 opened_by_machine INTEGER NOT NULL DEFAULT 0,
 clicked INTEGER NOT NULL DEFAULT 0, bounced_later INTEGER NOT NULL DEFAULT 0, canceled INTEGER NOT NULL DEFAULT 0,
 PRIMARY KEY (tenant_id, hour, provider)
) STRICT, WITHOUT ROWID;

CREATE INDEX chart_figures_old ON chart_figures (hour);

CREATE TABLE contents (
 id INTEGER PRIMARY KEY AUTOINCREMENT,
 subject TEXT NOT NULL,
 html TEXT,
 text TEXT,
 headers TEXT NOT NULL
, lists TEXT, attachments INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE deleted_webhooks (
 id BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE dmarc_domain_days (
 id INTEGER PRIMARY KEY,
 domain TEXT NOT NULL,
 day TEXT NOT NULL,
 proven INTEGER NOT NULL,
 reporter_id INTEGER NOT NULL,
 row_count INTEGER NOT NULL DEFAULT 0,
 UNIQUE (domain, day, proven, reporter_id)
) STRICT;

CREATE INDEX dmarc_domain_days_old ON dmarc_domain_days (day);

CREATE INDEX dmarc_domain_days_reporter ON dmarc_domain_days (reporter_id);

CREATE TABLE dmarc_reporters (
 id INTEGER PRIMARY KEY,
 name TEXT NOT NULL,
 sender TEXT NOT NULL, organization TEXT NOT NULL DEFAULT '',
 UNIQUE (name, sender)
) STRICT;

CREATE TABLE "dmarc_reports" (
 id INTEGER PRIMARY KEY,
 reporter_id INTEGER NOT NULL,
 domain TEXT NOT NULL,
 report_id TEXT NOT NULL,
 begins_at INTEGER NOT NULL,
 ends_at INTEGER NOT NULL,
 policy TEXT NOT NULL,
 inbound_id BLOB NOT NULL,
 received_at INTEGER NOT NULL,
 UNIQUE (reporter_id, domain, report_id)
) STRICT;

CREATE INDEX dmarc_reports_received ON dmarc_reports (received_at);

CREATE TABLE dmarc_room (
 day TEXT NOT NULL,
 organization TEXT NOT NULL,
 bytes INTEGER NOT NULL,
 PRIMARY KEY (day, organization)
) STRICT, WITHOUT ROWID;

CREATE TABLE dmarc_rows (
 domain_day_id INTEGER NOT NULL,
 source_ip TEXT NOT NULL,
 disposition TEXT NOT NULL,
 dkim TEXT NOT NULL,
 spf TEXT NOT NULL,
 messages INTEGER NOT NULL,
 PRIMARY KEY (domain_day_id, source_ip, disposition, dkim, spf)
) STRICT, WITHOUT ROWID;

CREATE TABLE domain_checks (
 domain_id BLOB PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
 tenant_id BLOB NOT NULL,
 checked_at INTEGER NOT NULL,
 checks TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE domain_counts (
 domain_id BLOB PRIMARY KEY,
 open_messages INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE domain_rechecks (
 domain_id BLOB PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
 tenant_id BLOB NOT NULL,
 next_at INTEGER,
 since INTEGER NOT NULL,
 looks INTEGER NOT NULL DEFAULT 0,
 misses INTEGER NOT NULL DEFAULT 0,
 first_miss_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX domain_rechecks_due ON domain_rechecks (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE domains (
 id BLOB PRIMARY KEY,
 tenant_id BLOB NOT NULL REFERENCES tenants (id),
 name TEXT NOT NULL,
 state TEXT NOT NULL CHECK (state IN ('pending', 'verified', 'failed', 'revoked')),
 signing_key INTEGER NOT NULL,
 failure_reason TEXT,
 verified_at INTEGER,
 last_checked_at INTEGER,
 open_messages INTEGER NOT NULL DEFAULT 0,
 created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX domains_live_name ON domains (tenant_id, name) WHERE state <> 'revoked';

CREATE INDEX domains_of_tenant ON domains (tenant_id, id);

CREATE UNIQUE INDEX domains_verified_name ON domains (name) WHERE state = 'verified';

CREATE TABLE doubted_receivers (
 mx_group TEXT PRIMARY KEY,
 since INTEGER NOT NULL,
 reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE erased_events (
 tenant_id BLOB NOT NULL,
 seq INTEGER NOT NULL,
 event_id BLOB NOT NULL,
 PRIMARY KEY (tenant_id, seq),
 UNIQUE (tenant_id, event_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
 seq INTEGER PRIMARY KEY AUTOINCREMENT,
 id BLOB NOT NULL UNIQUE,
 tenant_id BLOB NOT NULL,
 message_id BLOB NOT NULL,
 type TEXT NOT NULL,
 at INTEGER NOT NULL,
 data TEXT NOT NULL
) STRICT;

CREATE INDEX events_of_message ON events (message_id, seq);

CREATE INDEX events_of_tenant ON events (tenant_id, seq);

CREATE TABLE group_states (
 mx_group TEXT PRIMARY KEY,
 state TEXT NOT NULL,
 changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE groups_of_domains (
 domain TEXT PRIMARY KEY,
 mx_group TEXT NOT NULL,
 seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX domains_of_group ON groups_of_domains (mx_group, domain);

CREATE INDEX domains_seen ON groups_of_domains (seen_at);

CREATE TRIGGER inbound_content_erased AFTER DELETE ON inbound_contents BEGIN
 UPDATE unasked_mails SET bytes = 0 WHERE mail_seq = OLD.mail_seq;
END;

CREATE TRIGGER returned_content_erased AFTER DELETE ON inbound_contents BEGIN
 UPDATE returned_mails SET bytes = 0 WHERE mail_seq = OLD.mail_seq;
END;

CREATE TABLE inbound_contents (
 mail_seq INTEGER PRIMARY KEY,
 content BLOB NOT NULL
) STRICT;

CREATE TRIGGER inbound_mail_erased AFTER DELETE ON inbound_mails BEGIN
 DELETE FROM unasked_mails WHERE mail_seq = OLD.seq;
END;

CREATE TRIGGER returned_mail_erased AFTER DELETE ON inbound_mails BEGIN
 DELETE FROM returned_mails WHERE mail_seq = OLD.seq;
END;

CREATE TABLE inbound_mails (
 seq INTEGER PRIMARY KEY AUTOINCREMENT,
 id BLOB NOT NULL UNIQUE,
 received_at INTEGER NOT NULL,
 remote_ip TEXT NOT NULL,
 ehlo_name TEXT NOT NULL,
 tls TEXT,
 mail_from TEXT NOT NULL,
 recipients TEXT NOT NULL,
 size_octets INTEGER NOT NULL,
 tries INTEGER NOT NULL DEFAULT 0,
 processed_at INTEGER,
 kind TEXT CHECK (kind IN ('report', 'complaint', 'auto_reply', 'human', 'dmarc', 'unsubscribe', 'unreadable')),
 effect TEXT CHECK (effect IN ('bounced', 'deferred', 'complained', 'unsubscribed', 'stored', 'forwarded', 'kept', 'none')),
 reason TEXT,
 digest BLOB,
 message_id BLOB,
 tenant_id BLOB,
 finding TEXT
, refused_with TEXT, slot INTEGER NOT NULL DEFAULT 1) STRICT;

CREATE INDEX inbound_of_effect ON inbound_mails (effect, seq);

CREATE INDEX inbound_of_kind ON inbound_mails (kind, seq);

CREATE INDEX inbound_of_message ON inbound_mails (message_id, seq) WHERE message_id IS NOT NULL;

CREATE INDEX inbound_received ON inbound_mails (received_at);

CREATE INDEX inbound_refused ON inbound_mails (seq) WHERE refused_with IS NOT NULL;

CREATE INDEX inbound_waiting ON inbound_mails (slot, seq) WHERE processed_at IS NULL;

CREATE TABLE "inbound_reaches" (
 slot INTEGER PRIMARY KEY,
 mails INTEGER NOT NULL
) STRICT;

CREATE TABLE "inbound_trials" (
 slot INTEGER PRIMARY KEY,
 mail_seq INTEGER NOT NULL
) STRICT;

CREATE TABLE "lanes" (
 id INTEGER PRIMARY KEY,
 tenant_id BLOB NOT NULL,
 domain TEXT NOT NULL,
 slot INTEGER NOT NULL DEFAULT 1,
 UNIQUE (tenant_id, domain, slot)
) STRICT;

CREATE INDEX lanes_of_domain ON lanes (domain, id);

CREATE TABLE link_hits (
 message_id BLOB NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
 link INTEGER NOT NULL,
 tenant_id BLOB NOT NULL,
 hits INTEGER NOT NULL,
 events INTEGER NOT NULL,
 first_at INTEGER NOT NULL,
 last_at INTEGER NOT NULL,
 last_event_at INTEGER,
 PRIMARY KEY (message_id, link)
) STRICT, WITHOUT ROWID;

CREATE TABLE mail_links (
 id BLOB PRIMARY KEY,
 token_hash BLOB NOT NULL UNIQUE,
 purpose TEXT NOT NULL CHECK (purpose IN ('reset', 'confirmation', 'invitation')),
 email TEXT NOT NULL,
 user_id BLOB REFERENCES users (id) ON DELETE CASCADE,
 tenant_id BLOB REFERENCES tenants (id) ON DELETE CASCADE,
 role TEXT CHECK (role IN ('owner', 'member', 'viewer')),
 created_at INTEGER NOT NULL,
 expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX mail_links_expiry ON mail_links (expires_at);

CREATE INDEX mail_links_of_tenant ON mail_links (tenant_id, id) WHERE tenant_id IS NOT NULL;

CREATE INDEX mail_links_of_user ON mail_links (user_id, id) WHERE user_id IS NOT NULL;

CREATE TABLE "messages" (
 id BLOB PRIMARY KEY,
 tenant_id BLOB NOT NULL,
 submission_id BLOB NOT NULL,
 lane INTEGER NOT NULL,
 recipient TEXT NOT NULL,
 recipient_name TEXT,
 copy TEXT CHECK (copy IN ('cc', 'bcc')),
 state TEXT NOT NULL CHECK (state IN
 ('scheduled', 'queued', 'sending', 'deferred', 'delivered', 'bounced', 'failed', 'canceled')),
 attempts INTEGER NOT NULL,
 due_at INTEGER,
 expires_at INTEGER NOT NULL,
 last_reason TEXT,
 ambiguous INTEGER NOT NULL,
 notices INTEGER NOT NULL DEFAULT 0,
 parked INTEGER NOT NULL,
 put_off INTEGER NOT NULL DEFAULT 0,
 source_address TEXT,
 bounce TEXT CHECK (bounce IN ('hard', 'soft', 'block')),
 complained INTEGER NOT NULL DEFAULT 0,
 complaint_weight REAL,
 created_at INTEGER NOT NULL,
 finished_at INTEGER
, first_attempt_at INTEGER) STRICT, WITHOUT ROWID;

CREATE INDEX messages_due ON messages (lane, due_at, id) WHERE state IN ('queued', 'deferred') AND parked = 0;

CREATE INDEX messages_expiry ON messages (expires_at, id) WHERE finished_at IS NULL;

CREATE INDEX messages_finished ON messages (finished_at, id) WHERE finished_at IS NOT NULL;

CREATE INDEX messages_of_tenant ON messages (tenant_id, id);

CREATE INDEX messages_parked ON messages (lane, id) WHERE parked = 1;

CREATE INDEX messages_put_off ON messages (lane) WHERE put_off = 1;

CREATE INDEX messages_scheduled ON messages (due_at, id) WHERE state = 'scheduled';

CREATE INDEX messages_scheduled_of_lane ON messages (lane, id) WHERE state = 'scheduled';

CREATE INDEX messages_sending ON messages (id) WHERE state = 'sending';

CREATE TABLE meta (
 name TEXT PRIMARY KEY,
 value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
 node TEXT PRIMARY KEY,
 version TEXT NOT NULL,
 started_at INTEGER NOT NULL,
 seen_at INTEGER NOT NULL,
 draining INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE operator_notes (
 id INTEGER PRIMARY KEY,
 at INTEGER NOT NULL,
 made_by TEXT NOT NULL,
 action TEXT NOT NULL CHECK (action IN ('pause', 'resume', 'retry', 'cancel')),
 kind TEXT NOT NULL,
 target TEXT NOT NULL,
 note TEXT NOT NULL,
 messages INTEGER
) STRICT;

CREATE INDEX operator_notes_of_target ON operator_notes (kind, target, id);

CREATE TABLE platform_keys (
 purpose TEXT NOT NULL,
 key_id TEXT NOT NULL,
 master_key_id TEXT NOT NULL,
 sealed BLOB NOT NULL,
 public_part TEXT,
 created_at INTEGER NOT NULL,
 retired_at INTEGER,
 PRIMARY KEY (purpose, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE platform_suppressions (
 address TEXT PRIMARY KEY,
 mx_group TEXT,
 rule TEXT NOT NULL,
 message_id BLOB,
 created_at INTEGER NOT NULL,
 expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX platform_suppressions_expiry ON platform_suppressions (expires_at);

CREATE INDEX platform_suppressions_group ON platform_suppressions (mx_group, created_at);

CREATE INDEX platform_suppressions_rule ON platform_suppressions (rule, created_at);

CREATE TABLE queue_pauses (
 kind TEXT NOT NULL CHECK (kind IN ('tenant', 'group', 'domain', 'message')),
 target TEXT NOT NULL,
 paused_by TEXT NOT NULL,
 note TEXT NOT NULL,
 paused_at INTEGER NOT NULL,
 due_at INTEGER,
 PRIMARY KEY (kind, target)
) STRICT, WITHOUT ROWID;

CREATE TABLE recipient_marks (
 seq INTEGER PRIMARY KEY,
 first_id BLOB NOT NULL,
 last_id BLOB NOT NULL,
 marks BLOB NOT NULL
) STRICT;

CREATE TABLE recovery_codes (
 user_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
 code_hash BLOB NOT NULL,
 PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER returned_changed AFTER UPDATE OF bytes, beyond ON returned_mails BEGIN
 UPDATE returned_room SET bytes = bytes + NEW.bytes - OLD.bytes,
 waiting_bytes = waiting_bytes + NEW.bytes * (NEW.beyond = 1) - OLD.bytes * (OLD.beyond = 1) WHERE id = 1;
END;

CREATE TRIGGER returned_gone AFTER DELETE ON returned_mails BEGIN
 UPDATE returned_room SET bytes = bytes - OLD.bytes, waiting_bytes = waiting_bytes - OLD.bytes * (OLD.beyond = 1) WHERE id = 1;
END;

CREATE TRIGGER returned_kept AFTER INSERT ON returned_mails BEGIN
 UPDATE returned_room SET bytes = bytes + NEW.bytes, waiting_bytes = waiting_bytes + NEW.bytes * (NEW.beyond = 1) WHERE id = 1;
END;

CREATE TABLE returned_mails (
 mail_seq INTEGER PRIMARY KEY,
 message_id BLOB,
 received_at INTEGER NOT NULL,
 beyond INTEGER NOT NULL,
 bytes INTEGER NOT NULL
) STRICT;

CREATE INDEX returned_noted ON returned_mails (mail_seq) WHERE beyond = 2;

CREATE INDEX returned_of_message ON returned_mails (message_id, received_at) WHERE beyond = 0;

CREATE INDEX returned_with_content ON returned_mails (mail_seq) WHERE bytes > 0;

CREATE TABLE returned_room (
 id INTEGER PRIMARY KEY CHECK (id = 1),
 bytes INTEGER NOT NULL,
 waiting_bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE second_factors (
 user_id BLOB PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
 master_key_id TEXT NOT NULL,
 sealed BLOB NOT NULL,
 last_step INTEGER NOT NULL,
 created_at INTEGER NOT NULL,
 confirmed_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE sent_portions (
 subject TEXT NOT NULL,
 gone_at INTEGER NOT NULL,
 messages INTEGER NOT NULL,
 PRIMARY KEY (subject, gone_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX sent_portions_gone ON sent_portions (gone_at);

CREATE TABLE service_figures (
 hour INTEGER NOT NULL,
 source TEXT NOT NULL,
 provider TEXT NOT NULL,
 accepted INTEGER NOT NULL DEFAULT 0,
 delivered INTEGER NOT NULL DEFAULT 0,
 deferred INTEGER NOT NULL DEFAULT 0,
 bounced_hard INTEGER NOT NULL DEFAULT 0,
 bounced_soft INTEGER NOT NULL DEFAULT 0,
 bounced_block INTEGER NOT NULL DEFAULT 0,
 bounced_later INTEGER NOT NULL DEFAULT 0,
 failed INTEGER NOT NULL DEFAULT 0,
 canceled INTEGER NOT NULL DEFAULT 0,
 complained INTEGER NOT NULL DEFAULT 0,
 opened INTEGER NOT NULL DEFAULT 0,
 opened_by_machine INTEGER NOT NULL DEFAULT 0,
 clicked INTEGER NOT NULL DEFAULT 0,
 PRIMARY KEY (hour, source, provider)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
 id BLOB PRIMARY KEY,
 user_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
 token_hash BLOB NOT NULL UNIQUE,
 client TEXT,
 address TEXT NOT NULL,
 created_at INTEGER NOT NULL,
 last_seen_at INTEGER NOT NULL,
 expires_at INTEGER NOT NULL,
 ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE INDEX sessions_of_user ON sessions (user_id, id);

CREATE TABLE shared_connections (
 mx_group TEXT NOT NULL,
 node TEXT NOT NULL,
 connections INTEGER NOT NULL,
 wanted INTEGER NOT NULL,
 lease_until INTEGER NOT NULL,
 PRIMARY KEY (mx_group, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE sign_ups (
 tenant_id BLOB PRIMARY KEY REFERENCES tenants (id) ON DELETE CASCADE,
 user_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
 created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_ups_by_age ON sign_ups (created_at);

CREATE INDEX sign_ups_of_user ON sign_ups (user_id);

CREATE TABLE signing_keys (
 id INTEGER PRIMARY KEY,
 domain_id BLOB NOT NULL,
 selector TEXT NOT NULL,
 public_key TEXT NOT NULL,
 master_key_id TEXT NOT NULL,
 sealed BLOB,
 created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX signing_keys_of_domain ON signing_keys (domain_id);

CREATE TABLE slots (
 slot INTEGER PRIMARY KEY,
 node TEXT NOT NULL,
 epoch INTEGER NOT NULL,
 lease_until INTEGER
) STRICT;

CREATE TABLE source_usage (
 address TEXT NOT NULL,
 mx_group TEXT NOT NULL,
 day INTEGER NOT NULL,
 used_today INTEGER NOT NULL,
 days_used INTEGER NOT NULL,
 PRIMARY KEY (mx_group, address)
) STRICT, WITHOUT ROWID;

CREATE INDEX source_usage_by_day ON source_usage (day);

CREATE TABLE submissions (
 id BLOB PRIMARY KEY,
 tenant_id BLOB NOT NULL,
 api_key_id BLOB NOT NULL,
 domain_id BLOB NOT NULL,
 content_id INTEGER NOT NULL,
 idempotency_key TEXT,
 from_address TEXT NOT NULL,
 from_name TEXT,
 subject TEXT NOT NULL,
 rejected TEXT NOT NULL,
 created_at INTEGER NOT NULL
, labels TEXT, track_opens INTEGER, track_clicks INTEGER, send_at INTEGER, source TEXT, header_message_id TEXT, first_message BLOB, last_message BLOB) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX submissions_idempotency ON submissions (tenant_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE INDEX submissions_labelled ON submissions (content_id) WHERE labels IS NOT NULL;

CREATE TABLE suppressions (
 tenant_id BLOB NOT NULL,
 address TEXT NOT NULL,
 reason TEXT NOT NULL CHECK (reason IN ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
 message_id BLOB,
 created_at INTEGER NOT NULL, rule TEXT, mx_group TEXT,
 PRIMARY KEY (tenant_id, address)
) STRICT, WITHOUT ROWID;

CREATE INDEX suppressions_group ON suppressions (mx_group, created_at) WHERE mx_group IS NOT NULL;

CREATE INDEX suppressions_hard ON suppressions (address) WHERE reason = 'hard_bounce';

CREATE INDEX suppressions_rule ON suppressions (rule, created_at) WHERE rule IS NOT NULL;

CREATE TABLE suspensions (
 mx_group TEXT NOT NULL,
 scope TEXT NOT NULL CHECK (scope IN ('group', 'source', 'sender_domain', 'domain')),
 tenant_id BLOB NOT NULL,
 subject TEXT NOT NULL,
 rule TEXT NOT NULL,
 reply TEXT NOT NULL,
 since INTEGER NOT NULL,
 until INTEGER NOT NULL,
 PRIMARY KEY (mx_group, scope, tenant_id, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE tag_figures (
 tenant_id BLOB NOT NULL,
 step_hours INTEGER NOT NULL CHECK (step_hours IN (1, 24)),
 hour INTEGER NOT NULL,
 tag TEXT NOT NULL,
 accepted INTEGER NOT NULL DEFAULT 0,
 delivered INTEGER NOT NULL DEFAULT 0,
 deferred INTEGER NOT NULL DEFAULT 0,
 bounced_hard INTEGER NOT NULL DEFAULT 0,
 bounced_soft INTEGER NOT NULL DEFAULT 0,
 bounced_block INTEGER NOT NULL DEFAULT 0,
 bounced_later INTEGER NOT NULL DEFAULT 0,
 failed INTEGER NOT NULL DEFAULT 0,
 canceled INTEGER NOT NULL DEFAULT 0,
 complained INTEGER NOT NULL DEFAULT 0,
 opened INTEGER NOT NULL DEFAULT 0,
 opened_by_machine INTEGER NOT NULL DEFAULT 0,
 clicked INTEGER NOT NULL DEFAULT 0,
 PRIMARY KEY (tenant_id, step_hours, hour, tag)
) STRICT, WITHOUT ROWID;

CREATE INDEX tag_figures_old ON tag_figures (step_hours, hour);

CREATE TABLE templates (
 tenant_id BLOB NOT NULL REFERENCES tenants (id),
 id BLOB NOT NULL,
 name TEXT NOT NULL,
 html TEXT,
 text TEXT,
 created_at INTEGER NOT NULL,
 updated_at INTEGER NOT NULL, changed_by TEXT, subject TEXT,
 PRIMARY KEY (tenant_id, id)
) STRICT;

CREATE TABLE tenant_paces (
 tenant_id BLOB PRIMARY KEY,
 slots TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tenant_reviews (
 tenant_id BLOB PRIMARY KEY,
 last_message BLOB NOT NULL,
 at INTEGER NOT NULL,
 reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tenants (
 id BLOB PRIMARY KEY,
 name TEXT NOT NULL,
 status TEXT NOT NULL CHECK (status IN ('pending_verification', 'in_review', 'active', 'suspended')),
 status_reason TEXT,
 tier TEXT NOT NULL CHECK (tier IN ('1k', '10k', 'uncapped')),
 tier_pinned INTEGER NOT NULL,
 open_tracking INTEGER NOT NULL,
 click_tracking INTEGER NOT NULL,
 unsubscribe INTEGER NOT NULL,
 bounces_domain TEXT,
 created_at INTEGER NOT NULL
, content_days INTEGER) STRICT, WITHOUT ROWID;

CREATE TABLE throttles (
 key BLOB PRIMARY KEY,
 count INTEGER NOT NULL,
 open_at INTEGER NOT NULL,
 forgotten_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX throttles_forgotten ON throttles (forgotten_at);

CREATE TABLE timers (
 name TEXT PRIMARY KEY,
 node TEXT NOT NULL,
 epoch INTEGER NOT NULL,
 lease_until INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE tls_policies (
 domain TEXT PRIMARY KEY,
 policy_id TEXT NOT NULL,
 mode TEXT NOT NULL CHECK (mode IN ('none', 'testing', 'enforce')),
 mx TEXT NOT NULL,
 fetched_at INTEGER NOT NULL,
 expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tls_policies_expiry ON tls_policies (expires_at);

CREATE TRIGGER unasked_emptied AFTER UPDATE OF bytes ON unasked_mails BEGIN
 UPDATE unasked_room SET bytes = bytes + NEW.bytes - OLD.bytes WHERE id = 1;
END;

CREATE TRIGGER unasked_gone AFTER DELETE ON unasked_mails BEGIN
 UPDATE unasked_room SET mails = mails - 1, bytes = bytes - OLD.bytes WHERE id = 1;
END;

CREATE TRIGGER unasked_kept AFTER INSERT ON unasked_mails BEGIN
 UPDATE unasked_room SET mails = mails + 1, bytes = bytes + NEW.bytes WHERE id = 1;
END;

CREATE TABLE unasked_mails (
 mail_seq INTEGER PRIMARY KEY,
 bytes INTEGER NOT NULL
) STRICT;

CREATE INDEX unasked_with_content ON unasked_mails (mail_seq) WHERE bytes > 0;

CREATE TABLE unasked_room (
 id INTEGER PRIMARY KEY CHECK (id = 1),
 mails INTEGER NOT NULL,
 bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
 id BLOB PRIMARY KEY,
 tenant_id BLOB REFERENCES tenants (id),
 email TEXT NOT NULL UNIQUE,
 role TEXT NOT NULL CHECK (role IN ('operator', 'owner', 'member', 'viewer')),
 password_hash TEXT NOT NULL,
 created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX users_of_tenant ON users (tenant_id, id);

CREATE TABLE webhook_attempts (
 webhook_id BLOB NOT NULL,
 event_seq INTEGER NOT NULL,
 number INTEGER NOT NULL,
 tenant_id BLOB NOT NULL,
 started_at INTEGER NOT NULL,
 elapsed_ms INTEGER NOT NULL,
 status INTEGER,
 reason TEXT NOT NULL,
 answer TEXT,
 next_at INTEGER,
 PRIMARY KEY (webhook_id, event_seq, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_attempts_newest ON webhook_attempts (webhook_id, started_at);

CREATE TABLE webhook_deliveries (
 webhook_id BLOB NOT NULL,
 event_seq INTEGER NOT NULL,
 tenant_id BLOB NOT NULL,
 state TEXT NOT NULL CHECK (state IN ('due', 'delivered', 'failed')),
 attempts INTEGER NOT NULL,
 attempts_before INTEGER NOT NULL DEFAULT 0,
 due_at INTEGER,
 leased INTEGER NOT NULL DEFAULT 0,
 finished_at INTEGER,
 PRIMARY KEY (webhook_id, event_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at, event_seq) WHERE due_at IS NOT NULL;

CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (webhook_id, finished_at, event_seq) WHERE state = 'failed';

CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook_id, event_seq) WHERE leased = 1;

CREATE TABLE webhook_secrets (
 id INTEGER PRIMARY KEY,
 webhook_id BLOB NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
 master_key_id TEXT NOT NULL,
 sealed BLOB NOT NULL,
 created_at INTEGER NOT NULL,
 expires_at INTEGER
) STRICT;

CREATE INDEX webhook_secrets_of_webhook ON webhook_secrets (webhook_id);

CREATE TABLE webhooks (
 id BLOB PRIMARY KEY,
 tenant_id BLOB NOT NULL REFERENCES tenants (id),
 url TEXT NOT NULL,
 target TEXT NOT NULL,
 description TEXT,
 created_at INTEGER NOT NULL
, failing_since INTEGER, told_at INTEGER, events TEXT, slot INTEGER NOT NULL DEFAULT 1) STRICT, WITHOUT ROWID;

CREATE INDEX webhooks_failing ON webhooks (failing_since) WHERE failing_since IS NOT NULL AND told_at IS NULL;

CREATE INDEX webhooks_of_tenant ON webhooks (tenant_id, id);

CREATE UNIQUE INDEX webhooks_target ON webhooks (tenant_id, target);

CREATE TABLE written_mails (
 seq INTEGER PRIMARY KEY AUTOINCREMENT,
 tenant_id BLOB NOT NULL,
 submission_id BLOB NOT NULL,
 leftover_since INTEGER,
 header BLOB,
 pieces INTEGER,
 bytes INTEGER,
 body_hash TEXT,
 eight_bit INTEGER,
 UNIQUE (tenant_id, submission_id)
) STRICT;

CREATE INDEX written_leftovers ON written_mails (leftover_since) WHERE leftover_since IS NOT NULL;

CREATE TABLE written_pieces (
 mail INTEGER NOT NULL REFERENCES written_mails (seq),
 position INTEGER NOT NULL,
 bytes BLOB NOT NULL,
 PRIMARY KEY (mail, position)
) STRICT;

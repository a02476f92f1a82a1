// A database as it looks after a month of mail, made by SQL on the server: a million messages take minutes this way. One
// tenant has half of all messages, and three lanes of ten wait in the same slot. What it leaves out: large contents, since no plan
// depends on them.
import { createHash } from 'node:crypto';
import { bytesToUuid } from '../../../../src/base/ids.ts';
import { T0 } from '../../conformance/harness.ts';

const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;
/** When its oldest message was accepted. */
export const BEGIN = T0 - MONTH_MS;

const SENDING_TENANTS = 50;
const DOMAINS_OF_TENANT = 100;
const SLOTS = 4;

/** The tenant with half of all messages. */
export const BIG_TENANT = idOf('tenant 0');
export const DOMAIN_OF_BIG_TENANT = idOf('domain 0');
/** With an event of each message of the big tenant to deliver. */
export const BUSY_WEBHOOK = idOf('webhook 0');
export const QUIET_NODE = 'quiet';

export function idOf(name: string): string {
  return bytesToUuid(createHash('md5').update(name).digest());
}

/** IDs grow with time, as the product's do: of messages 7, of submissions 8 in place of the version. */
const ID = (time: string, kind: number) =>
  `decode(lpad(to_hex(${time}), 12, '0') || '${kind}' || lpad(to_hex(n), 19, '0'), 'hex')`;
const MD5 = (name: string) => `decode(md5(${name}), 'hex')`;

/** Every other message is the big tenant's. The last two of each hundred wait, since the last part of the month. */
const messagesSql = ({ from, until, all: messages }: MadeMessages) => `
  CREATE TEMPORARY TABLE made ON COMMIT DROP AS
    SELECT n, ${BEGIN} + n * ${MONTH_MS} / ${messages} AS at,
      CASE WHEN n % 2 = 0 THEN 0 ELSE n / 2 % ${SENDING_TENANTS} END AS tenant,
      n::bigint * 7919 % ${messages} AS person,
      CASE WHEN n < ${until} * ${1 - UNFINISHED} THEN
          CASE WHEN n % 100 = 7 THEN 'bounced' WHEN n % 1000 = 11 THEN 'failed' ELSE 'delivered' END
        WHEN n % 20 < 2 THEN 'sending' WHEN n % 20 < 4 THEN 'scheduled' WHEN n % 2 = 0 THEN 'queued' ELSE 'deferred'
      END AS state
    FROM generate_series(${from}, ${until - 1}) n;
  INSERT INTO messages (id, tenant_id, submission_id, lane, recipient, state, attempts, due_at, expires_at, last_reason,
      ambiguous, parked, put_off, bounce, created_at, finished_at)
    SELECT ${ID('at', 7)}, ${MD5("'tenant ' || tenant")}, ${ID('at', 8)},
      tenant * ${DOMAINS_OF_TENANT} + person % ${DOMAINS_OF_TENANT} + 1,
      'customer-' || person || '@in' || person % ${DOMAINS_OF_TENANT} || '.test', state,
      CASE state WHEN 'queued' THEN 0 WHEN 'scheduled' THEN 0 ELSE 1 END,
      CASE WHEN state IN ('sending', 'scheduled') THEN ${T0} + n % 10000 WHEN state IN ('queued', 'deferred') THEN at END,
      ${T0} + ${DAY_MS} + n % 1000, CASE state WHEN 'bounced' THEN '550 5.1.1 no such user' WHEN 'deferred' THEN '451 4.7.1 later' END,
      0, CASE WHEN state IN ('queued', 'deferred') AND n % 20 IN (9, 10) THEN 1 ELSE 0 END,
      CASE WHEN state IN ('queued', 'deferred') AND n % 20 IN (11, 12) THEN 1 ELSE 0 END,
      CASE state WHEN 'bounced' THEN 'hard' END, at,
      CASE WHEN state IN ('delivered', 'bounced', 'failed') THEN at + 2000 END
    FROM made;
  INSERT INTO submissions (id, tenant_id, api_key_id, domain_id, content_id, idempotency_key, from_address, subject, rejected,
      created_at, labels, first_message)
    SELECT ${ID('at', 8)}, ${MD5("'tenant ' || tenant")}, ${MD5("'key ' || tenant")}, ${MD5("'domain ' || tenant")}, n + 1,
      CASE WHEN n % 4 < 2 THEN 'call ' || n END, 'news@sender' || tenant || '.test', 'Your order ' || n, '[]', at,
      CASE WHEN n % 8 = 0 THEN '{"tags":{"kind":"' || n % 5 || '"},"metadata":null}' END, ${ID('at', 7)}
    FROM made;
  INSERT INTO contents (id, subject, html, headers) SELECT n + 1, 'Your order ' || n, '<p>It is on its way</p>', '[]' FROM made;
  INSERT INTO attempts (message_id, number, tenant_id, outcome, started_at, elapsed_ms, stage, mx, response)
    SELECT ${ID('at', 7)}, 1, ${MD5("'tenant ' || tenant")}, 'delivered', at, 120, 'data', 'mx.in.test', '250 2.0.0 Ok'
    FROM made WHERE state NOT IN ('queued', 'scheduled');
  INSERT INTO events (seq, id, tenant_id, message_id, type, at, data)
    SELECT 2 * n + later + 1, ${MD5("'event ' || n || ' ' || later")}, ${MD5("'tenant ' || tenant")}, ${ID('at', 7)},
      CASE later WHEN 0 THEN 'email.delivered' ELSE 'email.opened' END, at,
      '{"message_id":"x","to":"a@in.test","subject":"Your order","delivery":{"mx":"mx.in.test"}}'
    FROM made, generate_series(0, 1) later WHERE state NOT IN ('queued', 'scheduled');
  INSERT INTO link_hits (message_id, link, tenant_id, hits, events, first_at, last_at, last_event_at)
    SELECT ${ID('at', 7)}, n % 3 - 1, ${MD5("'tenant ' || tenant")}, 1, 1, at, at, at FROM made WHERE n % 5 = 0;
  INSERT INTO webhook_deliveries (webhook_id, event_seq, tenant_id, state, attempts, due_at, leased, finished_at)
    SELECT ${MD5("'webhook ' || tenant")}, 2 * n + 1, ${MD5("'tenant ' || tenant")},
      CASE WHEN n % 50 = 0 THEN 'due' WHEN n % 50 = 2 THEN 'failed' ELSE 'delivered' END, 1,
      CASE WHEN n % 50 = 0 THEN ${T0} - 10000 + n % 20000 END, CASE WHEN n % 500 = 0 THEN 1 ELSE 0 END,
      CASE WHEN n % 50 <> 0 THEN at END
    FROM made WHERE state NOT IN ('queued', 'scheduled');
  INSERT INTO webhook_attempts (webhook_id, event_seq, number, tenant_id, started_at, elapsed_ms, status, reason)
    SELECT ${MD5("'webhook ' || tenant")}, 2 * n + 1, 1, ${MD5("'tenant ' || tenant")}, at, 100, 200, 'answered 200'
    FROM made WHERE n % 50 <> 0 AND state NOT IN ('queued', 'scheduled');
  INSERT INTO erased_events (tenant_id, seq, event_id)
    SELECT ${MD5("'tenant ' || tenant")}, -n, ${MD5("'erased event ' || n")} FROM made WHERE n % 20 = 0;
  INSERT INTO suppressions (tenant_id, address, reason, message_id, created_at, rule, mx_group)
    SELECT ${MD5("'tenant ' || tenant")}, 'gone-' || n || '@in.test',
      CASE WHEN n % 4 = 0 THEN 'hard_bounce' ELSE 'unsubscribe' END, ${ID('at', 7)}, at,
      CASE WHEN n % 4 = 0 THEN 'rule-' || n % 7 END, CASE WHEN n % 4 = 0 THEN 'mx' || n % 40 || '.test' END
    FROM made WHERE n % 4 < 2;
  INSERT INTO platform_suppressions (address, mx_group, rule, message_id, created_at, expires_at)
    SELECT 'gone-' || n || '@in.test', 'mx' || n % 40 || '.test', 'rule-' || n % 7, ${ID('at', 7)}, at, at + ${3 * MONTH_MS}
    FROM made WHERE n % 4 = 0;
  INSERT INTO inbound_mails (seq, id, received_at, remote_ip, ehlo_name, mail_from, recipients, size_octets, processed_at, kind,
      effect, reason, message_id, tenant_id, slot)
    SELECT n + 1, ${MD5("'inbound ' || n")}, at, '192.0.2.1', 'mx.in.test', '', '[]', 2000,
      CASE WHEN n % 1000 < 995 THEN at END, CASE n % 4 WHEN 0 THEN 'report' WHEN 1 THEN 'human' ELSE 'auto_reply' END,
      CASE n % 4 WHEN 0 THEN 'bounced' ELSE 'none' END, 'A reason.', ${ID('at', 7)}, ${MD5("'tenant ' || tenant")},
      1 + n % ${SLOTS}
    FROM made WHERE n % 5 = 1;
  INSERT INTO inbound_contents (mail_seq, content) SELECT n + 1, 'mail' FROM made WHERE n % 5 = 1;
  INSERT INTO unasked_mails (mail_seq, bytes) SELECT n + 1, 4 FROM made WHERE n % 20 = 1;
  INSERT INTO returned_mails (mail_seq, message_id, received_at, beyond, bytes)
    SELECT n + 1, ${ID('at', 7)}, at, CASE WHEN n % 200 = 6 THEN 2 ELSE 0 END, 4 FROM made WHERE n % 20 = 6;`;

/** Whatever grows with tenants, receivers or days. */
const othersSql = (count: number) => `
  INSERT INTO tenants (id, name, status, tier, tier_pinned, open_tracking, click_tracking, unsubscribe, created_at)
    SELECT ${MD5("'tenant ' || n")}, 'Tenant ' || n, 'active', 'uncapped', 1, 0, 0, 0, ${BEGIN} FROM generate_series(0, ${count - 1}) n;
  INSERT INTO api_keys (id, tenant_id, public_id, name, scopes, secret_hash, created_at)
    SELECT ${MD5("'key ' || n")}, ${MD5("'tenant ' || n")}, md5('key ' || n), 'key', '["emails:send"]', ${MD5("'secret'")}, ${BEGIN}
    FROM generate_series(0, ${count - 1}) n;
  INSERT INTO api_key_uses (key_id, tenant_id, last_used_at)
    SELECT ${MD5("'key ' || n")}, ${MD5("'tenant ' || n")}, ${BEGIN} FROM generate_series(0, ${count - 1}) n;
  INSERT INTO domains (id, tenant_id, name, state, signing_key, created_at, verified_at)
    SELECT ${MD5("'domain ' || n")}, ${MD5("'tenant ' || n")}, 'sender' || n || '.test', 'verified', n + 1, ${BEGIN}, ${BEGIN}
    FROM generate_series(0, ${count - 1}) n;
  INSERT INTO domain_counts (domain_id, open_messages)
    SELECT ${MD5("'domain ' || n")}, 0 FROM generate_series(0, ${count - 1}) n;
  INSERT INTO signing_keys (id, domain_id, selector, public_key, master_key_id, sealed, created_at)
    SELECT n + 1, ${MD5("'domain ' || n")}, 's', 'k', 'm', 'sealed', ${BEGIN} FROM generate_series(0, ${count - 1}) n;
  INSERT INTO domain_rechecks (domain_id, tenant_id, next_at, since)
    SELECT ${MD5("'domain ' || n")}, ${MD5("'tenant ' || n")}, ${T0} + n * 1000, ${BEGIN} FROM generate_series(0, ${count - 1}) n;
  INSERT INTO users (id, tenant_id, email, role, password_hash, created_at)
    SELECT ${MD5("'user ' || n")}, ${MD5("'tenant ' || n")}, 'user-' || n || '@in.test', 'owner', 'x', ${BEGIN}
    FROM generate_series(0, ${count - 1}) n;
  INSERT INTO sessions (id, user_id, token_hash, address, created_at, last_seen_at, expires_at, ends_at)
    SELECT ${MD5("'session ' || n")}, ${MD5("'user ' || n")}, ${MD5("'token ' || n")}, '192.0.2.1', ${BEGIN}, ${BEGIN}, ${T0} + n * 1000, ${T0} + ${MONTH_MS}
    FROM generate_series(0, ${count - 1}) n;
  INSERT INTO audit (tenant_id, at, actor, who, action, data)
    SELECT ${MD5("'tenant ' || n % 100")}, ${BEGIN} + n * 1000, 'system', 'x', 'y', '{}' FROM generate_series(0, ${count - 1}) n;
  INSERT INTO operator_notes (at, made_by, action, kind, target, note)
    SELECT ${BEGIN} + n * 1000, 'x', 'pause', 'domain', 'in' || n % 100 || '.test', '' FROM generate_series(0, ${count - 1}) n;
  INSERT INTO webhooks (id, tenant_id, url, target, created_at, slot)
    SELECT ${MD5("'webhook ' || n")}, ${MD5("'tenant ' || n")}, 'https://a.test/' || n, 'https://a.test/' || n, ${BEGIN}, 1 + n % ${SLOTS}
    FROM generate_series(0, ${count - 1}) n;
  INSERT INTO webhook_secrets (webhook_id, master_key_id, sealed, created_at)
    SELECT ${MD5("'webhook ' || n")}, 'm', 'sealed', ${BEGIN} FROM generate_series(0, ${count - 1}) n;
  INSERT INTO lanes (id, tenant_id, domain, slot)
    SELECT n + 1, ${MD5(`'tenant ' || n / ${DOMAINS_OF_TENANT}`)}, 'in' || n % ${DOMAINS_OF_TENANT} || '.test', 1 + n % ${SLOTS}
    FROM generate_series(0, ${SENDING_TENANTS * DOMAINS_OF_TENANT - 1}) n;
  INSERT INTO groups_of_domains (domain, mx_group, seen_at)
    SELECT 'in' || n || '.test', 'mx' || n % 40 || '.test', ${BEGIN} + n * 1000 FROM generate_series(0, ${count - 1}) n;
  INSERT INTO source_usage (address, mx_group, day, used_today, days_used)
    SELECT '192.0.2.' || n % 4, 'mx' || n / 4 || '.test', ${Math.floor(T0 / DAY_MS)} - n % 30, 10, 3 FROM generate_series(0, ${count - 1}) n;
  INSERT INTO throttles (key, count, open_at, forgotten_at)
    SELECT ${MD5("'throttle ' || n")}, 1, ${T0}, ${T0} + n FROM generate_series(0, ${count - 1}) n;
  INSERT INTO call_buckets (key, full_at) SELECT ${MD5("'bucket ' || n")}, ${T0} + n FROM generate_series(0, ${count - 1}) n;
  INSERT INTO sent_portions (subject, gone_at, messages)
    SELECT 'tenant ' || n / 10, ${T0} + n % 10 * 60000, 10 FROM generate_series(0, ${count - 1}) n;
  INSERT INTO shared_connections (mx_group, node, connections, wanted, lease_until)
    SELECT 'mx' || n || '.test', '${QUIET_NODE}', 3, 3, ${T0} + n FROM generate_series(0, ${count - 1}) n;
  INSERT INTO chart_figures (tenant_id, hour, provider, accepted)
    SELECT ${MD5(`'tenant ' || n % ${SENDING_TENANTS}`)}, ${Math.floor(BEGIN / 3_600_000)} + n / ${SENDING_TENANTS * 4},
      'mx' || n / ${SENDING_TENANTS} % 4 || '.test', 10 FROM generate_series(0, ${4 * count - 1}) n;
  INSERT INTO tag_figures (tenant_id, step_hours, hour, tag, accepted)
    SELECT ${MD5(`'tenant ' || n % ${SENDING_TENANTS}`)}, 1, ${Math.floor(BEGIN / 3_600_000)} + n / ${SENDING_TENANTS * 4},
      'kind:' || n / ${SENDING_TENANTS} % 4, 10 FROM generate_series(0, ${4 * count - 1}) n;
  INSERT INTO service_figures (hour, source, provider, accepted)
    SELECT ${Math.floor(BEGIN / 3_600_000)} + n / 20, '192.0.2.' || n % 4, 'mx' || n / 4 % 5 || '.test', 10
    FROM generate_series(0, ${count - 1}) n;
  INSERT INTO batches (tenant_id, idempotency_key, items, created_at)
    SELECT ${MD5("'tenant ' || n % 50")}, 'batch ' || n, '[{"submission":"' || md5('submission ' || n) || '"}]', ${BEGIN} + n
    FROM generate_series(0, ${count - 1}) n;
  INSERT INTO written_mails (seq, tenant_id, submission_id, leftover_since, pieces)
    SELECT n + 1, ${MD5("'tenant ' || n % 50")}, ${MD5("'written ' || n")}, CASE WHEN n % 100 = 0 THEN ${T0} + n END, 1
    FROM generate_series(0, ${count - 1}) n;
  INSERT INTO written_pieces (mail, position, bytes) SELECT n + 1, 0, 'text' FROM generate_series(0, ${count - 1}) n;
  INSERT INTO dmarc_reporters (id, name, sender) SELECT n + 1, 'reporter ' || n, 'r' || n || '.test' FROM generate_series(0, 99) n;
  INSERT INTO dmarc_reports (reporter_id, domain, report_id, begins_at, ends_at, policy, inbound_id, received_at)
    SELECT n % 100 + 1, 'sender' || n / 100 % 50 || '.test', 'report ' || n, ${BEGIN}, ${T0}, '{}', ${MD5("'inbound ' || n")}, ${BEGIN} + n
    FROM generate_series(0, ${count - 1}) n;
  INSERT INTO dmarc_domain_days (id, domain, day, proven, reporter_id, row_count)
    SELECT n + 1, 'sender' || n / 100 % 50 || '.test', to_char(date '2025-12-01' + n / 5000, 'YYYY-MM-DD'), 1, n % 100 + 1, 1
    FROM generate_series(0, ${count - 1}) n;
  INSERT INTO dmarc_rows (domain_day_id, source_ip, disposition, dkim, spf, messages)
    SELECT n + 1, '192.0.2.1', 'none', 'pass', 'pass', 1 FROM generate_series(0, ${count - 1}) n;
  INSERT INTO tls_policies (domain, policy_id, mode, mx, fetched_at, expires_at)
    SELECT 'in' || n || '.test', '1', 'enforce', '[]', ${BEGIN}, ${T0} + n FROM generate_series(0, ${count - 1}) n;
  INSERT INTO broken_tls (host, reason, since, expires_at)
    SELECT 'mx' || n || '.test', 'x', ${BEGIN}, ${T0} + n FROM generate_series(0, ${count - 1}) n;
  INSERT INTO slots (slot, node, epoch, lease_until) VALUES (1, 'test', 1, NULL);
  INSERT INTO slots (slot, node, epoch, lease_until)
    SELECT n, '${QUIET_NODE}', 1, ${T0} FROM generate_series(2, ${SLOTS}) n`;

/** The share of messages that is not finished. */
export const UNFINISHED = 0.02;

/** How far charts have counted: nearly to the end. */
const countedSql = (messages: number) => `
  INSERT INTO meta (name, value) VALUES ('events_in_charts', '${2 * messages - 500}'), ('submissions_in_tags', '${messages - 500}')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

/** Room for what verbs insert between two fillings, which go by the numbers of messages. */
const JUMP = 10_000_000;

/** The numbers that inserts are to go on from. */
const NUMBERED: readonly [table: string, column: string][] = [
  ['lanes', 'id'],
  ['contents', 'id'],
  ['events', 'seq'],
  ['inbound_mails', 'seq'],
  ['signing_keys', 'id'],
  ['written_mails', 'seq'],
  ['dmarc_reporters', 'id'],
  ['dmarc_domain_days', 'id'],
];

/** Numbers of messages: those from `from` on are made now, `all` will be there in the end. */
export interface MadeMessages {
  from: number;
  until: number;
  all: number;
}

/** In a database that was migrated. Tenants and all else come with the first messages. */
export function fillingSql(made: MadeMessages): string {
  const others = made.from === 0 ? othersSql(Math.min(made.all / 10, 20_000)) : '';
  const numbers = NUMBERED.map(
    ([table, column]) =>
      `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), ${JUMP} + (SELECT max(${column}) FROM ${table}))`,
  );
  const parts = [
    'BEGIN',
    'SET LOCAL search_path = postrider, pg_temp',
    // Each row has foreign keys, whose plans would make a log of gigabytes.
    'SET LOCAL auto_explain.log_min_duration = -1',
    others,
    messagesSql(made),
    countedSql(made.until),
  ];
  return [...parts, ...numbers, 'COMMIT'].join(';\n');
}

// The registry of metrics: every metric of the daemon, with its help text. A test keeps the dashboard and the alert
// rules in docs/monitoring in step with it. Times are in seconds, sizes in bytes, as is usual for Prometheus.

export interface MetricSpec {
  kind: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
  /** Upper bounds, for histograms. */
  buckets?: readonly number[];
  /** What must be on, or that several daemons share the store; missing: always there. */
  onlyWith?: MetricPart;
}

export type MetricPart = 'traces' | 'nodes';

/** From the time that a healthy receiver takes to the lifetime of a message. */
const DELIVERY_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200, 43_200, 259_200];
const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15];
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const GROUP_SIZES = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000];

export const METRICS = {
  postrider_attempts_total: {
    kind: 'counter',
    help: 'Delivery attempts by result, bounce class (hard, soft, block; none) and MX group.',
    labels: ['outcome', 'class', 'mx_group'],
  },
  postrider_delivery_seconds: {
    kind: 'histogram',
    help: "Time from the 202, or the time that mail was scheduled for, to the receiving server's 250, of delivered messages, by MX group.",
    labels: ['mx_group'],
    buckets: DELIVERY_SECONDS,
  },
  postrider_queue_messages: {
    kind: 'gauge',
    help: 'Messages that were accepted and are not finished, scheduled ones too; the same from each daemon on a shared store.',
    labels: [],
  },
  postrider_queue_oldest_seconds: {
    kind: 'gauge',
    help: 'Age of the message whose lifetime ends first, of scheduled mail from its time on; 0 when nothing waits.',
    labels: [],
  },
  postrider_intake_open: { kind: 'gauge', help: '1 while new mail is accepted, otherwise 0.', labels: [] },
  postrider_results_unstored: {
    kind: 'gauge',
    help: 'Messages whose result could not be stored in the database; the results are kept in the journal.',
    labels: [],
  },
  postrider_results_unstored_seconds: {
    kind: 'gauge',
    help: 'How long results have been waiting to be stored; 0 while the database accepts them.',
    labels: [],
  },
  postrider_doubted_receivers: {
    kind: 'gauge',
    help: 'MX groups whose hard-bounce rate has spiked; their hard bounces count as soft until an operator decides.',
    labels: [],
  },
  postrider_no_route_held: {
    kind: 'gauge',
    help: '1 while mail without a route in DNS is held because its share spiked, otherwise 0.',
    labels: [],
  },
  postrider_tenants_in_review: {
    kind: 'gauge',
    help: "Tenants waiting for an operator's approval: new ones, and those suspended for a review.",
    labels: [],
  },
  postrider_service_mail_in_trouble: {
    kind: 'gauge',
    help: "1 while the service's own mail has bounces or complaints that would suspend any other tenant, otherwise 0. It is not suspended.",
    labels: [],
  },
  postrider_webhook_lag_seconds: {
    kind: 'gauge',
    help: 'How late the most overdue webhook delivery is; 0 when none is overdue.',
    labels: [],
  },
  postrider_webhooks_waiting: {
    kind: 'gauge',
    help: 'Webhooks with pending deliveries, including retries.',
    labels: [],
  },
  postrider_commit_seconds: {
    kind: 'histogram',
    help: 'Duration of a group of database operations, including its fsync.',
    labels: [],
    buckets: COMMIT_SECONDS,
  },
  postrider_commit_group_size: {
    kind: 'histogram',
    help: 'Number of database operations per fsync.',
    labels: [],
    buckets: GROUP_SIZES,
  },
  postrider_database_round_trips_total: {
    kind: 'counter',
    help: 'How often a group of database operations waited for an answer of PostgreSQL.',
    labels: [],
    onlyWith: 'nodes',
  },
  postrider_database_statements_total: {
    kind: 'counter',
    help: 'Statements of groups of database operations that were sent to PostgreSQL.',
    labels: [],
    onlyWith: 'nodes',
  },
  postrider_database_tries_total: {
    kind: 'counter',
    help: 'Transactions on PostgreSQL that groups of database operations took until one was committed: more than one after a conflict with another daemon, or a lost connection.',
    labels: [],
    onlyWith: 'nodes',
  },
  postrider_http_requests_total: {
    kind: 'counter',
    help: 'HTTP calls by method, route and status; route "other" is a path that does not exist.',
    labels: ['method', 'route', 'status'],
  },
  postrider_http_seconds: {
    kind: 'histogram',
    help: 'Duration of HTTP calls, by method and route.',
    labels: ['method', 'route'],
    buckets: CALL_SECONDS,
  },
  postrider_inbound_mails_total: {
    kind: 'counter',
    help: 'Mails received by SMTP, by result: kept, cut (a report on a large message: kept without its end), bare_line_end (bare CR or LF) and too_large (rejected), no_room and not_stored (the sender retries).',
    labels: ['outcome'],
  },
  postrider_submission_open_connections: {
    kind: 'gauge',
    help: 'Open connections of applications that send by SMTP (submission.port, submission.tls_port).',
    labels: [],
  },
  postrider_submission_connections_total: {
    kind: 'counter',
    help: 'Connections of applications that send by SMTP, by result: accepted, refused (submission.connections, submission.connections_per_peer).',
    labels: ['outcome'],
  },
  postrider_submission_logins_total: {
    kind: 'counter',
    help: 'Sign-ins by SMTP, by result: accepted, wrong_key, throttled (too many wrong keys from a network), no_scope (emails:send), inactive (the tenant), too_many_connections (of the key), fault.',
    labels: ['outcome'],
  },
  postrider_submission_recipients_total: {
    kind: 'counter',
    help: 'Recipients at RCPT TO of mail sent by SMTP, by result: accepted, suppressed, invalid, too_many (100 per mail), fault, other.',
    labels: ['outcome'],
  },
  postrider_submission_mails_total: {
    kind: 'counter',
    help: 'Mail sent by SMTP, by result: accepted; malformed, sender_not_allowed, suppressed (all recipients), too_large (rejected); over_rate, inactive, key_revoked, intake_closed, no_room, fault (the application may retry); lost (the connection, before the final dot); other.',
    labels: ['outcome'],
  },
  postrider_dmarc_reports_total: {
    kind: 'counter',
    help: 'DMARC reports received, by result: stored, stored_unproven (nothing proves their sender), not_stored (inbound list --kind dmarc says why).',
    labels: ['outcome'],
  },
  postrider_certificate_expiry_seconds: {
    kind: 'gauge',
    help: 'Time left until a certificate of the directory (tls.acme) expires, by names; 0 while a self-signed one is in use.',
    labels: ['names'],
  },
  postrider_event_loop_delay_seconds: {
    kind: 'gauge',
    help: 'Delay of the main thread since the last scrape: percentiles 50, 99 and 99.9, and 100 (the maximum).',
    // Not `quantile`: Prometheus reserves that label for summaries (promtool check metrics).
    labels: ['percentile'],
  },
  postrider_trace_spans_exported_total: {
    kind: 'counter',
    help: 'Spans that the receiver of traces (traces.endpoint) has accepted.',
    labels: [],
    onlyWith: 'traces',
  },
  postrider_trace_spans_dropped_total: {
    kind: 'counter',
    help: 'Spans that were lost because the receiver of traces did not accept them, or not fast enough.',
    labels: [],
    onlyWith: 'traces',
  },
  postrider_nodes: {
    kind: 'gauge',
    help: 'Daemons on the same database that were alive at the last renewal of the leases, with this one.',
    labels: [],
    onlyWith: 'nodes',
  },
  postrider_slots: {
    kind: 'gauge',
    help: 'Slots whose mail this daemon sends; 0 while it is drained, and after its leases have ended.',
    labels: [],
    onlyWith: 'nodes',
  },
  postrider_lease_left_seconds: {
    kind: 'gauge',
    help: 'Time left until this daemon stops sending unless it renews its leases, which it does every 3 s; 0: they have ended.',
    labels: [],
    onlyWith: 'nodes',
  },
  postrider_start_time_seconds: {
    kind: 'gauge',
    help: 'When the process started, in seconds since 1970.',
    labels: [],
  },
  postrider_resident_bytes: { kind: 'gauge', help: 'Memory of the process.', labels: [] },
} as const satisfies Record<string, MetricSpec>;

export type MetricName = keyof typeof METRICS;

export type NameOf<K extends MetricSpec['kind']> = {
  [N in MetricName]: (typeof METRICS)[N]['kind'] extends K ? N : never;
}[MetricName];

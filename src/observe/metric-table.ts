// The one registry of metrics: every one that the daemon shows, with its help text. A test holds the
// dashboard and the alert rules in docs/monitoring to it. Times are in seconds, sizes in bytes, as
// Prometheus wants them.

export interface MetricSpec {
  kind: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
  /** Of histograms: upper ends. */
  buckets?: readonly number[];
}

/** From what a healthy receiver takes to the lifetime of a message. */
const DELIVERY_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200, 43_200, 259_200];
const CALL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15];
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const GROUP_SIZES = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000];

export const METRICS = {
  postrider_attempts_total: {
    kind: 'counter',
    help: 'Attempts to deliver a message, by how they ended, by the class of a bounce (hard, soft, block; none) and by MX group.',
    labels: ['outcome', 'class', 'mx_group'],
  },
  postrider_delivery_seconds: {
    kind: 'histogram',
    help: 'From the 202 to the 250 of the receiving server, of delivered messages, by MX group.',
    labels: ['mx_group'],
    buckets: DELIVERY_SECONDS,
  },
  postrider_queue_messages: { kind: 'gauge', help: 'Messages that are accepted and not finished.', labels: [] },
  postrider_queue_oldest_seconds: {
    kind: 'gauge',
    help: 'Age of the message whose lifetime ends first; 0 when nothing waits.',
    labels: [],
  },
  postrider_intake_open: { kind: 'gauge', help: '1 while new mail is taken, 0 while it is not.', labels: [] },
  postrider_results_unstored: {
    kind: 'gauge',
    help: 'Messages whose result the database has refused; they are kept in the journal beside it.',
    labels: [],
  },
  postrider_results_unstored_seconds: {
    kind: 'gauge',
    help: 'For how long results have been waiting to be stored; 0 while the database takes them.',
    labels: [],
  },
  postrider_doubted_receivers: {
    kind: 'gauge',
    help: 'MX groups whose hard bounces have leapt, and count as soft until an operator decides.',
    labels: [],
  },
  postrider_no_route_held: {
    kind: 'gauge',
    help: '1 while mail that DNS shows no way for is held, because there was so much of it; else 0.',
    labels: [],
  },
  postrider_tenants_in_review: {
    kind: 'gauge',
    help: 'Tenants that wait for an operator to approve them: new ones, and those that the brake has stopped.',
    labels: [],
  },
  postrider_service_mail_in_trouble: {
    kind: 'gauge',
    help: "1 while the service's own mail has bounces or complaints that would stop another tenant; else 0. It is not stopped.",
    labels: [],
  },
  postrider_webhook_lag_seconds: {
    kind: 'gauge',
    help: 'How far the most overdue webhook delivery is behind; 0 when none is.',
    labels: [],
  },
  postrider_webhooks_waiting: {
    kind: 'gauge',
    help: 'Webhooks for which something waits, be it for a retry.',
    labels: [],
  },
  postrider_commit_seconds: {
    kind: 'histogram',
    help: 'How long a group of database operations took with its fsync.',
    labels: [],
    buckets: COMMIT_SECONDS,
  },
  postrider_commit_group_size: {
    kind: 'histogram',
    help: 'How many database operations one fsync was for.',
    labels: [],
    buckets: GROUP_SIZES,
  },
  postrider_http_requests_total: {
    kind: 'counter',
    help: 'HTTP calls by method, route and status; route "other" is an address that does not exist.',
    labels: ['method', 'route', 'status'],
  },
  postrider_http_seconds: {
    kind: 'histogram',
    help: 'How long HTTP calls took, by method and route.',
    labels: ['method', 'route'],
    buckets: CALL_SECONDS,
  },
  postrider_inbound_mails_total: {
    kind: 'counter',
    help: 'Mails that came in by SMTP, by how that ended: kept, bare_line_end (CR or LF alone) and too_large (refused), no_room and not_stored (they come back).',
    labels: ['outcome'],
  },
  postrider_dmarc_reports_total: {
    kind: 'counter',
    help: 'DMARC reports that came in, by what became of them: stored, stored_unproven (nothing proves their sender), not_stored (inbound list --kind dmarc says why).',
    labels: ['outcome'],
  },
  postrider_event_loop_delay_seconds: {
    kind: 'gauge',
    help: 'How late the main thread was since the last scrape: percentiles 50, 99 and 99.9, and 100 (the maximum).',
    // Not `quantile`: Prometheus reserves that label for summaries (promtool check metrics).
    labels: ['percentile'],
  },
  postrider_resident_bytes: { kind: 'gauge', help: 'Memory of the process.', labels: [] },
} as const satisfies Record<string, MetricSpec>;

export type MetricName = keyof typeof METRICS;

export type NameOf<K extends MetricSpec['kind']> = {
  [N in MetricName]: (typeof METRICS)[N]['kind'] extends K ? N : never;
}[MetricName];

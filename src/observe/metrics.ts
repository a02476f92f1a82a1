// The metrics of one daemon: created from the table, updated by the parts of the daemon, and completed at each scrape.
// When the listener is off, none of this exists.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { BoundedMap } from '../base/bounded-map.ts';
import type { BounceType } from '../base/outcome.ts';
import { METRICS, type MetricName, type MetricPart, type MetricSpec, type NameOf } from './metric-table.ts';

interface AttemptLabels {
  outcome: 'delivered' | 'deferred' | 'bounced' | 'failed' | 'parked';
  bounce: BounceType | null;
  mxGroup: string | null;
  /** Since the message was accepted, or was to be sent. */
  elapsedMs: number;
}

interface CallFacts {
  method: string;
  /** The pattern, never the path: each ID would be its own time series. */
  route: string;
  status: number;
  elapsedMs: number;
}

interface CommittedGroup {
  verbs: number;
  elapsedMs: number;
  /** To PostgreSQL; missing with SQLite. */
  sent?: { statements: number; roundTrips: number; tries: number };
}

/** Values that are read at each scrape. Null: not known now, so the metric is missing; 0 or an old value would mislead. */
export interface Figures {
  queueMessages: number | null;
  queueOldestMs: number | null;
  intakeOpen: boolean;
  doubtedReceivers: number | null;
  noRouteHeld: boolean | null;
  tenantsInReview: number | null;
  serviceMailInTrouble: boolean | null;
  unstoredResults: number;
  unstoredResultsMs: number;
  webhookLagMs: number | null;
  webhooksWaiting: number | null;
  submissionConnections: number;
  residentBytes: number;
  /** Null: no other daemon can share the store. */
  sharing: { nodes: number; slots: number; leaseLeftMs: number } | null;
  /** By their names. */
  certificatesLeftMs: ReadonlyMap<string, number>;
}

const SUBMISSION_COUNTERS = {
  connection: 'postrider_submission_connections_total',
  login: 'postrider_submission_logins_total',
  recipient: 'postrider_submission_recipients_total',
  mail: 'postrider_submission_mails_total',
} as const satisfies Record<string, NameOf<'counter'>>;
const PERCENTILES = [50, 99, 99.9, 100];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const NS_PER_S = 1e9;
/** How often the delay of the main thread is measured. */
const SAMPLE_MS = 10;

export class Metrics {
  readonly #registry = new Registry();
  readonly #byName: Map<MetricName, Counter | Gauge | Histogram>;
  readonly #groups = new GroupLabels();
  readonly #delay: IntervalHistogram;

  constructor(parts: Partial<Record<MetricPart, boolean>> = {}) {
    const all = Object.entries(METRICS) as [MetricName, MetricSpec][];
    const entries = all.filter(([, { onlyWith }]) => onlyWith === undefined || parts[onlyWith]);
    this.#byName = new Map(entries.map(([name, spec]) => [name, createMetric(name, spec, this.#registry)]));
    this.#delay = monitorEventLoopDelay({ resolution: SAMPLE_MS });
    this.#delay.enable();
    this.#set('postrider_start_time_seconds', performance.timeOrigin / 1000);
  }

  attempted({ outcome, bounce, mxGroup, elapsedMs }: AttemptLabels): void {
    const mx_group = this.#groups.labelOf(mxGroup);
    this.#counter('postrider_attempts_total').inc({ outcome, class: bounce ?? 'none', mx_group });
    if (outcome === 'delivered') this.#histogram('postrider_delivery_seconds').observe({ mx_group }, elapsedMs / 1000);
  }

  committed({ verbs, elapsedMs, sent }: CommittedGroup): void {
    this.#histogram('postrider_commit_seconds').observe(elapsedMs / 1000);
    this.#histogram('postrider_commit_group_size').observe(verbs);
    if (sent === undefined) return;
    this.#counter('postrider_database_round_trips_total').inc(sent.roundTrips);
    this.#counter('postrider_database_statements_total').inc(sent.statements);
    this.#counter('postrider_database_tries_total').inc(sent.tries);
  }

  answered({ method: givenMethod, route, status, elapsedMs }: CallFacts): void {
    // Clients may send unknown methods.
    const method = METHODS.has(givenMethod) ? givenMethod : 'other';
    this.#counter('postrider_http_requests_total').inc({ method, route, status });
    this.#histogram('postrider_http_seconds').observe({ method, route }, elapsedMs / 1000);
  }

  /** A mail came in by SMTP; there are few outcomes, all from our own code. */
  received(outcome: string): void {
    this.#counter('postrider_inbound_mails_total').inc({ outcome });
  }

  /** A step of an application that sends by SMTP; there are few outcomes, all from our own code. */
  submission(step: keyof typeof SUBMISSION_COUNTERS, outcome: string): void {
    this.#counter(SUBMISSION_COUNTERS[step]).inc({ outcome });
  }

  /** A DMARC report was processed. */
  reported(outcome: 'stored' | 'stored_unproven' | 'not_stored'): void {
    this.#counter('postrider_dmarc_reports_total').inc({ outcome });
  }

  /** Spans have left, or are lost. */
  traced(result: 'exported' | 'dropped', spans: number): void {
    this.#counter(`postrider_trace_spans_${result}_total`).inc(spans);
  }

  /** In Prometheus's text format. */
  render(figures: Figures): Promise<string> {
    this.#set('postrider_queue_messages', figures.queueMessages);
    this.#set('postrider_queue_oldest_seconds', inSecs(figures.queueOldestMs));
    this.#set('postrider_intake_open', figures.intakeOpen);
    this.#set('postrider_results_unstored', figures.unstoredResults);
    this.#set('postrider_results_unstored_seconds', figures.unstoredResultsMs / 1000);
    this.#set('postrider_doubted_receivers', figures.doubtedReceivers);
    this.#set('postrider_no_route_held', figures.noRouteHeld);
    this.#set('postrider_tenants_in_review', figures.tenantsInReview);
    this.#set('postrider_service_mail_in_trouble', figures.serviceMailInTrouble);
    this.#set('postrider_webhook_lag_seconds', inSecs(figures.webhookLagMs));
    this.#set('postrider_webhooks_waiting', figures.webhooksWaiting);
    this.#set('postrider_submission_open_connections', figures.submissionConnections);
    this.#set('postrider_resident_bytes', figures.residentBytes);
    if (figures.sharing) this.#setSharing(figures.sharing);
    for (const [names, leftMs] of figures.certificatesLeftMs) {
      this.#gauge('postrider_certificate_expiry_seconds').set({ names }, leftMs / 1000);
    }
    for (const percentile of PERCENTILES) {
      this.#gauge('postrider_event_loop_delay_seconds').set({ percentile }, this.#delaySecs(percentile));
    }
    this.#delay.reset();
    return this.#registry.metrics();
  }

  #setSharing({ nodes, slots, leaseLeftMs }: NonNullable<Figures['sharing']>): void {
    this.#set('postrider_nodes', nodes);
    this.#set('postrider_slots', slots);
    this.#set('postrider_lease_left_seconds', leaseLeftMs / 1000);
  }

  /** The histogram has the time between two samples: the delay is what exceeds the sampling period. */
  #delaySecs(percentile: number): number {
    if (this.#delay.count === 0) return 0;
    const sampleNs = percentile === 100 ? this.#delay.max : this.#delay.percentile(percentile);
    return Math.max(0, sampleNs / NS_PER_S - SAMPLE_MS / 1000);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  close(): void {
    this.#delay.disable();
  }

  #set(name: NameOf<'gauge'>, value: number | boolean | null): void {
    if (value === null) this.#gauge(name).remove();
    else this.#gauge(name).set(Number(value));
  }

  #gauge(name: NameOf<'gauge'>): Gauge {
    return this.#byName.get(name) as Gauge;
  }

  #counter(name: NameOf<'counter'>): Counter {
    return this.#byName.get(name) as Counter;
  }

  #histogram(name: NameOf<'histogram'>): Histogram {
    return this.#byName.get(name) as Histogram;
  }
}

function inSecs(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}

function createMetric(name: MetricName, spec: MetricSpec, registry: Registry): Counter | Gauge | Histogram {
  const { help, labels } = spec;
  const options = { name, help, labelNames: [...labels], registers: [registry] };
  if (spec.kind === 'counter') return new Counter(options);
  if (spec.kind === 'gauge') return new Gauge(options);
  return new Histogram({ ...options, buckets: [...(spec.buckets ?? [])] });
}

// Which MX groups have their own label: those with much mail, up to a limit. Anyone can make up domains, and every
// label is a time series that Prometheus keeps forever.

const MAX_LABELS = 30;
/** Attempts after which a group counts as large. */
const LARGE = 100;
/** How many small groups are counted at a time. */
const MAX_CANDIDATES = 1000;

const OTHER_GROUPS = 'other';

export class GroupLabels {
  readonly #labels = new Set<string>();
  readonly #candidates = new BoundedMap<string, number>(MAX_CANDIDATES);

  /** A group keeps its label. */
  labelOf(group: string | null): string {
    if (group === null) return OTHER_GROUPS;
    if (this.#labels.has(group)) return group;
    if (this.#labels.size >= MAX_LABELS) return OTHER_GROUPS;
    const attempts = (this.#candidates.get(group) ?? 0) + 1;
    if (attempts < LARGE) {
      this.#candidates.set(group, attempts);
      return OTHER_GROUPS;
    }
    this.#candidates.delete(group);
    this.#labels.add(group);
    return group;
  }
}

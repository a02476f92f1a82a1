// Wires up the metrics: where their figures come from, and the listener that shows them. None when `metrics.port` is 0.
// A part of the wiring list in daemon.ts.
import { SECOND_MS } from '../base/clock.ts';
import type { ClosingStack } from '../base/closing-stack.ts';
import type { Config } from '../config/keys.ts';
import type { UnstoredResults } from '../delivery/outcome/result-writer.ts';
import type { Route, RouterOptions } from '../http/router.ts';
import { strictTransport } from '../http/strict-transport.ts';
import { type AnsweredCall, watchedRouter, watchedRoutes } from '../http/watched-routes.ts';
import { routeByHost } from '../links/pages/link-pages.ts';
import { figureReads } from '../observe/figure-reads.ts';
import { residentMemory } from '../observe/host-room.ts';
import type { Figures, Metrics } from '../observe/metrics.ts';
import { startMetricsListener } from '../observe/metrics-listener.ts';
import type { Store } from '../store/store.ts';
import { NO_ROUTE } from '../store/suppressions.ts';
import type { Foundation } from './open-foundation.ts';

/** The limit of webhooks to read; the most overdue one is very likely among them. */
const MAX_WEBHOOKS = 10_000;
const PAGE = 1000;
/** A figure of the database. Prometheus gives the whole scrape 10 s. */
const READ_MS = 3 * SECOND_MS;

export interface MetricSources {
  unstoredResults(): UnstoredResults | null;
  reputation: { ownTrouble(): Promise<string | null> };
  door: { openConnections(): number };
  certificates: { ends(): { names: string; notAfter: number | null }[] };
}

export async function openMetricsListener(
  config: Config,
  foundation: Foundation,
  sources: MetricSources,
  opened: ClosingStack,
): Promise<void> {
  const { metrics, log } = foundation;
  if (!metrics) return;
  const { host, port } = config.metrics;
  const of = { ...sources, residentBytes: residentMemory() };
  const stored = storedFigures(foundation, { ...sources, lifetimeMs: config.delivery.lifetime });
  const figures = async () => {
    const found = await stored(); // which takes longer
    return { ...found, ...figuresInMemory(foundation, of) };
  };
  const listener = await startMetricsListener({ host, port, metrics, log, figures });
  opened.add(() => listener.close());
}

function figuresInMemory(
  { ownership, nodes, clock, intake }: Foundation,
  sources: MetricSources & { residentBytes(): number },
) {
  const now = clock.now();
  const unstored = sources.unstoredResults();
  return {
    intakeOpen: intake.state.accepting,
    unstoredResults: unstored?.messages ?? 0,
    unstoredResultsMs: unstored ? now - unstored.since : 0,
    submissionConnections: sources.door.openConnections(),
    residentBytes: sources.residentBytes(),
    sharing: nodes && {
      nodes: nodes.living(),
      slots: ownership.slots.length,
      leaseLeftMs: ownership.lease?.leftMs ?? 0,
    },
    certificatesLeftMs: new Map(
      sources.certificates.ends().map(({ names, notAfter }) => [names, notAfter === null ? 0 : notAfter - now]),
    ),
  };
}

type StoredFigures = Omit<Figures, keyof ReturnType<typeof figuresInMemory>>;

function storedFigures(
  { store, ownership, clock, log }: Foundation,
  { reputation, lifetimeMs }: Pick<MetricSources, 'reputation'> & { lifetimeMs: number },
): () => Promise<StoredFigures> {
  const reads = {
    queueMessages: () => store.figures.countOpenMessages(),
    async queueOldestMs() {
      const [oldest] = await store.queue.listQueue({ limit: 1 });
      if (!oldest) return 0;
      // Its lifetime begins when it is to be sent: until then, scheduled mail does not wait.
      return Math.max(0, clock.now() - Math.max(oldest.createdAt, oldest.expiresAt - lifetimeMs));
    },
    doubts: () => store.reputation.listDoubtedReceivers(),
    webhooks: () => webhookFigures(store, ownership.slots, clock.now()),
    tenants: () => store.tenants.listTenants(),
    serviceMailInTrouble: async () => (await reputation.ownTrouble()) !== null,
  };
  const read = figureReads(reads, { limitMs: READ_MS, log });
  return async () => {
    const { doubts, webhooks, tenants, ...found } = await read();
    return {
      ...found,
      doubtedReceivers: doubts?.filter(({ mxGroup }) => mxGroup !== NO_ROUTE).length ?? null,
      noRouteHeld: doubts?.some(({ mxGroup }) => mxGroup === NO_ROUTE) ?? null,
      tenantsInReview: tenants?.filter(({ status }) => status === 'in_review').length ?? null,
      webhookLagMs: webhooks?.lagMs ?? null,
      webhooksWaiting: webhooks?.waiting ?? null,
    };
  };
}

async function webhookFigures(store: Pick<Store, 'webhooks'>, slots: readonly number[], now: number) {
  let lagMs = 0;
  let waiting = 0;
  let after: string | null = null;
  for (let seen = 0; seen < MAX_WEBHOOKS; seen += PAGE) {
    const { found, last }: Awaited<ReturnType<Store['webhooks']['dueWebhooks']>> = await store.webhooks.dueWebhooks(
      slots,
      after,
      PAGE,
    );
    waiting += found.length;
    for (const { dueAt } of found) lagMs = Math.max(lagMs, now - dueAt);
    if (last === null) break;
    after = last;
  }
  return { lagMs, waiting };
}

/** Updates metrics if there are any, and costs nothing otherwise. */
export function attemptObserver(metrics: Metrics | null): { onAttempt?: Metrics['attempted'] } {
  return metrics ? { onAttempt: (facts) => metrics.attempted(facts) } : {};
}

/**
 * Counts every response of the API, the public pages and the links. Links have no strict transport security, since
 * their host may be a tenant's.
 */
export function handlerOf(config: Config, { metrics }: Foundation, links: readonly Route[], pages: RouterOptions) {
  const main = strictTransport(pages);
  if (!metrics) return routeByHost(config.service, links, main);
  const observer = (call: AnsweredCall) => metrics.answered(call);
  return routeByHost(config.service, watchedRoutes(links, observer), watchedRouter(main, observer));
}

// Wires up the metrics: where their figures come from, and the listener that shows them. None when `metrics.port` is 0.
// A part of the wiring list in daemon.ts.
import type { ClosingStack } from '../base/closing-stack.ts';
import type { Config } from '../config/keys.ts';
import type { UnstoredResults } from '../delivery/outcome/result-writer.ts';
import type { Route, RouterOptions } from '../http/router.ts';
import { strictTransport } from '../http/strict-transport.ts';
import { type AnsweredCall, watchedRouter, watchedRoutes } from '../http/watched-routes.ts';
import { routeByHost } from '../links/pages/link-pages.ts';
import { residentMemory } from '../observe/host-room.ts';
import type { Figures, Metrics } from '../observe/metrics.ts';
import { startMetricsListener } from '../observe/metrics-listener.ts';
import type { Store } from '../store/store.ts';
import { NO_ROUTE } from '../store/suppressions.ts';
import type { Foundation } from './open-foundation.ts';

/** The limit of webhooks to read; the most overdue one is very likely among them. */
const MAX_WEBHOOKS = 10_000;
const PAGE = 1000;

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
  const of = { ...sources, residentBytes: residentMemory(), lifetimeMs: config.delivery.lifetime };
  const figures = () => figuresOf(foundation, of);
  const listener = await startMetricsListener({ host, port, metrics, log, figures });
  opened.add(() => listener.close());
}

async function figuresOf(
  { store, ownership, nodes, clock, intake }: Foundation,
  sources: MetricSources & { residentBytes(): number; lifetimeMs: number },
): Promise<Figures> {
  const now = clock.now();
  const unstored = sources.unstoredResults();
  const [queueMessages, [oldest], doubts, webhooks, tenants, ownTrouble] = await Promise.all([
    store.figures.countOpenMessages(),
    store.queue.listQueue({ limit: 1 }),
    store.reputation.listDoubtedReceivers(),
    webhookFigures(store, ownership.slots, now),
    store.tenants.listTenants(),
    sources.reputation.ownTrouble(),
  ]);
  return {
    queueMessages,
    // Its lifetime begins when it is to be sent: until then, scheduled mail does not wait.
    queueOldestMs: oldest ? Math.max(0, now - Math.max(oldest.createdAt, oldest.expiresAt - sources.lifetimeMs)) : 0,
    intakeOpen: intake.state.accepting,
    doubtedReceivers: doubts.filter(({ mxGroup }) => mxGroup !== NO_ROUTE).length,
    noRouteHeld: doubts.some(({ mxGroup }) => mxGroup === NO_ROUTE),
    tenantsInReview: tenants.filter(({ status }) => status === 'in_review').length,
    serviceMailInTrouble: ownTrouble !== null,
    unstoredResults: unstored?.messages ?? 0,
    unstoredResultsMs: unstored ? now - unstored.since : 0,
    ...webhooks,
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

async function webhookFigures(store: Pick<Store, 'webhooks'>, slots: readonly number[], now: number) {
  let webhookLagMs = 0;
  let webhooksWaiting = 0;
  let after: string | null = null;
  for (let seen = 0; seen < MAX_WEBHOOKS; seen += PAGE) {
    const { found, last }: Awaited<ReturnType<Store['webhooks']['dueWebhooks']>> = await store.webhooks.dueWebhooks(
      slots,
      after,
      PAGE,
    );
    webhooksWaiting += found.length;
    for (const { dueAt } of found) webhookLagMs = Math.max(webhookLagMs, now - dueAt);
    if (last === null) break;
    after = last;
  }
  return { webhookLagMs, webhooksWaiting };
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

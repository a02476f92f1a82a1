// Outgoing traffic: mail to receiving servers, events to tenants' endpoints. A part of the wiring list in daemon.ts.
import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { monotonicMs } from '../base/lease-end.ts';
import type { Config } from '../config/keys.ts';
import { sourcePool } from '../config/source-address.ts';
import { type Delivery, type DeliveryKit, startDelivery } from '../delivery/delivery.ts';
import type { EndWatch } from '../delivery/outcome/doubted-bounce.ts';
import { SharedLimits } from '../delivery/shaping/shared-limits.ts';
import { shapingSettings } from '../operator/shaping-settings.ts';
import { createResolver } from '../protocol/dns/lookup/resolver.ts';
import { type RunningWebhooks, startWebhooks, type WebhooksKit } from '../webhooks/start-webhooks.ts';
import type { Foundation } from './open-foundation.ts';
import { attemptObserver } from './open-metrics.ts';
import { callObserver, recordObserver } from './open-traces.ts';

// Two for each call that can be in progress.
const WEBHOOK_LOOKUPS = 2048;

// RFC 8461 section 3.3 allows no other port.
const HTTPS_PORT = 443;

interface DeliveryWays extends Pick<DeliveryKit, 'resolver' | 'secondLooks' | 'addresses' | 'staysUsable'> {
  /** Courier threads open the tenants' keys themselves. */
  masterKeys: Buffer[];
}

export function openDelivery(
  config: Config,
  foundation: Foundation,
  { resolver, secondLooks, addresses, masterKeys, staysUsable }: DeliveryWays,
  endWatch: EndWatch,
): Promise<Delivery> {
  const { delivery, service } = config;
  const { store, ownership, nodes, journal, clock, ids, log, identity, folder, bounceRules } = foundation;
  const shaping = shapingSettings(config);
  return startDelivery({
    store,
    ownership,
    journal,
    resolver,
    secondLooks,
    addresses,
    staysUsable,
    log,
    ids,
    clock,
    bounceRules,
    endWatch,
    ...attemptObserver(foundation.metrics),
    ...recordObserver(foundation.traces),
    random: Math.random,
    courier: {
      store: folder.store,
      masterKeys,
      tokenKey: identity.tokenKey,
      bouncesDomain: service.bounces_domain,
      links: { url: service.links_url, key: identity.linkKey },
      serviceSigner: identity.dkim,
      ehloName: service.ehlo_name,
      smtpPort: delivery.port,
      tls: delivery.starttls,
      timeoutFactor: delivery.timeout_factor,
    },
    mtaSts: delivery.mta_sts ? { port: HTTPS_PORT } : null,
    threads: delivery.workers,
    sources: { pool: sourcePool(delivery.source_addresses), ramp: delivery.source_ramp },
    noRoute: { secondLookAfterMs: config.dns.second_look_after, lifetimeMs: delivery.no_route_lifetime },
    policy: {
      ladder: { stepsMs: delivery.retry_steps, jitter: delivery.retry_jitter },
      platformSuppressionMs: config.retention.platform_suppression_days * DAY_MS,
    },
    limits: { ...shaping.limits, lingerMs: delivery.linger },
    providers: shaping.providers,
    node: nodes?.ownName ?? null,
    shared: nodes && new SharedLimits({ store, clock, log, node: nodes.ownName, monotonicMs }),
    expiryPeriodMs: MINUTE_MS,
  });
}

/** With its own resolver: look-ups for dead endpoints must not delay mail. */
export function openWebhooks(
  { store, ownership, vault, clock, ids, log, traces }: Foundation,
  { servers, policy, notify }: { servers: readonly string[] } & Pick<WebhooksKit, 'policy' | 'notify'>,
): Promise<RunningWebhooks> {
  const resolver = createResolver({ servers, clock, maxConcurrent: WEBHOOK_LOOKUPS });
  const { onCalled } = callObserver(traces);
  const parts = { store, ownership, vault, clock, ids, log, resolver };
  return startWebhooks({ ...parts, random: Math.random, policy, notify, onCalled });
}

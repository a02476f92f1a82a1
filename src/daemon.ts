// The wiring list: what the daemon consists of, in the order in which it is opened. It is
// closed the other way round.
import { getServers } from 'node:dns';
import { createApi } from './api/create-api.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './base/clock.ts';
import { ClosingStack } from './base/closing-stack.ts';
import { Timers } from './base/timers.ts';
import { startControlServer } from './cli/control-server.ts';
import { storeQueueControl } from './cli/queue-control.ts';
import type { Config } from './config/keys.ts';
import { type Delivery, startDelivery } from './delivery/delivery.ts';
import { createDomains, type Domains } from './domains/domains.ts';
import type { ServiceIdentity } from './domains/service-identity.ts';
import { type Foundation, openFoundation } from './foundation.ts';
import { createRouter } from './http/router.ts';
import { startHttp } from './http/start-http.ts';
import type { LogSink } from './observe/log.ts';
import { createAuthority } from './protocol/dns/authority.ts';
import { createResolver, type Resolver } from './protocol/dns/resolver.ts';
import { createPublicPages } from './public/create-public-pages.ts';
import type { Store } from './store/store.ts';
import type { LaneNotice } from './store/submissions.ts';
import type { Tier } from './store/tenants.ts';
import { createSubmission } from './submission/submit.ts';
import { RenderPool } from './templates/render-pool.ts';
import { createTemplates } from './templates/templates.ts';
import { escalateTiers } from './tenants/escalation.ts';
import { targetPolicy } from './webhooks/target.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

export interface DaemonOptions {
  logTo?: 'stdout' | LogSink;
}

export interface Daemon {
  httpPort: number;
  store: Store;
  domains: Domains;
  identity: ServiceIdentity;
  close(): Promise<void>;
}

export async function startDaemon(config: Config, options: DaemonOptions = {}): Promise<Daemon> {
  const opened = new ClosingStack();
  try {
    return await open(config, options, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function open(config: Config, options: DaemonOptions, opened: ClosingStack): Promise<Daemon> {
  const foundation = await openFoundation(config, options.logTo ?? 'stdout', opened);
  const { clock, ids, log, store, identity, folder } = foundation;
  const servers = config.dns.servers.length > 0 ? config.dns.servers : getServers();
  const resolver = createResolver({ servers, clock });
  const delivery = await openDelivery(config, foundation, resolver);
  const drainDelivery = once(() => delivery.close(config.stop.grace));
  opened.add(drainDelivery);

  const domains = openDomains(config, foundation, resolver);
  const webhooks = createWebhooks({ ...foundation, policy: targetPolicy(config.webhooks.allow_private) });
  const renderer = new RenderPool({ clock, log });
  opened.add(() => renderer.close());
  const templates = createTemplates({ store, renderer, clock, ids });
  const onAccepted = (lanes: LaneNotice[]) => delivery.notice(lanes);
  const lifetimeMs = config.delivery.lifetime;
  const submission = createSubmission({ store, templates, clock, ids, log, lifetimeMs, onAccepted });
  const requestsPerMinute = (tier: Tier) => requestCap(config, tier);
  const api = createApi({ store, clock, ids, log, domains, templates, webhooks, submission, requestsPerMinute });
  const http = await startHttp({
    engine: config.http.engine,
    host: config.http.host,
    port: config.http.port,
    ...tlsFiles(config),
    trustedProxies: config.http.trusted_proxies,
    handler: createRouter({ ...api, routes: [...api.routes, ...createPublicPages()] }),
    onError: (error) => log.error({ error }, 'HTTP handler failed'),
    log,
  });
  opened.add(() => {
    // At the same time: the two share one grace, and no session begins while a call is waited for.
    drainDelivery().catch(() => {}); // told further down, where it is waited for
    return http.close(config.stop.grace);
  });

  const queue = storeQueueControl({ store, clock, ids, log, onLanes: (lanes) => delivery.notice(lanes) });
  const tenantChanged = () => void delivery.reconcile();
  const control = await startControlServer({
    socketFile: folder.controlSocket,
    services: { store, clock, ids, config, queue, tenantChanged },
    onCommand: (command, answer) => log.info({ command, outcome: answer.kind }, 'command carried out'),
  });
  opened.add(() => control.close());
  const timers = openTimers(config, foundation);
  opened.add(() => timers.stop());
  log.info({ http_port: http.port, data_dir: folder.dir }, 'ready');

  const close = async () => {
    log.info({}, 'stopping: running calls and sessions finish, nothing new starts');
    await opened.close();
    log.info({}, 'stopped');
  };
  return { httpPort: http.port, store, domains, identity, close };
}

function openDelivery(config: Config, foundation: Foundation, resolver: Resolver): Promise<Delivery> {
  const { delivery, service } = config;
  const { store, clock, ids, log, identity, masterKeys, folder, bounceRules } = foundation;
  return startDelivery({
    ...{ store, resolver, log, ids, clock, bounceRules },
    random: Math.random,
    courier: {
      databaseFile: folder.database,
      masterKeys,
      tokenKey: identity.tokenKey,
      bouncesDomain: service.bounces_domain,
      serviceSigner: identity.dkim,
      ehloName: service.ehlo_name,
      smtpPort: delivery.port,
      tls: delivery.starttls,
      timeoutFactor: delivery.timeout_factor,
    },
    threads: delivery.workers,
    allowPrivate: delivery.allow_private,
    policy: {
      ladder: { stepsMs: delivery.retry_steps, jitter: delivery.retry_jitter },
      platformSuppressionMs: config.retention.platform_suppression_days * DAY_MS,
    },
    limits: {
      sessions: delivery.connections,
      sessionsPerGroup: delivery.connections_per_destination,
      messagesPerSession: delivery.messages_per_connection,
      lingerMs: delivery.linger,
    },
    expiryPeriodMs: MINUTE_MS,
  });
}

function openDomains(config: Config, { store, vault, clock, ids }: Foundation, resolver: Resolver): Domains {
  const { service, dns } = config;
  const ownNames = [service.bounces_domain, service.spf_domain, service.dkim_domain, service.ehlo_name];
  return createDomains({
    ...{ store, vault, clock, ids },
    lookups: createAuthority({ resolver, authorityPort: dns.authority_port, allowPrivate: dns.allow_private }),
    service: {
      spfDomain: service.spf_domain,
      dmarcReportAddress: service.dmarc_report_address,
      ownDomains: [...new Set(ownNames)],
    },
  });
}

/** All that happens periodically and belongs to no part of its own. */
function openTimers(config: Config, { store, clock, log }: Foundation): Timers {
  const onError = (timer: string, error: unknown) => log.error({ timer, error }, 'a timer failed');
  const timers = new Timers({ clock, tickMs: SECOND_MS, onError });
  const { escalation_days, escalation_hard_bounce_rate, escalation_complaint_rate, review_window } = config.limits;
  const [first = 0, second = 0] = escalation_days;
  const limits = {
    days: [first, second] as const,
    hardBounceRate: escalation_hard_bounce_rate,
    complaintRate: escalation_complaint_rate,
    window: review_window,
  };
  const escalate = () => escalateTiers({ store, clock, log, limits });
  timers.add({ name: 'rate tiers', periodMs: HOUR_MS, run: async () => `${await escalate()} raised` });
  return timers;
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | null = null;
  return () => {
    begun ??= work();
    return begun;
  };
}

function requestCap(config: Config, tier: Tier): number | null {
  const [first, second] = config.limits.requests_per_minute;
  return { '1k': first ?? null, '10k': second ?? null, uncapped: null }[tier];
}

function tlsFiles({ http }: Config) {
  return http.tls_cert && http.tls_key ? { tls: { certFile: http.tls_cert, keyFile: http.tls_key } } : {};
}

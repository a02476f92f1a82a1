// The wiring list: what the daemon consists of, in the order in which it is opened. It is
// closed the other way round.
import { getServers } from 'node:dns';
import { createApi } from './api/create-api.ts';
import { DAY_MS, MINUTE_MS } from './base/clock.ts';
import { ClosingStack } from './base/closing-stack.ts';
import { startControlServer } from './cli/control-server.ts';
import { liveQueueControl } from './cli/queue-control.ts';
import { shapingSettings } from './cli/shaping-settings.ts';
import type { Config } from './config/keys.ts';
import { sourcePool } from './config/source-address.ts';
import { type Delivery, startDelivery } from './delivery/delivery.ts';
import type { EndWatch } from './delivery/doubted-bounce.ts';
import { createDomains, type Domains, type DomainsOptions } from './domains/domains.ts';
import type { ServiceIdentity } from './domains/service-identity.ts';
import { type Foundation, openFoundation } from './foundation.ts';
import type { HttpHandler, HttpOptions } from './http/http.ts';
import { startHttp } from './http/start-http.ts';
import { openIncoming, reputationOf, serviceMailOf } from './incoming.ts';
import { attemptObserver, handlerOf, openMetricsListener } from './monitoring.ts';
import type { Logger, LogSink } from './observe/log.ts';
import { openTimers } from './periodic.ts';
import { createAuthority } from './protocol/dns/authority.ts';
import { createResolver, type Resolver } from './protocol/dns/resolver.ts';
import { createPublicPages } from './public/create-public-pages.ts';
import { linkPages } from './public/link-pages.ts';
import type { Store } from './store/store.ts';
import type { LaneNotice } from './store/submissions.ts';
import type { Tier } from './store/tenants.ts';
import { tellByMail } from './submission/service-mail.ts';
import { createSubmission } from './submission/submit.ts';
import { RenderPool } from './templates/render-pool.ts';
import { createTemplates } from './templates/templates.ts';
import { HitRecorder } from './tracking/hit-recorder.ts';
import { loadMachineRules, SHIPPED_MACHINE_RULES } from './tracking/load-machine-rules.ts';
import { type RunningWebhooks, startWebhooks, type WebhooksKit } from './webhooks/start-webhooks.ts';

// Two for each of the calls that can be under way.
const WEBHOOK_LOOKUPS = 2048;

// RFC 8461 section 3.3 knows no other.
const HTTPS_PORT = 443;

export interface DaemonOptions {
  logTo?: 'stdout' | LogSink;
}

export interface Daemon {
  httpPort: number;
  smtpPort: number;
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
  const { clock, ids, log, store, identity, folder, intake } = foundation;
  const servers = config.dns.servers.length > 0 ? config.dns.servers : getServers();
  const resolver = createResolver({ servers, clock });
  // Until delivery runs it has nobody to tell: it looks at the whole queue when it starts.
  let running: Delivery | null = null;
  const onAccepted = (lanes: LaneNotice[]) => running?.notice(lanes);
  const sendServiceMail = serviceMailOf(config, foundation, onAccepted);
  const tell = tellByMail(sendServiceMail, log);
  const { webhooks, ...hooks } = await openWebhooks(config, foundation, { servers, tell });
  opened.add(hooks.close);
  const reputation = await reputationOf(config, foundation, tell);
  const delivery = await openDelivery(config, foundation, resolver, reputation);
  running = delivery;
  const drainDelivery = once(() => delivery.close(config.stop.grace));
  opened.add(drainDelivery);

  const domainParts = domainsOptions(config, foundation, resolver);
  const domains = createDomains(domainParts);
  const renderer = new RenderPool({ clock, log });
  opened.add(() => renderer.close());
  const templates = createTemplates({ store, renderer, clock, ids });
  const lifetimeMs = config.delivery.lifetime;
  const refuseNew = () => intake.refusal();
  const submission = createSubmission({ store, templates, clock, ids, log, lifetimeMs, refuseNew, onAccepted });
  const requestsPerMinute = (tier: Tier) => requestCap(config, tier);
  const api = createApi({ store, clock, ids, log, domains, templates, webhooks, submission, requestsPerMinute });
  const recorder = new HitRecorder({ ...foundation, rules: loadMachineRules(SHIPPED_MACHINE_RULES) });
  opened.add(() => recorder.close());
  const links = linkPages({ ...foundation, recorder, keys: (keyId) => identity.linkKeys.get(keyId) });
  const pages = { ...api, routes: [...api.routes, ...createPublicPages()] };
  const http = await startHttp(httpOptions(config, log, handlerOf(config, foundation, links, pages)));
  opened.add(() => {
    // At the same time: the two share one grace, and no session begins while a call is waited for.
    drainDelivery().catch(() => {}); // told further down, where it is waited for
    return http.close(config.stop.grace);
  });

  const inbound = await openIncoming(config, foundation, { resolver, reputation, send: sendServiceMail });
  opened.add(() => inbound.close());
  const queue = liveQueueControl({ store, clock, ids, log, config }, delivery, foundation.bounceRules);
  const tenantChanged = () => void delivery.reconcile();
  const others = [...inbound.timers, ...reputation.timers, ...hooks.timers];
  const timers = openTimers(config, foundation, { domains: domainParts, others });
  opened.add(() => timers.stop());
  const daemon = { intake: () => intake.state, timers: () => timers.list() };
  const control = await startControlServer({
    socketFile: folder.controlSocket,
    services: { store, clock, ids, config, queue, tenantChanged, receiverTrusted: reputation.trust, daemon },
    onCommand: (command, answer) => log.info({ command, outcome: answer.kind }, 'command carried out'),
  });
  opened.add(() => control.close());
  const metricsListener = await openMetricsListener(config, foundation);
  opened.add(() => metricsListener?.close());
  log.info({ http_port: http.port, smtp_port: inbound.smtpPort, data_dir: folder.dir }, 'ready');

  const close = async () => {
    log.info({}, 'stopping: running calls and sessions finish, nothing new starts');
    await opened.close();
    log.info({}, 'stopped');
  };
  return { httpPort: http.port, smtpPort: inbound.smtpPort, store, domains, identity, close };
}

function openDelivery(
  config: Config,
  foundation: Foundation,
  resolver: Resolver,
  endWatch: EndWatch,
): Promise<Delivery> {
  const { delivery, service } = config;
  const { store, clock, ids, log, identity, masterKeys, folder, bounceRules } = foundation;
  const shaping = shapingSettings(config);
  return startDelivery({
    ...{ store, resolver, log, ids, clock, bounceRules, endWatch, ...attemptObserver(foundation.metrics) },
    random: Math.random,
    courier: {
      databaseFile: folder.database,
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
    allowPrivate: delivery.allow_private,
    sources: { pool: sourcePool(delivery.source_addresses), ramp: delivery.source_ramp },
    policy: {
      ladder: { stepsMs: delivery.retry_steps, jitter: delivery.retry_jitter },
      platformSuppressionMs: config.retention.platform_suppression_days * DAY_MS,
    },
    limits: { ...shaping.limits, lingerMs: delivery.linger },
    providers: shaping.providers,
    expiryPeriodMs: MINUTE_MS,
  });
}

/** With a resolver of its own: names of dead endpoints that nobody answers for must not hold up mail. */
function openWebhooks(
  config: Config,
  foundation: Foundation,
  { servers, tell }: { servers: readonly string[]; tell: WebhooksKit['tell'] },
): Promise<RunningWebhooks> {
  const resolver = createResolver({ servers, clock: foundation.clock, maxConcurrent: WEBHOOK_LOOKUPS });
  const { allow_private: allowPrivate } = config.webhooks;
  return startWebhooks({ ...foundation, resolver, random: Math.random, allowPrivate, tell });
}

function domainsOptions(config: Config, foundation: Foundation, resolver: Resolver): DomainsOptions {
  const { store, vault, clock, ids } = foundation;
  const { service, dns } = config;
  const ownNames = [service.bounces_domain, service.spf_domain, service.dkim_domain, service.ehlo_name];
  return {
    ...{ store, vault, clock, ids },
    lookups: createAuthority({ resolver, authorityPort: dns.authority_port, allowPrivate: dns.allow_private }),
    service: {
      spfDomain: service.spf_domain,
      dmarcReportAddress: service.dmarc_report_address,
      ownDomains: [...new Set(ownNames)],
    },
  };
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

function httpOptions({ http }: Config, log: Logger, handler: HttpHandler): HttpOptions {
  const { engine, host, port, tls_cert, tls_key } = http;
  return {
    ...{ engine, host, port, handler, log, trustedProxies: http.trusted_proxies },
    ...(tls_cert && tls_key && { tls: { certFile: tls_cert, keyFile: tls_key } }),
    onError: (error) => log.error({ error }, 'HTTP handler failed'),
  };
}

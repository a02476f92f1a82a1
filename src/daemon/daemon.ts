// The wiring list: the parts of the daemon, in the order in which they are opened. They are closed in reverse order.
import { getServers } from 'node:dns';
import type { Clock } from '../base/clock.ts';
import { ClosingStack } from '../base/closing-stack.ts';
import type { Timers } from '../base/timers.ts';
import type { Config } from '../config/keys.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { NewMail } from '../delivery/queue/passage.ts';
import { CheckTurns } from '../domains/check-turns.ts';
import { createDomainNotices, type DomainNoticesKit } from '../domains/domain-notices.ts';
import { createDomains, type Domains, type DomainsOptions, hasPassed } from '../domains/domains.ts';
import type { ServiceIdentity } from '../domains/service-identity.ts';
import type { HttpServer } from '../http/http.ts';
import type { Inbound } from '../inbound/inbound.ts';
import { type ControlServerOptions, type RunCommand, startControlServer } from '../operator/control/control-server.ts';
import { domainSettings } from '../operator/domain-settings.ts';
import type { DaemonView } from '../operator/operator-services.ts';
import { liveQueueControl } from '../operator/queue-control.ts';
import type { CapturedMails } from '../portal/captured-mails.ts';
import { type Authority, createAuthority } from '../protocol/dns/lookup/authority.ts';
import { createResolver } from '../protocol/dns/lookup/resolver.ts';
import { createSecondLooks } from '../protocol/dns/second-look.ts';
import type { Store } from '../store/store.ts';
import type { LaneNotice } from '../store/submissions.ts';
import { createTakeMail } from '../submission/door/take-mail.ts';
import { createScheduling } from '../submission/schedule.ts';
import { NO_BRAKES } from '../suppression/reputation.ts';
import { type Certificates, openCertificates } from './open-certificates.ts';
import { openDelivery, openWebhooks } from './open-delivery.ts';
import { openDoor, portsToLog } from './open-door.ts';
import { type Foundation, type FoundationOptions, openFoundation } from './open-foundation.ts';
import { openSite } from './open-http.ts';
import { openIncoming, openServiceMail, reputationOf } from './open-inbound.ts';
import { openMetricsListener } from './open-metrics.ts';
import { openTimers } from './open-timers.ts';
import { reachableAddresses } from './reachable-addresses.ts';

export interface DaemonOptions extends FoundationOptions {
  /** The commands that the command line may run in the daemon. */
  commands: RunCommand;
  sandbox?: SandboxParts;
}

/** What the sandbox changes in its daemon. */
export interface SandboxParts {
  /** Where the SMTP door listens; it takes keys without TLS there, which its user has in a terminal on this machine. */
  host: string;
  /** Mail that is captured instead of leaving the machine. */
  captured: CapturedMails;
  /** Whether calls accept the recipient even after a bounce or complaint has suppressed it. */
  staysUsable(address: string): boolean;
}

export interface Daemon {
  httpPort: number;
  smtpPort: number;
  /** Null: off. */
  submissionPort: number | null;
  store: Store;
  domains: Domains;
  identity: ServiceIdentity;
  close(): Promise<void>;
}

export async function startDaemon(config: Config, options: DaemonOptions): Promise<Daemon> {
  const opened = new ClosingStack();
  try {
    return await open(config, options, opened);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function open(config: Config, options: DaemonOptions, opened: ClosingStack): Promise<Daemon> {
  const { foundation, masterKeys } = await openFoundation(config, options, opened);
  const { clock, ids, log, store, identity, intake } = foundation;
  const { sandbox } = options;
  const isSandbox = sandbox !== undefined;
  const { servers, resolver, authority, secondLooks, reachable } = openDns(config, clock, isSandbox);
  const { running, inboundWaits, ...accepted } = notYetRunning();
  const { send, notify, notifyOwners } = openServiceMail(config, foundation, accepted.onAccepted, opened);
  const certificates = await openCertificates(config, foundation, { resolver, authority: authority.records }, opened);
  const hooks = await openWebhooks(foundation, { servers, policy: reachable.webhooks, notify });
  opened.add(hooks.close);
  const reputation = sandbox ? NO_BRAKES : await reputationOf(config, foundation, notify);
  const ways = { resolver, secondLooks, addresses: reachable.mail, masterKeys, staysUsable: sandbox?.staysUsable };
  const delivery = await openDelivery(config, foundation, ways, reputation);
  running.delivery = delivery;
  const drainDelivery = once(() => delivery.close(config.stop.grace));
  opened.add(drainDelivery);

  const domainParts = domainsOptions(config, foundation, { lookups: authority, isSandbox, notify });
  const domains = createDomains(domainParts);
  const queue = liveQueueControl({ store, clock, ids, log, config }, delivery, foundation.bounceRules);
  const tenantChanged = () => void delivery.reconcile();
  const { unstoredResults } = delivery;
  const portal = {
    domains,
    hooks,
    queue,
    tenantChanged,
    inboundWaits,
    notify,
    reputation,
    notifyOwners,
    timers: () => running.timers?.list() ?? [],
    unstoredResults,
    certificateWaitsFor: certificates.waitsFor,
    captured: sandbox?.captured ?? null,
  };
  const scheduling = openScheduling(config, foundation, delivery);
  const accepting = { ...accepted, scheduling, ...(sandbox && { staysUsable: sandbox.staysUsable }) };
  const site = { portal, accepting, tls: certificates.http };
  const { http, submission } = await openSite(config, foundation, site, opened);
  opened.add(() => closeBoth(http, drainDelivery, config.stop.grace));

  const takeMail = createTakeMail({ store, submission, clock, ids });
  const door = await openDoor(config, foundation, { takeMail, sandbox, tls: certificates.smtp }, opened);
  const inbound = await openIncoming(config, foundation, { resolver, reputation, send, tls: certificates.smtp });
  running.inbound = inbound;
  opened.add(() => inbound.close());
  const others = [...inbound.timers, ...reputation.timers, ...hooks.timers, notifyOwners.timer, ...certificates.timers];
  const timers = openTimers(config, foundation, { domains: domainParts, others });
  running.timers = timers;
  opened.add(() => timers.stop());
  const daemon = daemonView({ intake, timers, certificates, delivery });
  const shared = { store, clock, ids, config, queue, scheduling, notifyOwners, isSandbox, tenantChanged, inboundWaits };
  const lazy = { vault: () => foundation.vault, domains: () => domains };
  const services = { ...shared, ...lazy, receiverTrusted: reputation.trust, daemon };
  await openControl(foundation, { run: options.commands, services }, opened);
  await openMetricsListener(config, foundation, { unstoredResults, reputation, door, certificates }, opened);
  const ports = { http_port: http.port, smtp_port: inbound.smtpPort, ...portsToLog(door) };
  log.info({ ...ports, data_dir: foundation.folder.dir }, 'ready');
  const listening = { httpPort: http.port, smtpPort: inbound.smtpPort, submissionPort: door.port };
  return { ...listening, store, domains, identity, close: () => stop(foundation, opened) };
}

function openScheduling(config: Config, { store, clock, ids, log }: Foundation, delivery: Delivery) {
  const { noticeScheduled: onScheduled, endBegun } = delivery;
  return createScheduling({ store, clock, ids, log, lifetimeMs: config.delivery.lifetime, onScheduled, endBegun });
}

interface Viewed {
  intake: Foundation['intake'];
  timers: Timers;
  certificates: Certificates;
  delivery: Pick<DaemonView, 'unstoredResults' | 'courierTrouble'>;
}

function daemonView({ intake, timers, certificates, delivery }: Viewed): DaemonView {
  return {
    intake: () => intake.state,
    certificateWaitsFor: (names) => certificates.waitsFor(names),
    timers: () => timers.list(),
    hasten: (timer) => timers.hasten(timer),
    unstoredResults: () => delivery.unstoredResults(),
    courierTrouble: () => delivery.courierTrouble(),
  };
}

/** At the same time: both share one grace period, and no session starts while a call is waited for. */
function closeBoth(http: HttpServer, drainDelivery: () => Promise<void>, graceMs: number): Promise<void> {
  drainDelivery().catch(() => {}); // reported where it is awaited, when the stack closes it
  return http.close(graceMs);
}

async function stop({ log }: Foundation, opened: ClosingStack): Promise<void> {
  log.info({}, 'stopping: running calls and sessions finish, nothing new starts');
  await opened.close();
  log.info({}, 'stopped');
}

/** Parts that are opened later than the parts that notify them. */
interface Running {
  delivery: Delivery | null;
  timers: Timers | null;
  inbound: Inbound | null;
}

/** Until they run, notifications are dropped: delivery reads the whole queue when it starts. */
function notYetRunning() {
  const running: Running = { delivery: null, timers: null, inbound: null };
  return {
    running,
    inboundWaits: () => running.inbound?.rescan(),
    passages: {
      mayFind: (mail: NewMail) => running.delivery?.passages.mayFind(mail) ?? false,
      find: (mail: NewMail) => running.delivery?.passages.find(mail) ?? null,
    },
    onAccepted: (lanes: LaneNotice[]) => running.delivery?.notice(lanes),
    onScheduled: (sendAt: number) => running.delivery?.noticeScheduled(sendAt),
  };
}

/** For the command line, while the daemon runs. */
async function openControl(
  { folder, log }: Foundation,
  served: Pick<ControlServerOptions, 'run' | 'services'>,
  opened: ClosingStack,
): Promise<void> {
  const control = await startControlServer({
    ...served,
    socketFile: folder.controlSocket,
    onCommand: (command, answer) => log.info({ command, outcome: answer.kind }, 'command executed'),
  });
  opened.add(() => control.close());
}

function openDns(config: Config, clock: Clock, isSandbox: boolean) {
  const { dns } = config;
  const reachable = reachableAddresses(config, { clock, isSandbox });
  const servers = dns.servers.length > 0 ? dns.servers : getServers();
  const resolver = createResolver({ servers, clock });
  const { authority_port: authorityPort, allow_private: allowPrivate } = dns;
  const authority = createAuthority({ resolver, authorityPort, allowPrivate });
  return {
    servers,
    resolver,
    authority,
    reachable,
    secondLooks: createSecondLooks({ servers, authority, addresses: reachable.mail }),
  };
}

function domainsOptions(
  config: Config,
  foundation: Foundation,
  { lookups, isSandbox, notify }: { lookups: Authority; isSandbox: boolean; notify: DomainNoticesKit['notify'] },
): DomainsOptions {
  const { store, vault, clock, ids, log } = foundation;
  return {
    store,
    vault,
    clock,
    ids,
    lookups,
    // The sandbox queries only its own name server.
    turns: new CheckTurns({ clock, isGood: hasPassed, ...(isSandbox && { gapMs: 0 }) }),
    service: domainSettings(config),
    notices: createDomainNotices({ store, log, notify, baseUrl: config.service.base_url }),
  };
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | null = null;
  return () => {
    started ??= work();
    return started;
  };
}

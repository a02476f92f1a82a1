// From the configuration to inbound mail: the brakes that react to bounces, the service's own mail, and the inbound
// listener. A part of the wiring list in daemon.ts.

import { DAY_MS } from '../base/clock.ts';
import type { ClosingStack } from '../base/closing-stack.ts';
import type { Config } from '../config/keys.ts';
import type { EndWatch } from '../delivery/outcome/doubted-bounce.ts';
import type { TlsSource } from '../http/tls-files.ts';
import { type Inbound, startInbound } from '../inbound/inbound.ts';
import type { Recorded } from '../inbound/mail-work.ts';
import type { Metrics } from '../observe/metrics.ts';
import { reviewLimitsOf } from '../operator/review-limits.ts';
import type { Resolver } from '../protocol/dns/lookup/resolver.ts';
import { LISTENER_GRACE_SHARE } from '../smtp-listener/open-sessions.ts';
import type { LaneNotice } from '../store/submissions.ts';
import { createServiceMail, notifyByMail, type SendServiceMail } from '../submission/service-mail.ts';
import { openReputation, type Reputation, type ReputationKit } from '../suppression/reputation.ts';
import { createOwnerNotices } from '../tenants/owner-notices.ts';
import type { Foundation } from './open-foundation.ts';
import { acceptObserver } from './open-traces.ts';

const MIB = 1024 * 1024;

/** Mail of the service itself: to the operator, and to owners of tenants. */
export function openServiceMail(
  config: Config,
  { store, vault, clock, ids, log, identity, traces }: Foundation,
  onAccepted: (lanes: LaneNotice[]) => void,
  opened: ClosingStack,
) {
  const { bounces_domain: bouncesDomain, base_url: baseUrl } = config.service;
  const lifetimeMs = config.delivery.lifetime;
  const { dkim } = identity;
  const { onStored } = acceptObserver({ traces, clock });
  const kit = { store, vault, clock, ids, bouncesDomain, dkim, lifetimeMs, onAccepted, onStored };
  const send = createServiceMail(kit);
  const notify = notifyByMail(send, log);
  const notifyOwners = createOwnerNotices({ store, clock, log, notify, baseUrl });
  opened.add(() => notifyOwners.close());
  return { send, notify, notifyOwners };
}

export function reputationOf(
  config: Config,
  { store, clock, log }: Foundation,
  notify: ReputationKit['notify'],
): Promise<Reputation> {
  const { suppression, service } = config;
  return openReputation({
    store,
    clock,
    log,
    notify,
    operatorAddress: service.operator_address,
    ownDomain: service.dkim_domain,
    spikeRule: {
      windowMs: suppression.spike_window,
      minHardBounces: suppression.spike_hard_bounces,
      share: suppression.spike_share,
      factor: suppression.spike_factor,
    },
    reviewLimits: reviewLimitsOf(config),
  });
}

export interface IncomingParts {
  resolver: Resolver;
  reputation: Reputation & EndWatch;
  send: SendServiceMail;
  /** A certificate that is not in files. */
  tls: TlsSource | null;
}

export function openIncoming(config: Config, foundation: Foundation, parts: IncomingParts): Promise<Inbound> {
  const { store, ownership, clock, ids, log, identity, intake, metrics, bounceRules: rules } = foundation;
  const { smtp, submission, service, retention, dmarc, stop } = config;
  const { resolver, reputation, send } = parts;
  const { tls_cert: certFile, tls_key: keyFile } = smtp;
  const tls = certFile && keyFile ? { certFile, keyFile } : parts.tls;
  return startInbound({
    store,
    ownership,
    clock,
    ids,
    log,
    resolver,
    rules,
    send,
    listen: {
      host: smtp.host,
      port: smtp.port,
      name: service.ehlo_name,
      graceMs: stop.grace * LISTENER_GRACE_SHARE,
      ...(tls && { tls }),
      limits: {
        maxBytes: smtp.max_mail_mib * MIB,
        // A report with the largest message of an application, encoded once more on its way.
        maxReadBytes: (smtp.max_mail_mib + 2 * submission.max_mail_mib) * MIB,
        maxRoleBytes: smtp.max_role_mail_mib * MIB,
        maxUnaskedBytes: smtp.role_store_mib * MIB,
        maxReturnedBytes: smtp.report_store_mib * MIB,
        connections: smtp.connections,
        connectionsPerPeer: smtp.connections_per_peer,
        connectionsPerMinute: smtp.connections_per_minute,
        mailsPerMinute: smtp.mails_per_minute,
        refusalsPerMinute: smtp.refusals_per_minute,
      },
    },
    service: {
      bouncesDomain: service.bounces_domain,
      dmarcReportAddress: service.dmarc_report_address,
      dkimDomain: service.dkim_domain,
      operatorAddress: service.operator_address,
    },
    tokenKeys: identity.tokenKeys,
    platformSuppressionMs: retention.platform_suppression_days * DAY_MS,
    keepFor: { contentMs: retention.content_days * DAY_MS, recordsMs: retention.records_days * DAY_MS },
    dmarcLimits: {
      rowsPerReport: dmarc.max_rows_per_report,
      rowsPerDomainAndDay: dmarc.max_rows_per_domain_and_day,
      bytesPerDay: dmarc.max_mib_per_day * MIB,
      largeReporters: dmarc.large_reporters,
    },
    refusal: () => intake.state.reason,
    doubtOf: (mxGroup) => reputation.doubtOf(mxGroup),
    onRecorded(recorded) {
      reportToReputation(reputation, recorded);
      countInMetrics(metrics, recorded);
    },
    onReceived: (outcome) => metrics?.received(outcome),
  });
}

function countInMetrics(metrics: Metrics | null, { update, result }: Recorded): void {
  const { action, verdict } = update;
  if (verdict.kind !== 'dmarc') return;
  const isUnproven = action?.do === 'dmarc' && action.report.sender === null;
  metrics?.reported(result.effect !== 'stored' ? 'not_stored' : isUnproven ? 'stored_unproven' : 'stored');
}

function reportToReputation(reputation: Reputation, { update, message, result }: Recorded): void {
  const { action } = update;
  if (!message || result.effect === 'none') return;
  if (action?.do === 'bounce' && action.bounce === 'hard') reputation.ended(message, 'returned');
  if (action?.do === 'complaint' && action.reason === 'complaint') reputation.complained(message.tenantId);
}

// Wires up the portal: what its pages need, and its areas. A part of the wiring list in daemon.ts; an area is added
// with one line below.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TimerStatus } from '../base/timers.ts';
import type { Config } from '../config/keys.ts';
import { messageSource } from '../delivery/courier/compose-message.ts';
import type { UnstoredResults } from '../delivery/outcome/result-writer.ts';
import { examine } from '../doctor/examine.ts';
import { AttendedChecks } from '../domains/attended-checks.ts';
import type { Domains } from '../domains/domains.ts';
import { doctorKit } from '../operator/doctor-kit.ts';
import { heldCertificates } from '../operator/held-certificates.ts';
import type { QueueControl } from '../operator/operator-services.ts';
import { reviewLimitsOf } from '../operator/review-limits.ts';
import { accountPages } from '../portal/accounts/account-pages.ts';
import { auditEntry } from '../portal/audit-entry.ts';
import type { CapturedMails } from '../portal/captured-mails.ts';
import { type AuditEntry, createPortal, type PortalSite } from '../portal/create-portal.ts';
import { dmarcPages } from '../portal/dmarc/dmarc-pages.ts';
import { domainPages } from '../portal/domains/domain-pages.ts';
import type { DomainServices } from '../portal/domains/domain-services.ts';
import { keyPages } from '../portal/keys/key-pages.ts';
import { type CapturedServices, capturedPages } from '../portal/mails/captured-pages.ts';
import type { MailReader } from '../portal/mails/mail-reader.ts';
import { messagePages } from '../portal/messages/message-pages.ts';
import type { MessageServices } from '../portal/messages/message-services.ts';
import { DoctorRuns } from '../portal/operator/doctor-runs.ts';
import { operatorPages } from '../portal/operator/operator-pages.ts';
import type { OperatorServices } from '../portal/operator/operator-services.ts';
import { overviewPages } from '../portal/overview/overview-pages.ts';
import type { PortalRoute } from '../portal/page.ts';
import { settingsPages } from '../portal/settings/settings-pages.ts';
import type { LimitsShown } from '../portal/settings/settings-services.ts';
import { suppressionPages } from '../portal/suppressions/suppression-pages.ts';
import { templatePages } from '../portal/templates/template-pages.ts';
import { webhookPages } from '../portal/webhooks/webhook-pages.ts';
import { readReturnPath } from '../protocol/mail/addresses/return-path.ts';
import type { Visitor } from '../store/accounts.ts';
import type { Scheduling } from '../submission/schedule.ts';
import type { notifyByMail } from '../submission/service-mail.ts';
import type { Submission } from '../submission/submit.ts';
import { brakeOf } from '../suppression/brake.ts';
import type { Reputation } from '../suppression/reputation.ts';
import type { Templates } from '../templates/templates.ts';
import { createAccountKit } from '../tenants/accounts/account-kit.ts';
import { lacksSecondStep } from '../tenants/accounts/second-step-rule.ts';
import { createKeys } from '../tenants/keys.ts';
import type { OwnerNotices } from '../tenants/owner-notices.ts';
import type { RunningWebhooks } from '../webhooks/start-webhooks.ts';
import type { Foundation } from './open-foundation.ts';

export interface PortalParts {
  domains: Domains;
  templates: Templates;
  submission: Pick<Submission, 'submit'>;
  scheduling: Scheduling;
  hooks: Pick<RunningWebhooks, 'webhooks' | 'tests'>;
  queue: QueueControl;
  /** A tenant has changed, and delivery must be notified. */
  tenantChanged(): void;
  inboundWaits(): void;
  notify: ReturnType<typeof notifyByMail>;
  reputation: Reputation;
  notifyOwners: OwnerNotices;
  timers(): TimerStatus[];
  unstoredResults(): UnstoredResults | null;
  certificateWaitsFor(names: readonly string[]): string | null;
  /** For mail from elsewhere. */
  reader: MailReader;
  /** Null outside the sandbox. */
  captured: CapturedMails | null;
}

export function portalRoutes(config: Config, foundation: Foundation, parts: PortalParts): PortalSite {
  const { store, clock, ids, log, vault, identity } = foundation;
  const { hooks, notifyOwners, captured } = parts;
  const { base_url: baseUrl, operator_address: operatorAddress } = config.service;
  const accounts = createAccountKit({
    store,
    clock,
    ids,
    log,
    vault,
    baseUrl,
    operatorAddress,
    notify: parts.notify,
    signUpOpen: config.portal.sign_up,
    secondStepFor: config.portal.require_second_step,
    browserKeys: { key: identity.browserKey, keys: (keyId) => identity.browserKeys.get(keyId) },
  });
  const keys = createKeys({ store, clock, ids, uses: foundation.keyUses, maxLive: config.limits.keys_per_tenant });
  const pages: PortalRoute[] = [
    // One line for each area.
    ...templatePages({ templates: parts.templates, store, clock }),
    ...overviewPages({ store, reads: foundation.reads, explain: parts.queue.explain, baseUrl }),
    ...messagePages(messageServices(config, foundation, parts)),
    ...suppressionPages({ store, reads: foundation.reads, turn: () => nextTurn() }),
    ...domainPages(domainServices(config, foundation, parts)),
    ...keyPages({ keys, store, baseUrl, notifyOwners }),
    ...webhookPages({ webhooks: hooks.webhooks, tests: hooks.tests, store, notifyOwners }),
    ...accountPages(accounts, foundation.reads),
    ...settingsPages({ accounts, store, limits: limitsShown(config), brake: brakeOfTenant(config, foundation, parts) }),
    ...operatorPages(operatorServices(config, foundation, { ...parts, keys })),
    ...dmarcPages({ store }),
    ...(captured ? capturedPages(capturedServices(foundation, { captured, reader: parts.reader })) : []),
  ];
  const kit = {
    clock,
    log,
    baseUrl,
    sandbox: captured !== null,
    findVisitor: accounts.sessions.findVisitor,
    peekVisitor: accounts.sessions.peekVisitor,
    lacksSecondStep: ({ user }: Visitor) => lacksSecondStep(accounts, user),
    recordAudit: (entry: AuditEntry) => store.audit.recordAudit(auditEntry(entry)),
  };
  return createPortal(kit, pages);
}

function operatorServices(
  config: Config,
  foundation: Foundation,
  parts: PortalParts & Pick<OperatorServices, 'keys'>,
): OperatorServices {
  const { store, reads, clock, ids, intake, log } = foundation;
  const { queue, timers, unstoredResults, reader, tenantChanged, inboundWaits, reputation, notify, captured } = parts;
  return {
    store,
    clock,
    ids,
    keys: parts.keys,
    domains: parts.domains,
    notifyOwners: parts.notifyOwners,
    secondStepFor: config.portal.require_second_step,
    reads,
    queue,
    timers,
    unstoredResults,
    certificates: () => heldCertificates(config, { store, clock, waitsFor: parts.certificateWaitsFor }),
    reader,
    tenantChanged,
    inboundWaits,
    notify,
    intake: () => intake.state,
    doctor: new DoctorRuns({
      now: () => clock.now(),
      examine: () => examine(doctorKit(config)),
      onOver: ({ kind }) => log.info({ outcome: kind }, 'doctor run from the portal'),
    }),
    receiverTrusted: reputation.trust,
    ownTrouble: reputation.ownTrouble,
    brake: brakeOfTenant(config, foundation, parts),
    baseUrl: config.service.base_url,
    ownDomain: config.service.dkim_domain,
    reviewWindow: config.limits.review_window,
    sandbox: captured !== null,
  };
}

/** Null in the sandbox, which never stops a tenant. */
function brakeOfTenant(config: Config, { store }: Foundation, { captured }: PortalParts) {
  if (captured !== null) return async () => null;
  const limits = reviewLimitsOf(config);
  return async (tenantId: string) =>
    brakeOf(await store.reputation.resultsSinceReview(tenantId, limits.window), limits);
}

function capturedServices(
  { store, identity }: Foundation,
  { captured, reader }: { captured: CapturedMails; reader: MailReader },
): CapturedServices {
  return {
    captured,
    reader,
    messageOf: (returnPath) => readReturnPath(returnPath.split('@')[0]!, (keyId) => identity.tokenKeys.get(keyId)),
    findMessage: (tenantId, id) => store.queue.findMessage(tenantId, id),
  };
}

function messageServices(
  config: Config,
  { store, reads, rates }: Foundation,
  { queue, captured, submission, scheduling }: PortalParts,
): MessageServices {
  const { service } = config;
  const { requestsPerMinute } = limitsShown(config);
  const kit = { bouncesDomain: service.bounces_domain, linksUrl: service.links_url };
  return {
    store,
    reads,
    submission,
    // As many as a key of the tenant may send.
    async waitSecs({ id, tier }) {
      const { allowed, retryAfterSecs } = await rates.take(id, requestsPerMinute(tier));
      return allowed ? null : retryAfterSecs;
    },
    scheduling,
    sandbox: captured !== null,
    explain: (message) => queue.explain.message(message),
    sourceOf: (content) => messageSource(content, kit),
  };
}

function domainServices({ service }: Config, { clock, log }: Foundation, { domains }: PortalParts): DomainServices {
  const onError = (error: unknown) => log.error({ error }, 'a domain could not be checked');
  return {
    domains,
    attended: new AttendedChecks({ domains, clock, onError }),
    names: { spfDomain: service.spf_domain, dmarcReportAddress: service.dmarc_report_address },
  };
}

function limitsShown({ limits, retention }: Config): LimitsShown {
  const [calls1k, calls10k] = limits.requests_per_minute;
  const [pace1k, pace10k, paceUncapped] = limits.messages_per_hour;
  const [days10k = 0, daysUncapped = 0] = limits.escalation_days;
  return {
    requestsPerMinute: (tier) => ({ '1k': calls1k ?? null, '10k': calls10k ?? null, uncapped: null })[tier],
    messagesPerHour: (tier) => ({ '1k': pace1k, '10k': pace10k, uncapped: paceUncapped })[tier] || null,
    keys: limits.keys_per_tenant,
    escalationDays: [days10k, daysUncapped],
    escalationHardBounceRate: limits.escalation_hard_bounce_rate,
    escalationComplaintRate: limits.escalation_complaint_rate,
    reviewWindow: limits.review_window,
    contentDays: retention.content_days,
    recordsDays: retention.records_days,
  };
}

// All verbs by noun, and which file each comes from.
import { type DriverVerbs, mergeVerbs } from './bind-verbs.ts';
import { onboardingVerbs } from './reading/overview.ts';
import type { Connection } from './transaction.ts';
import { auditVerbs } from './verbs/accounts/audit.ts';
import { mailLinkVerbs, signUpVerbs } from './verbs/accounts/mail-links.ts';
import { secondFactorVerbs } from './verbs/accounts/second-factors.ts';
import { sessionVerbs } from './verbs/accounts/sessions.ts';
import { apiKeyVerbs, keyUseVerbs, tenantVerbs } from './verbs/accounts/tenants.ts';
import { memberVerbs, userVerbs } from './verbs/accounts/users.ts';
import { certificateVerbs } from './verbs/domains/certificates.ts';
import { domainRecheckVerbs } from './verbs/domains/domain-rechecks.ts';
import { domainCheckVerbs, domainVerbs } from './verbs/domains/domains.ts';
import { platformKeyVerbs } from './verbs/domains/platform-keys.ts';
import { transportSecurityVerbs } from './verbs/domains/transport-security.ts';
import { chartFigureVerbs, figuresVerbs } from './verbs/figures/figures.ts';
import { serviceFigureVerbs } from './verbs/figures/service-figures.ts';
import { tagFigureVerbs } from './verbs/figures/tag-figures.ts';
import { dmarcVerbs } from './verbs/inbound/dmarc.ts';
import { inboundVerbs } from './verbs/inbound/inbound.ts';
import { inboundRefusalVerbs } from './verbs/inbound/inbound-refusals.ts';
import { inboundTrialVerbs } from './verbs/inbound/inbound-trials.ts';
import { inboundViewVerbs } from './verbs/inbound/inbound-views.ts';
import { callBucketVerbs } from './verbs/limits/call-buckets.ts';
import { connectionVerbs } from './verbs/limits/connections.ts';
import { portionVerbs } from './verbs/limits/portions.ts';
import { throttleVerbs } from './verbs/limits/throttles.ts';
import { eventVerbs } from './verbs/message/events.ts';
import { suppressionVerbs } from './verbs/message/suppressions.ts';
import { templateVerbs } from './verbs/message/templates.ts';
import { trackingVerbs } from './verbs/message/tracking.ts';
import { writtenMailVerbs } from './verbs/message/written-mails.ts';
import { nodeVerbs } from './verbs/nodes/nodes.ts';
import { slotVerbs } from './verbs/nodes/owners.ts';
import { claimVerbs, dueLaneVerbs, sourceVerbs } from './verbs/queue/claims.ts';
import { judgedMailVerbs, recentResultVerbs } from './verbs/queue/last-finished.ts';
import { orphanVerbs } from './verbs/queue/orphans.ts';
import { queueVerbs } from './verbs/queue/queue.ts';
import { queueListVerbs } from './verbs/queue/queue-listing.ts';
import { pauseVerbs, targetVerbs } from './verbs/queue/queue-pauses.ts';
import { queueViewVerbs } from './verbs/queue/queue-views.ts';
import { reputationVerbs } from './verbs/queue/reputation.ts';
import { restoredMailVerbs } from './verbs/queue/restored.ts';
import { scheduleVerbs } from './verbs/queue/scheduled.ts';
import { shapingVerbs } from './verbs/queue/shaping.ts';
import { batchVerbs } from './verbs/submission/batches.ts';
import { submissionVerbs } from './verbs/submission/submissions.ts';
import { recipientMarkVerbs } from './verbs/upkeep/recipient-marks.ts';
import { retentionVerbs } from './verbs/upkeep/retention.ts';
import { deliveryVerbs } from './verbs/webhooks/webhook-deliveries.ts';
import { deliveryListVerbs } from './verbs/webhooks/webhook-delivery-list.ts';
import { attemptVerbs, replayVerbs } from './verbs/webhooks/webhook-history.ts';
import { webhookVerbs } from './verbs/webhooks/webhooks.ts';

export function driverVerbs(db: Connection): DriverVerbs {
  return {
    tenants: mergeVerbs(tenantVerbs(db), recentResultVerbs(db)),
    keys: mergeVerbs(apiKeyVerbs(db), keyUseVerbs(db)),
    accounts: mergeVerbs(
      userVerbs(db),
      memberVerbs(db),
      sessionVerbs(db),
      secondFactorVerbs(db),
      mailLinkVerbs(db),
      signUpVerbs(db),
    ),
    audit: auditVerbs(db),
    domains: mergeVerbs(domainVerbs(db), domainCheckVerbs(db), domainRecheckVerbs(db)),
    templates: templateVerbs(db),
    submissions: mergeVerbs(submissionVerbs(db), batchVerbs(db)),
    writtenMails: writtenMailVerbs(db),
    queue: mergeVerbs(
      lookVerbs(db),
      claimVerbs(db),
      queueVerbs(db),
      queueListVerbs(db),
      queueViewVerbs(db),
      scheduleVerbs(db),
      orphanVerbs(db),
      restoredMailVerbs(db),
    ),
    owners: mergeVerbs(slotVerbs(db), nodeVerbs(db)),
    limits: mergeVerbs(callBucketVerbs(db), portionVerbs(db), connectionVerbs(db), throttleVerbs(db)),
    sources: sourceVerbs(db),
    shaping: mergeVerbs(shapingVerbs(db), pauseVerbs(db), targetVerbs(db)),
    events: eventVerbs(db),
    figures: mergeVerbs(
      figuresVerbs(db),
      chartFigureVerbs(db),
      tagFigureVerbs(db),
      serviceFigureVerbs(db),
      onboardingVerbs(db),
    ),
    inbound: mergeVerbs(inboundVerbs(db), inboundRefusalVerbs(db), inboundTrialVerbs(db), inboundViewVerbs(db)),
    dmarc: dmarcVerbs(db),
    suppressions: suppressionVerbs(db),
    reputation: mergeVerbs(reputationVerbs(db), judgedMailVerbs(db)),
    webhooks: mergeVerbs(webhookVerbs(db), deliveryVerbs(db), attemptVerbs(db), deliveryListVerbs(db), replayVerbs(db)),
    tracking: trackingVerbs(db),
    platformKeys: platformKeyVerbs(db),
    transportSecurity: transportSecurityVerbs(db),
    certificates: certificateVerbs(db),
    upkeep: mergeVerbs(retentionVerbs(db), recipientMarkVerbs(db)),
  };
}

/** In slices, over all that waits: a driver can give them more time than others. */
export function lookVerbs(db: Connection): Pick<DriverVerbs['queue'], 'dueLanes'> {
  return dueLaneVerbs(db);
}

// All verbs by noun, and which file each comes from.
import { type DriverVerbs, mergeVerbs } from './bind-verbs.ts';
import { onboardingVerbs } from './reading/overview.ts';
import type { Connection } from './transaction.ts';
import { auditVerbs } from './verbs/audit.ts';
import { batchVerbs } from './verbs/batches.ts';
import { certificateVerbs } from './verbs/certificates.ts';
import { claimVerbs, dueLaneVerbs, sourceVerbs } from './verbs/claims.ts';
import { dmarcVerbs } from './verbs/dmarc.ts';
import { domainRecheckVerbs } from './verbs/domain-rechecks.ts';
import { domainCheckVerbs, domainVerbs } from './verbs/domains.ts';
import { eventVerbs } from './verbs/events.ts';
import { chartFigureVerbs, figuresVerbs } from './verbs/figures.ts';
import { inboundVerbs } from './verbs/inbound.ts';
import { inboundRefusalVerbs } from './verbs/inbound-refusals.ts';
import { inboundTrialVerbs } from './verbs/inbound-trials.ts';
import { inboundViewVerbs } from './verbs/inbound-views.ts';
import { mailLinkVerbs, signUpVerbs } from './verbs/mail-links.ts';
import { nodeVerbs } from './verbs/nodes.ts';
import { orphanVerbs } from './verbs/orphans.ts';
import { slotVerbs } from './verbs/owners.ts';
import { platformKeyVerbs } from './verbs/platform-keys.ts';
import { queueVerbs } from './verbs/queue.ts';
import { pauseVerbs, targetVerbs } from './verbs/queue-pauses.ts';
import { queueListVerbs, queueViewVerbs } from './verbs/queue-views.ts';
import { recipientMarkVerbs } from './verbs/recipient-marks.ts';
import { reputationVerbs } from './verbs/reputation.ts';
import { restoredMailVerbs } from './verbs/restored.ts';
import { retentionVerbs } from './verbs/retention.ts';
import { scheduleVerbs } from './verbs/scheduled.ts';
import { secondFactorVerbs } from './verbs/second-factors.ts';
import { serviceFigureVerbs } from './verbs/service-figures.ts';
import { sessionVerbs } from './verbs/sessions.ts';
import { shapingVerbs } from './verbs/shaping.ts';
import { submissionVerbs } from './verbs/submissions.ts';
import { suppressionVerbs } from './verbs/suppressions.ts';
import { tagFigureVerbs } from './verbs/tag-figures.ts';
import { templateVerbs } from './verbs/templates.ts';
import { apiKeyVerbs, keyUseVerbs, tenantVerbs } from './verbs/tenants.ts';
import { trackingVerbs } from './verbs/tracking.ts';
import { transportSecurityVerbs } from './verbs/transport-security.ts';
import { memberVerbs, userVerbs } from './verbs/users.ts';
import { deliveryVerbs } from './verbs/webhook-deliveries.ts';
import { deliveryListVerbs } from './verbs/webhook-delivery-list.ts';
import { attemptVerbs, replayVerbs } from './verbs/webhook-history.ts';
import { webhookVerbs } from './verbs/webhooks.ts';
import { writtenMailVerbs } from './verbs/written-mails.ts';

export function driverVerbs(db: Connection): DriverVerbs {
  return {
    tenants: tenantVerbs(db),
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
      dueLaneVerbs(db),
      claimVerbs(db),
      queueVerbs(db),
      queueListVerbs(db),
      queueViewVerbs(db),
      scheduleVerbs(db),
      orphanVerbs(db),
      restoredMailVerbs(db),
    ),
    owners: mergeVerbs(slotVerbs(db), nodeVerbs(db)),
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
    reputation: reputationVerbs(db),
    webhooks: mergeVerbs(webhookVerbs(db), deliveryVerbs(db), attemptVerbs(db), deliveryListVerbs(db), replayVerbs(db)),
    tracking: trackingVerbs(db),
    platformKeys: platformKeyVerbs(db),
    transportSecurity: transportSecurityVerbs(db),
    certificates: certificateVerbs(db),
    upkeep: mergeVerbs(retentionVerbs(db), recipientMarkVerbs(db)),
  };
}

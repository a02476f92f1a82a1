// The conformance suite that every driver of the store must pass: one call per driver.
import type { Test } from 'tap';
import { auditCases } from './audit.ts';
import { batchCases } from './batches.ts';
import { besideCases } from './beside.ts';
import { certificateCases } from './certificates.ts';
import { chartFigureCases } from './chart-figures.ts';
import { contentCases } from './contents.ts';
import { dmarcCases } from './dmarc.ts';
import { domainCheckCases } from './domain-checks.ts';
import { domainKeyCases } from './domain-keys.ts';
import { domainCases } from './domains.ts';
import { eventCases } from './events.ts';
import { type OpenStore, runCases } from './harness.ts';
import { inboundCases } from './inbound.ts';
import { inboundOwnerCases } from './inbound-owners.ts';
import { isolationCases } from './isolation.ts';
import { keepingCases } from './keeping.ts';
import { keyUseCases } from './key-uses.ts';
import { letterCases } from './letters.ts';
import { limitCases } from './limits.ts';
import { mailLinkCases } from './mail-links.ts';
import { memberCases } from './members.ts';
import { messageSearchCases } from './message-search.ts';
import { messageViewCases } from './message-view.ts';
import { nodeCases } from './nodes.ts';
import { operatorReadCases } from './operator-reads.ts';
import { orphanCases } from './orphans.ts';
import { overviewCases } from './overview.ts';
import { ownerCases } from './owners.ts';
import { platformKeyCases } from './platform-keys.ts';
import { queueClaimCases } from './queue-claim.ts';
import { queueRecordCases } from './queue-record.ts';
import { queueViewCases } from './queue-views.ts';
import { recheckCases } from './rechecks.ts';
import { reputationCases } from './reputation.ts';
import { restoredCases } from './restored.ts';
import { returnedMailCases } from './returned-mail.ts';
import { scheduledCases } from './scheduled.ts';
import { secondFactorCases } from './second-factors.ts';
import { serviceFigureCases } from './service-figures.ts';
import { sessionCases } from './sessions.ts';
import { shapingCases } from './shaping.ts';
import { sourceAddressCases } from './source-addresses.ts';
import { submissionCases } from './submissions.ts';
import { suppressionCases } from './suppressions.ts';
import { tagFigureCases } from './tag-figures.ts';
import { templateCases } from './templates.ts';
import { tenantCases } from './tenants.ts';
import { trackingCases } from './tracking.ts';
import { transportSecurityCases } from './transport-security.ts';
import { rivalAccountCases } from './two-handles-accounts.ts';
import { answerCases } from './two-handles-answers.ts';
import { rivalMailCases } from './two-handles-mail.ts';
import { webhookAttemptCases } from './webhook-attempts.ts';
import { deliveryCases } from './webhook-deliveries.ts';
import { webhookHealthCases } from './webhook-health.ts';
import { webhookCases } from './webhooks.ts';
import { writtenMailCases } from './written-mails.ts';

const GROUPS = {
  tenants: tenantCases,
  sessions: sessionCases,
  members: memberCases,
  'second factors': secondFactorCases,
  'links in mails': mailLinkCases,
  'audit log': auditCases,
  domains: domainCases,
  'keys of domains': domainKeyCases,
  'checks of domains': domainCheckCases,
  'when domains are re-checked': recheckCases,
  'uses of keys': keyUseCases,
  templates: templateCases,
  submissions: submissionCases,
  batches: batchCases,
  scheduled: scheduledCases,
  contents: contentCases,
  letters: letterCases,
  'written mails': writtenMailCases,
  'queue: claiming': queueClaimCases,
  'queue: recording': queueRecordCases,
  'queue: views': queueViewCases,
  'queue: orphans': orphanCases,
  'owners of slots': ownerCases,
  nodes: nodeCases,
  limits: limitCases,
  'queue: own addresses': sourceAddressCases,
  'queue: after a restore': restoredCases,
  shaping: shapingCases,
  events: eventCases,
  'finding messages': messageSearchCases,
  'looking at messages': messageViewCases,
  suppressions: suppressionCases,
  reputation: reputationCases,
  'inbound mail': inboundCases,
  'owners of inbound mail': inboundOwnerCases,
  'mail that comes back for messages': returnedMailCases,
  'sums of DMARC reports': dmarcCases,
  webhooks: webhookCases,
  'deliveries to webhooks': deliveryCases,
  'attempts at webhooks': webhookAttemptCases,
  'health of webhooks': webhookHealthCases,
  'platform keys': platformKeyCases,
  certificates: certificateCases,
  'security of receiving servers': transportSecurityCases,
  tracking: trackingCases,
  'figures of charts': chartFigureCases,
  'figures of the service': serviceFigureCases,
  'figures by tag': tagFigureCases,
  overview: overviewCases,
  'what operators read': operatorReadCases,
  'keeping and erasing': keepingCases,
  'isolation of tenants': isolationCases,
  'calls of one turn': besideCases,
  'two handles: accounts': rivalAccountCases,
  'two handles: mail': rivalMailCases,
  'two handles: what was answered': answerCases,
};

export type Group = keyof typeof GROUPS;

/** Without `groups`: all of them. */
export function storeConformance(
  t: Test,
  name: string,
  openStore: OpenStore,
  groups = Object.keys(GROUPS) as readonly Group[],
): void {
  for (const group of groups) t.test(`${name}: ${group}`, async (t) => runCases(t, openStore, GROUPS[group]));
}

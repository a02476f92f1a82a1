// The conformance suite that every driver of the store must pass: one call per driver.
import type { Test } from 'tap';
import { contentCases } from './contents.ts';
import { domainKeyCases } from './domain-keys.ts';
import { domainCases } from './domains.ts';
import { eventCases } from './events.ts';
import { type OpenStore, runCases } from './harness.ts';
import { inboundCases } from './inbound.ts';
import { isolationCases } from './isolation.ts';
import { keepingCases } from './keeping.ts';
import { platformKeyCases } from './platform-keys.ts';
import { queueClaimCases } from './queue-claim.ts';
import { queueRecordCases } from './queue-record.ts';
import { queueViewCases } from './queue-views.ts';
import { reputationCases } from './reputation.ts';
import { shapingCases } from './shaping.ts';
import { sourceAddressCases } from './source-addresses.ts';
import { strayCases } from './strays.ts';
import { submissionCases } from './submissions.ts';
import { suppressionCases } from './suppressions.ts';
import { templateCases } from './templates.ts';
import { tenantCases } from './tenants.ts';
import { trackingCases } from './tracking.ts';
import { transportSecurityCases } from './transport-security.ts';
import { deliveryCases } from './webhook-deliveries.ts';
import { webhookCases } from './webhooks.ts';

const GROUPS = {
  tenants: tenantCases,
  domains: domainCases,
  'keys of domains': domainKeyCases,
  templates: templateCases,
  submissions: submissionCases,
  contents: contentCases,
  'queue: claiming': queueClaimCases,
  'queue: recording': queueRecordCases,
  'queue: views': queueViewCases,
  'queue: strays': strayCases,
  'queue: own addresses': sourceAddressCases,
  shaping: shapingCases,
  events: eventCases,
  suppressions: suppressionCases,
  reputation: reputationCases,
  'inbound mail': inboundCases,
  webhooks: webhookCases,
  'deliveries to webhooks': deliveryCases,
  'platform keys': platformKeyCases,
  'security of receiving servers': transportSecurityCases,
  tracking: trackingCases,
  'keeping and erasing': keepingCases,
  'isolation of tenants': isolationCases,
};

export function storeConformance(t: Test, name: string, openStore: OpenStore): void {
  for (const [group, cases] of Object.entries(GROUPS)) {
    t.test(`${name}: ${group}`, async (t) => runCases(t, openStore, cases));
  }
}

// The conformance suite that every driver of the store must pass: one call per driver.
import type { Test } from 'tap';
import { domainKeyCases } from './domain-keys.ts';
import { domainCases } from './domains.ts';
import { eventCases } from './events.ts';
import { type OpenStore, runCases } from './harness.ts';
import { isolationCases } from './isolation.ts';
import { platformKeyCases } from './platform-keys.ts';
import { queueClaimCases } from './queue-claim.ts';
import { queueRecordCases } from './queue-record.ts';
import { queueViewCases } from './queue-views.ts';
import { submissionCases } from './submissions.ts';
import { suppressionCases } from './suppressions.ts';
import { templateCases } from './templates.ts';
import { tenantCases } from './tenants.ts';
import { webhookCases } from './webhooks.ts';

const GROUPS = {
  tenants: tenantCases,
  domains: domainCases,
  'keys of domains': domainKeyCases,
  templates: templateCases,
  submissions: submissionCases,
  'queue: claiming': queueClaimCases,
  'queue: recording': queueRecordCases,
  'queue: views': queueViewCases,
  events: eventCases,
  suppressions: suppressionCases,
  webhooks: webhookCases,
  'platform keys': platformKeyCases,
  'isolation of tenants': isolationCases,
};

export function storeConformance(t: Test, name: string, openStore: OpenStore): void {
  for (const [group, cases] of Object.entries(GROUPS)) {
    t.test(`${name}: ${group}`, async (t) => runCases(t, openStore, cases));
  }
}

// The operator's area of the portal: everything under /portal/operator, but for captured mail.
import type { PortalRoute } from '../page.ts';
import { auditPage } from './audit-page.ts';
import { operatorDmarcPages } from './dmarc-pages.ts';
import { doctorPages } from './doctor-pages.ts';
import { findMailPage } from './find-mail.ts';
import { inboundPages } from './inbound-pages.ts';
import { nodesPages } from './nodes-page.ts';
import type { OperatorServices } from './operator-services.ts';
import { overviewPages } from './overview-page.ts';
import { queueActRoute } from './queue-act.ts';
import { queueMessagePage } from './queue-message-page.ts';
import { queuePages } from './queue-pages.ts';
import { suppressionPages } from './suppressions-page.ts';
import { tenantDecisions } from './tenant-decisions.ts';
import { tenantDomains } from './tenant-domains.ts';
import { tenantForms } from './tenant-forms.ts';
import { tenantPage } from './tenant-page.ts';
import { tenantsPage } from './tenants-page.ts';

export function operatorPages(services: OperatorServices): PortalRoute[] {
  return [
    ...overviewPages(services),
    tenantsPage(services),
    ...tenantForms(services),
    ...tenantDomains(services),
    tenantPage(services),
    ...tenantDecisions(services),
    findMailPage(services),
    ...queuePages(services),
    queueActRoute(services),
    queueMessagePage(services),
    ...suppressionPages(services),
    ...nodesPages(services),
    ...doctorPages(services),
    ...inboundPages(services),
    ...operatorDmarcPages(services),
    auditPage(services),
  ];
}

// DMARC reports on a tenant's own domains. A domain is the tenant's while it is verified: what somebody else's
// domain of the same name fared before is not shown to a stranger by guessing.

import { html } from '../../http/html.ts';
import type { Store, StoreVerbs } from '../../store/store.ts';
import { emptyState, heading } from '../elements.ts';
import { missing, type PageResult, type PortalRoute, page, type VisitOf, view } from '../page.ts';
import { chosenPeriod, domainReport, domainsTable, MOST_SOURCES, periodForm } from './dmarc-view.ts';

export interface DmarcServices {
  store: Pick<Store, 'dmarc'> & StoreVerbs<{ domains: 'listDomains' }>;
}

const LIST = '/portal/dmarc';
const MOST_DOMAINS = 500;

export function dmarcPages(services: DmarcServices): PortalRoute[] {
  return [
    page({ path: LIST, access: 'viewer', show: (visit) => showDomains(services, visit) }),
    page({ path: `${LIST}/:domain`, access: 'viewer', show: (visit) => showDomain(services, visit) }),
  ];
}

async function ownDomains({ store }: DmarcServices, { visitor }: VisitOf<'viewer'>): Promise<string[]> {
  const domains = await store.domains.listDomains(visitor.tenant.id);
  return domains
    .filter(({ state }) => state === 'verified')
    .map(({ name }) => name)
    .sort();
}

async function showDomains(services: DmarcServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const period = chosenPeriod(visit.query, visit.now);
  const own = await ownDomains(services, visit);
  const sums = await services.store.dmarc.dmarcSumsOf(own.slice(0, MOST_DOMAINS), period);
  const list =
    own.length === 0
      ? emptyState('No verified domain yet', html`<a href="/portal/domains">Add a domain</a> and publish its records.`)
      : sums.length === 0
        ? emptyState(
            `No reports for the last ${period.days} days`,
            html`Receivers send reports once a day for domains whose <a href="/portal/domains">DMARC record</a> names our address.`,
          )
        : domainsTable(sums, (domain) => `${LIST}/${domain}?days=${period.days}`);
  const body = html`${heading('DMARC')}
<p>What receivers report about mail sent in the name of your domains, by you or by anyone else.</p>
${periodForm(LIST, period)}${list}`;
  return view({ title: 'DMARC', body });
}

async function showDomain(services: DmarcServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const { domain = '' } = visit.params;
  if (!(await ownDomains(services, visit)).includes(domain))
    return missing('You have no verified domain with this name.');
  const period = chosenPeriod(visit.query, visit.now);
  const report = await services.store.dmarc.sumDmarc(domain, period, MOST_SOURCES);
  const body = html`<p class="crumb"><a href="${LIST}">DMARC</a></p>${heading(domain)}
${periodForm(`${LIST}/${domain}`, period)}${domainReport(report, period)}`;
  return view({ title: `DMARC for ${domain}`, body });
}

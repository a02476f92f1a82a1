// DMARC reports on all domains, for operators.
import { html } from '../../http/html.ts';
import { chosenPeriod, domainReport, domainsTable, MOST_SOURCES, periodForm } from '../dmarc/dmarc-view.ts';
import { emptyState, heading, pager } from '../elements.ts';
import { type PageResult, type PortalRoute, page, type VisitOf, view } from '../page.ts';
import type { OperatorServices } from './operator-services.ts';

const PATH = '/portal/operator/dmarc';
const PER_PAGE = 50;

type Services = Pick<OperatorServices, 'store'>;

export function operatorDmarcPages(services: Services): PortalRoute[] {
  return [
    page({ path: PATH, access: 'operator', show: (visit) => showDomains(services, visit) }),
    page({ path: `${PATH}/:domain`, access: 'operator', show: (visit) => showDomain(services, visit) }),
  ];
}

async function showDomains({ store }: Services, { query, now }: VisitOf<'operator'>): Promise<PageResult> {
  const period = chosenPeriod(query, now);
  const after = query.get('after');
  const { domains, next } = await store.dmarc.listDmarcDomains(period, { after, limit: PER_PAGE });
  const days = String(period.days);
  const list =
    domains.length === 0
      ? emptyState(
          `No reports for the last ${days} days`,
          'Receivers send them once a day to service.dmarc_report_address, which the DMARC records of your tenants’ domains name.',
        )
      : domainsTable(domains, (domain) => `${PATH}/${encodeURIComponent(domain)}?days=${days}`);
  const body = html`${heading('DMARC')}
<p>What receivers report about mail sent in the name of your tenants’ domains.</p>
${periodForm(PATH, period)}${list}${pager({
  first: after === null ? null : `${PATH}?${new URLSearchParams({ days })}`,
  next: next === null ? null : `${PATH}?${new URLSearchParams({ days, after: next })}`,
})}`;
  return view({ title: 'DMARC', body });
}

async function showDomain({ store }: Services, { params, query, now }: VisitOf<'operator'>): Promise<PageResult> {
  const domain = (params.domain ?? '').toLowerCase();
  const period = chosenPeriod(query, now);
  const report = await store.dmarc.sumDmarc(domain, period, MOST_SOURCES);
  const body = html`<p class="crumb"><a href="${PATH}">DMARC</a></p>${heading(domain)}
${periodForm(`${PATH}/${encodeURIComponent(domain)}`, period)}${domainReport(report, period)}`;
  return view({ title: `DMARC for ${domain}`, body });
}

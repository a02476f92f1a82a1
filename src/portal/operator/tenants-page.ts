// All tenants: status, tier, how their mail fares, since when. Those that wait for a decision are found by status.
import { html } from '../../http/html.ts';
import type { TenantResults } from '../../store/reads.ts';
import { TENANT_STATUSES, type Tenant, type TenantStatus } from '../../store/tenants.ts';
import { badge, emptyState, field, heading, pager, select, type Tone, table, time } from '../elements.ts';
import { type PageResult, type PortalRoute, page, type VisitOf, view } from '../page.ts';
import { shareText } from './explained.ts';
import type { OperatorServices } from './operator-services.ts';

export const TENANTS_PATH = '/portal/operator/tenants';
const PER_PAGE = 50;

const STATUS_TONES: Readonly<Record<TenantStatus, Tone>> = {
  pending_verification: 'quiet',
  in_review: 'busy',
  active: 'good',
  suspended: 'bad',
};

export function statusBadge(status: TenantStatus) {
  return badge(status.replaceAll('_', ' '), STATUS_TONES[status]);
}

export function tierText({ tier, tierPinned }: Tenant): string {
  return `${tier}${tierPinned ? ' (pinned)' : ''}`;
}

export function tenantsPage(services: OperatorServices): PortalRoute {
  return page({ path: TENANTS_PATH, access: 'operator', show: (visit) => show(services, visit) });
}

async function show(
  { store, reads, reviewWindow }: OperatorServices,
  { query }: VisitOf<'operator'>,
): Promise<PageResult> {
  const status = TENANT_STATUSES.find((each) => each === query.get('status')) ?? '';
  const name = (query.get('name') ?? '').trim();
  const before = query.get('before') ?? '';
  const all = await store.tenants.listTenants();
  const fitting = all
    .filter((tenant) => status === '' || tenant.status === status)
    .filter((tenant) => name === '' || tenant.name.toLowerCase().includes(name.toLowerCase()) || tenant.id === name)
    .filter((tenant) => before === '' || tenant.id < before)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const onPage = fitting.slice(0, PER_PAGE);
  const standings = await reads.recentResultsOf(
    null,
    onPage.map(({ id }) => id),
    reviewWindow,
  );
  const known = standings.kind === 'found' ? standings.value : [];
  const pathOf = (change: Record<string, string>) => {
    const filled = Object.entries({ status, name, ...change }).filter(([, value]) => value !== '');
    return filled.length === 0 ? TENANTS_PATH : `${TENANTS_PATH}?${new URLSearchParams(filled)}`;
  };
  const rows = onPage.map((tenant) =>
    rowOf(
      tenant,
      known.find(({ tenantId }) => tenantId === tenant.id),
    ),
  );
  const isFiltered = status !== '' || name !== '';
  const list =
    rows.length === 0
      ? isFiltered
        ? emptyState('No tenant matches', html`<a href="${TENANTS_PATH}">Show all tenants</a>.`)
        : emptyState(
            'No tenants yet',
            html`<a href="${TENANTS_PATH}/new">Create one</a>, or with <code>postrider tenant create --name NAME</code>`,
          )
      : table(
          { caption: 'Tenants', heads: ['Tenant', 'Status', 'Tier', 'Hard bounces', 'Complaints', 'Created'] },
          rows,
        );
  const choices = [
    { value: '', label: `all (${all.length})` },
    ...TENANT_STATUSES.map((each) => {
      return {
        value: each,
        label: `${each.replaceAll('_', ' ')} (${all.filter((one) => one.status === each).length})`,
      };
    }),
  ];
  const body = html`${heading('Tenants', html`<a class="button primary" href="${TENANTS_PATH}/new">New tenant</a>`)}
<form class="filters" method="get" action="${TENANTS_PATH}" data-submit-on-change>${select({ name: 'status', label: 'Status' }, choices, status)}${field({ name: 'name', label: 'Name or ID', value: name, type: 'search' })}<button>Show</button></form>
${standings.kind === 'refused' && html`<p class="notice warn">Bounce and complaint rates aren’t available. ${standings.reason}</p>`}
${list}${pager({ first: before === '' ? null : pathOf({}), next: fitting.length > PER_PAGE ? pathOf({ before: onPage.at(-1)!.id }) : null })}
<p class="quiet">Rates cover each tenant’s last ${reviewWindow} finished messages.</p>`;
  return view({ title: 'Tenants', body });
}

function rowOf(tenant: Tenant, standing: TenantResults | undefined) {
  return [
    html`<a href="${TENANTS_PATH}/${tenant.id}">${tenant.name}</a>`,
    html`${statusBadge(tenant.status)}${tenant.statusReason !== null && html`<br><span class="quiet">${tenant.statusReason}</span>`}`,
    tierText(tenant),
    standing ? shareText(standing.hardBounces, standing.messages) : '–',
    standing ? shareText(standing.complaints, standing.messages) : '–',
    time(tenant.createdAt),
  ];
}

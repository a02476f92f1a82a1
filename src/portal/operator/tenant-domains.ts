// A tenant's sending domains, as operators set them up for it: registered, with the DNS records to publish, and checked.
import { isUuid } from '../../base/ids.ts';
import { isRefusal } from '../../base/refusals.ts';
import { html } from '../../http/html.ts';
import { parseDomain } from '../../protocol/mail/addresses/domain.ts';
import type { Domain } from '../../store/domains.ts';
import type { Tenant } from '../../store/tenants.ts';
import { badge, copyable, field, heading, table, time } from '../elements.ts';
import { endOfCheck } from '../end-of-check.ts';
import { action, missing, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import { refusalSentence } from '../refusal-words.ts';
import type { OperatorServices } from './operator-services.ts';
import { crumb, formView, tenantOf } from './tenant-forms.ts';
import { DOMAIN_TONES } from './tenant-page.ts';
import { TENANTS_PATH } from './tenants-page.ts';

type Operator = VisitOf<'operator'>;

export function tenantDomains(services: OperatorServices): PortalRoute[] {
  const path = `${TENANTS_PATH}/:id/domains`;
  return [
    page({ path: `${path}/new`, access: 'operator', show: (visit) => showForm(services, visit, null) }),
    action({ path: `${path}/new`, access: 'operator', run: (visit) => addDomain(services, visit) }),
    page({ path: `${path}/:domain`, access: 'operator', show: (visit) => showDomain(services, visit) }),
    action({ path: `${path}/:domain/check`, access: 'operator', run: (visit) => checkDomain(services, visit) }),
  ];
}

/** An operator is restricted to no domain, as some API keys are. */
function ownerOf({ id: tenantId }: Tenant) {
  return { tenantId, boundDomain: null };
}

function pathOf(tenant: Tenant, domain: Pick<Domain, 'id'>): string {
  return `${TENANTS_PATH}/${tenant.id}/domains/${domain.id}`;
}

async function showForm(services: OperatorServices, visit: Operator, problem: string | null): Promise<PageResult> {
  const tenant = await tenantOf(services, visit);
  if (!tenant) return missing('Tenant not found.');
  const { form } = visit;
  const fields = html`${field({ name: 'domain', label: 'Domain', value: form.get('domain') ?? '', required: true, placeholder: 'example.com', autocomplete: 'off', hint: 'The part after the @ in its From addresses.' })}
${field({ name: 'selector', label: 'DKIM selector (optional)', value: form.get('selector') ?? '', autocomplete: 'off', hint: 'The first part of the DKIM record’s name. Choose one only if the default is already in use.' })}`;
  const title = 'New domain';
  const action = `${TENANTS_PATH}/${tenant.id}/domains/new`;
  return formView({ title, tenant, problem, action, visit, fields, button: 'Add domain' });
}

async function addDomain(services: OperatorServices, visit: Operator): Promise<PageResult> {
  const tenant = await tenantOf(services, visit);
  if (!tenant) return missing('Tenant not found.');
  const typed = (visit.form.get('domain') ?? '').trim().toLowerCase().replace(/\.$/, '');
  const parsed = parseDomain(typed);
  const domain = parsed.ok && !parsed.isLiteral ? parsed.asciiDomain : typed;
  const selector = (visit.form.get('selector') ?? '').trim().toLowerCase();
  const request = selector === '' ? { domain } : { domain, selector };
  const result = await services.domains.register(ownerOf(tenant), request);
  if (isRefusal(result)) return showForm(services, visit, refusalSentence(result.message));
  await visit.audit('domain.created', { tenant_id: tenant.id, domain_id: result.id, domain: result.name });
  return redirect(pathOf(tenant, result), `${result.name} was added. Now its DNS records must be published.`);
}

interface Named {
  tenant: Tenant;
  domain: Domain;
}

async function named(services: OperatorServices, visit: Operator): Promise<Named | null> {
  const tenant = await tenantOf(services, visit);
  const { domain: id = '' } = visit.params;
  const domain = tenant && isUuid(id) ? await services.domains.get(ownerOf(tenant), id) : null;
  return tenant && domain && !isRefusal(domain) ? { tenant, domain } : null;
}

async function showDomain(services: OperatorServices, visit: Operator): Promise<PageResult> {
  const found = await named(services, visit);
  if (!found) return missing('Domain not found.');
  const { tenant, domain } = found;
  const rows = services.domains
    .recordsOf(domain)
    .map(({ name, type, value, required, purpose }) => [
      html`${copyable(name, 'the name')}${required && html` ${badge('required')}`}`,
      type,
      html`<span class="roomy">${copyable(value, 'the value')}</span>`,
      purpose,
    ]);
  const check = html`<form method="post" action="${pathOf(tenant, domain)}/check">${visit.formField}<button class="primary">Check now</button></form>`;
  const records = html`<h2>DNS records to publish</h2>${table({ caption: 'DNS records to publish', heads: ['Name', 'Type', 'Value', 'Purpose'] }, rows)}`;
  const body = html`${crumb(tenant)}${heading(domain.name, domain.state !== 'revoked' && check)}
<p>${badge(domain.state, DOMAIN_TONES[domain.state])} ${domain.failureReason} <span class="quiet">Last DNS check: ${time(domain.lastCheckedAt)}</span></p>
${domain.state !== 'revoked' && records}`;
  return view({ title: domain.name, body });
}

async function checkDomain(services: OperatorServices, visit: Operator): Promise<PageResult> {
  const found = await named(services, visit);
  if (!found) return missing('Domain not found.');
  const { tenant, domain } = found;
  const result = await services.domains.verify(ownerOf(tenant), domain.id);
  if (isRefusal(result) && result.refused === 'domain_not_found') return missing('Domain not found.');
  const { outcome, said, tone } = endOfCheck(domain, result);
  const facts = { tenant_id: tenant.id, domain_id: domain.id, domain: domain.name, outcome };
  if (outcome !== null) await visit.audit('domain.checked', facts);
  return redirect(pathOf(tenant, domain), said, tone);
}

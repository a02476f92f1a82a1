// What operators make for tenants: the tenant itself, logins and API keys. What is secret is shown a single time, by the
// page that answers the form.
import { isUuid } from '../../base/ids.ts';
import { type Html, type HtmlPart, html } from '../../http/html.ts';
import { type MemberRole, SCOPES, type Tenant, type TenantStatus } from '../../store/tenants.ts';
import { isSecondStepRequired } from '../../tenants/accounts/second-step-rule.ts';
import { createUser } from '../../tenants/accounts/users.ts';
import type { Refused } from '../../tenants/refused.ts';
import { createTenant } from '../../tenants/tenant-service.ts';
import { checkbox, copyable, facts, field, heading, problemBox, select } from '../elements.ts';
import { action, missing, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import { refusalSentence } from '../refusal-words.ts';
import { formIdField } from '../sent-forms.ts';
import type { OperatorServices } from './operator-services.ts';
import { TENANTS_PATH } from './tenants-page.ts';

const MOST_NAME_CHARS = 200;
const STATUSES: readonly { value: TenantStatus; label: string }[] = [
  { value: 'in_review', label: 'In review: can’t send until you approve it' },
  { value: 'active', label: 'Active: can send at once' },
];
const ROLES: readonly { value: MemberRole; label: string }[] = [
  { value: 'owner', label: 'Owner: everything' },
  { value: 'member', label: 'Member: everything except members and settings' },
  { value: 'viewer', label: 'Viewer: can view everything, change nothing' },
];

type Operator = VisitOf<'operator'>;

export function tenantForms(services: OperatorServices): PortalRoute[] {
  const ofTenant = (
    name: string,
    form: (tenant: Tenant, visit: Operator, problem: string | null) => Promise<PageResult>,
    run: (tenant: Tenant, visit: Operator) => Promise<PageResult>,
  ): PortalRoute[] => {
    const path = `${TENANTS_PATH}/:id/${name}/new`;
    const withTenant = async (visit: Operator, then: (tenant: Tenant) => Promise<PageResult>) => {
      const tenant = await tenantOf(services, visit);
      return tenant ? then(tenant) : missing('Tenant not found.');
    };
    return [
      page({ path, access: 'operator', show: (visit) => withTenant(visit, (tenant) => form(tenant, visit, null)) }),
      action({ path, access: 'operator', run: (visit) => withTenant(visit, (tenant) => run(tenant, visit)) }),
    ];
  };
  const keyForm = (tenant: Tenant, visit: Operator, problem: string | null) =>
    showKeyForm(services, { tenant, visit, problem });
  return [
    page({ path: `${TENANTS_PATH}/new`, access: 'operator', show: (visit) => showTenantForm(visit, null) }),
    action({ path: `${TENANTS_PATH}/new`, access: 'operator', run: (visit) => makeTenant(services, visit) }),
    ...ofTenant('logins', showLoginForm, (tenant, visit) => makeLogin(services, tenant, visit)),
    ...ofTenant('keys', keyForm, (tenant, visit) => makeKey(services, tenant, visit)),
  ];
}

export async function tenantOf({ store }: OperatorServices, { params }: Operator): Promise<Tenant | null> {
  const { id = '' } = params;
  return isUuid(id) ? store.tenants.getTenant(id) : null;
}

/** A form that is shown for the first time, or once more with what is wrong. */
export function formView(of: {
  title: string;
  tenant: Tenant | null;
  problem: string | null;
  action: string;
  visit: Operator;
  fields: HtmlPart;
  button: string;
}): PageResult {
  const { title, tenant, problem, fields, button } = of;
  const back = tenant === null ? TENANTS_PATH : `${TENANTS_PATH}/${tenant.id}`;
  const body = html`${crumb(tenant)}${heading(title)}${problemBox(problem)}
<form method="post" action="${of.action}" class="card">${of.visit.formField}${formIdField()}${fields}
<div class="actions"><button class="primary">${button}</button><a class="button" href="${back}">Cancel</a></div></form>`;
  return view({ title, body, status: problem === null ? 200 : 422 });
}

export function crumb(tenant: Tenant | null): Html {
  const name = tenant && html` › <a href="${TENANTS_PATH}/${tenant.id}">${tenant.name}</a>`;
  return html`<p class="crumb"><a href="${TENANTS_PATH}">Tenants</a>${name}</p>`;
}

function problemOf({ field: at, message }: Refused): string {
  return refusalSentence(at === null ? message : `${at}: ${message}`);
}

async function showTenantForm(visit: Operator, problem: string | null): Promise<PageResult> {
  const { form } = visit;
  const chosen = STATUSES.find(({ value }) => value === form.get('status')) ?? STATUSES[0]!;
  const fields = html`${field({ name: 'name', label: 'Name', value: form.get('name') ?? '', required: true, maxLength: MOST_NAME_CHARS, autocomplete: 'off', hint: 'Its people see it in the portal.' })}
${select({ name: 'status', label: 'Status' }, STATUSES, chosen.value)}`;
  const title = 'New tenant';
  const action = `${TENANTS_PATH}/new`;
  return formView({ title, tenant: null, problem, action, visit, fields, button: 'Create tenant' });
}

async function makeTenant(services: OperatorServices, visit: Operator): Promise<PageResult> {
  const { form } = visit;
  const status = STATUSES.find(({ value }) => value === form.get('status'))?.value;
  if (!status) return showTenantForm(visit, 'Unknown status.');
  const result = await createTenant(services, { name: form.get('name') ?? '', status });
  if (result.kind === 'refused') return showTenantForm(visit, problemOf(result));
  const { id, name } = result.tenant;
  await visit.audit('tenant.created', { tenant_id: id, name, status });
  return redirect(`${TENANTS_PATH}/${id}`, `The tenant ${name} was created. Add a login, a domain and a key.`);
}

async function showLoginForm(tenant: Tenant, visit: Operator, problem: string | null): Promise<PageResult> {
  const { form } = visit;
  const role = ROLES.find(({ value }) => value === form.get('role')) ?? ROLES[0]!;
  const fields = html`${field({ name: 'email', label: 'Email address', type: 'email', value: form.get('email') ?? '', required: true, autocomplete: 'off' })}
${select({ name: 'role', label: 'Role' }, ROLES, role.value)}
<p class="hint">A password is generated and shown once; hand it over in a safe way. Nothing is sent by mail.</p>`;
  const title = 'New login';
  const action = `${TENANTS_PATH}/${tenant.id}/logins/new`;
  return formView({ title, tenant, problem, action, visit, fields, button: 'Create login' });
}

async function makeLogin(services: OperatorServices, tenant: Tenant, visit: Operator): Promise<PageResult> {
  const { form } = visit;
  const role = ROLES.find(({ value }) => value === form.get('role'))?.value;
  if (!role) return showLoginForm(tenant, visit, 'Unknown role.');
  const result = await createUser(services, { tenantId: tenant.id, email: (form.get('email') ?? '').trim(), role });
  if (result.kind === 'refused') return showLoginForm(tenant, visit, problemOf(result));
  const { user, password } = result;
  await visit.audit('user.created', { tenant_id: tenant.id, email: user.email, role: user.role });
  const needsStep = isSecondStepRequired(services.secondStepFor, user);
  const body = html`${crumb(tenant)}${heading('New login')}<div class="card">
<p class="notice warn">Copy the password now. It won’t be shown again.</p>
${facts([
  ['Login', copyable(user.email, 'the login')],
  ['Role', user.role],
  ['Password', html`<span class="secret">${copyable(password, 'the password')}</span>`],
  ['Signs in at', copyable(`${services.baseUrl}/portal`, 'the address')],
])}
${needsStep && html`<p>The first sign-in asks to set up a second step, by an authenticator app.</p>`}</div>
<p><a class="button primary" href="${TENANTS_PATH}/${tenant.id}">Done</a></p>`;
  return view({ title: 'New login', body });
}

interface KeyFormShown {
  tenant: Tenant;
  visit: Operator;
  problem: string | null;
}

async function showKeyForm({ store }: OperatorServices, { tenant, visit, problem }: KeyFormShown): Promise<PageResult> {
  const { form } = visit;
  const domains = await store.domains.listDomains(tenant.id);
  const names = domains.filter(({ state }) => state !== 'revoked').map(({ name }) => ({ value: name, label: name }));
  const scopes = problem === null ? ['emails:send'] : form.getAll('scopes');
  const fields = html`${field({ name: 'name', label: 'Name', value: form.get('name') ?? '', required: true, maxLength: MOST_NAME_CHARS, autocomplete: 'off', hint: 'A name to recognize it by, like “shop, production”.' })}
<fieldset><legend>Scopes</legend>${SCOPES.map((scope) => checkbox({ name: 'scopes', value: scope, label: scope, checked: scopes.includes(scope) }))}</fieldset>
${select({ name: 'domain', label: 'Sends from' }, [{ value: '', label: 'any of its domains' }, ...names], form.get('domain') ?? '')}`;
  const title = 'New API key';
  const action = `${TENANTS_PATH}/${tenant.id}/keys/new`;
  return formView({ title, tenant, problem, action, visit, fields, button: 'Create key' });
}

async function makeKey(services: OperatorServices, tenant: Tenant, visit: Operator): Promise<PageResult> {
  const { form } = visit;
  const request = {
    name: form.get('name') ?? '',
    scopes: form.getAll('scopes'),
    boundDomain: form.get('domain') || null,
  };
  const result = await services.keys.create(tenant.id, request);
  if (result.kind === 'refused') return showKeyForm(services, { tenant, visit, problem: problemOf(result) });
  const { key, token } = result;
  const scopes = key.scopes.join(' ');
  await visit.audit('key.created', {
    tenant_id: tenant.id,
    key_id: key.id,
    name: key.name,
    scopes,
    domain: key.boundDomain,
  });
  services.notifyOwners?.keyAdded(tenant.id, { id: key.id, name: key.name, by: 'the operator' });
  const body = html`${crumb(tenant)}${heading('New API key')}<div class="card">
<p class="notice warn">Copy the key now. It isn’t stored and won’t be shown again.</p>
<h2>${key.name}</h2><p class="secret">${copyable(token, 'the API key')}</p></div>
<p><a class="button primary" href="${TENANTS_PATH}/${tenant.id}">Done</a></p>`;
  return view({ title: 'New API key', body });
}

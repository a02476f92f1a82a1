// Decisions about a tenant: whether it may send, and its tier. Its owners hear of the first by mail.
//
// in review, pending verification → active (approved); suspended → active (reactivated); any other → suspended,
// with a reason. What delivery holds back for the status is woken when it changes.
import { isUuid } from '../../base/ids.ts';
import { html } from '../../http/html.ts';
import { type Tenant, TIERS } from '../../store/tenants.ts';
import type { Notice } from '../../submission/service-mail.ts';
import { setTenant } from '../../tenants/tenant-service.ts';
import { heading, problemBox } from '../elements.ts';
import { action, missing, type PageResult, type PortalRoute, redirect, type VisitOf, view } from '../page.ts';
import type { OperatorServices } from './operator-services.ts';
import { MAX_NOTE_CHARS } from './queue-targets.ts';
import { TENANTS_PATH } from './tenants-page.ts';

export function tenantDecisions(services: OperatorServices): PortalRoute[] {
  return [
    action({ path: `${TENANTS_PATH}/:id/status`, access: 'operator', run: (visit) => changeStatus(services, visit) }),
    action({ path: `${TENANTS_PATH}/:id/tier`, access: 'operator', run: (visit) => changeTier(services, visit) }),
  ];
}

/** Such a name alone proves nothing: any tenant can call itself so. */
export async function isServiceItself({ store, ownDomain }: OperatorServices, tenantId: string): Promise<boolean> {
  return (await store.domains.findVerifiedHolder(ownDomain))?.tenantId === tenantId;
}

export const OWN_MAIL =
  "The service's own mail is sent from this tenant: password resets, invitations and notices to you.";

type Step = 'approved' | 'reactivated' | 'suspended';

/** A sentence, where there is no such step: somebody else may have been quicker. */
function stepOf({ status }: Pick<Tenant, 'status'>, wished: string | null): { step: Step } | { problem: string } {
  if (wished === 'suspended')
    return status === 'suspended' ? { problem: 'The tenant is already suspended.' } : { step: 'suspended' };
  if (wished !== 'active') return { problem: 'Unknown status.' };
  if (status === 'active') return { problem: 'The tenant is already active.' };
  return { step: status === 'suspended' ? 'reactivated' : 'approved' };
}

async function changeStatus(services: OperatorServices, visit: VisitOf<'operator'>): Promise<PageResult> {
  const { store, tenantChanged, notify, baseUrl } = services;
  const tenant = await tenantOf(services, visit);
  if (!tenant) return missing('Tenant not found.');
  const path = `${TENANTS_PATH}/${tenant.id}`;
  const decided = stepOf(tenant, visit.form.get('status'));
  if ('problem' in decided) return refusal(tenant, decided.problem);
  const { step } = decided;
  const reason = (visit.form.get('reason') ?? '').replace(/\s+/g, ' ').trim().slice(0, MAX_NOTE_CHARS);
  if (step === 'suspended' && (await isServiceItself(services, tenant.id))) return refusal(tenant, OWN_MAIL);
  if (step === 'suspended' && reason === '') return refusal(tenant, 'Enter a reason. The tenant’s members see it.');
  const settings =
    step === 'suspended' ? ({ status: 'suspended', statusReason: reason } as const) : ({ status: 'active' } as const);
  const result = await setTenant({ store }, tenant.id, settings);
  if (result.kind === 'refused') return refusal(tenant, result.message);
  tenantChanged();
  await visit.audit(`tenant.${step}`, {
    tenant_id: tenant.id,
    name: tenant.name,
    from: tenant.status,
    ...(step === 'suspended' && { reason }),
  });
  const key = `status:${tenant.id}:${visit.now}`;
  notify(await store.reputation.ownersOf(tenant.id), noticeOf(step, tenant.name, { reason, key, baseUrl }));
  return redirect(path, `${tenant.name} is ${step}. Its owners are notified by mail.`);
}

function noticeOf(
  step: Step,
  name: string,
  { reason, key, baseUrl }: { reason: string; key: string; baseUrl: string },
): Notice {
  const portal = `\n\n${baseUrl}/portal\n`;
  if (step === 'suspended') {
    const text = `Sending for ${name} was suspended: ${reason}.\n\nYour queued messages wait, but no longer than mail that can't be delivered (72 hours by default). Reply to this mail if you have questions.${portal}`;
    return { subject: 'Sending was suspended', text, key };
  }
  const opened = step === 'approved' ? 'has been approved' : 'has been reactivated';
  return {
    subject: `${name} ${opened}`,
    text: `${name} ${opened}: you can send now. Messages that are still queued go out.${portal}`,
    key,
  };
}

async function changeTier(services: OperatorServices, visit: VisitOf<'operator'>): Promise<PageResult> {
  const { store, tenantChanged } = services;
  const tenant = await tenantOf(services, visit);
  if (!tenant) return missing('Tenant not found.');
  const wished = visit.form.get('tier');
  const tier = wished === 'auto' ? wished : TIERS.find((each) => each === wished);
  if (tier === undefined) return refusal(tenant, 'Unknown tier.');
  const result = await setTenant({ store }, tenant.id, { tier });
  if (result.kind === 'refused') return refusal(tenant, result.message);
  tenantChanged();
  await visit.audit('tenant.tier', { tenant_id: tenant.id, name: tenant.name, tier });
  const said = tier === 'auto' ? 'The tier rises automatically again.' : `The tier is pinned to ${tier}.`;
  return redirect(`${TENANTS_PATH}/${tenant.id}`, said);
}

function tenantOf({ store }: OperatorServices, { params }: VisitOf<'operator'>): Promise<Tenant | null> {
  const { id = '' } = params;
  return isUuid(id) ? store.tenants.getTenant(id) : Promise.resolve(null);
}

function refusal({ id, name }: Tenant, message: string): PageResult {
  const body = html`${heading('Nothing was changed')}${problemBox(message)}<p><a href="${TENANTS_PATH}/${id}">Back to ${name}</a></p>`;
  return view({ title: 'Nothing was changed', body, status: 422 });
}

// One tenant for operators: its status and why, its tier, how its mail fares, its people, keys and domains, and
// the decisions about it.
import { isUuid } from '../../base/ids.ts';
import { type Html, type HtmlPart, html } from '../../http/html.ts';
import type { Domain } from '../../store/domains.ts';
import type { TenantResults } from '../../store/reads.ts';
import { type ApiKey, type Member, type Tenant, TIERS } from '../../store/tenants.ts';
import { badge, confirmed, copyable, facts, heading, select, type Tone, table, time } from '../elements.ts';
import { missing, type PageResult, type PortalRoute, page, type VisitOf, view } from '../page.ts';
import { orRefusal, shareText } from './explained.ts';
import type { OperatorServices } from './operator-services.ts';
import { MAX_NOTE_CHARS, pausePath } from './queue-targets.ts';
import { isServiceItself, OWN_MAIL } from './tenant-decisions.ts';
import { statusBadge, TENANTS_PATH, tierText } from './tenants-page.ts';

const MOST_ROWS = 100;

export function tenantPage(services: OperatorServices): PortalRoute {
  return page({ path: `${TENANTS_PATH}/:id`, access: 'operator', show: (visit) => show(services, visit) });
}

async function show(services: OperatorServices, visit: VisitOf<'operator'>): Promise<PageResult> {
  const { store, reads, reviewWindow } = services;
  const { id = '' } = visit.params;
  const tenant = isUuid(id) ? await store.tenants.getTenant(id) : null;
  if (!tenant) return missing('Tenant not found.');
  const [standing, review, members, keys, domains, isOwn, near] = await Promise.all([
    reads.recentResultsOf(null, [id], reviewWindow),
    store.reputation.reviewOf(id),
    store.accounts.listMembers(id),
    store.keys.listApiKeys(id),
    store.domains.listDomains(id),
    isServiceItself(services, id),
    services.brake(id),
  ]);
  const body = html`<p class="crumb"><a href="${TENANTS_PATH}">Tenants</a></p>${heading(tenant.name, statusBadge(tenant.status))}
${whyPart(tenant)}
${isOwn && html`<p class="notice info">${OWN_MAIL}</p>`}
${decisions(tenant, { formField: visit.formField, isOwn })}
<div class="card">${facts([...factsOf(tenant), ...(review ? [['Last suspended for review', html`${time(review.at)}: ${review.reason}`] as const] : [])])}
${near && !isOwn && html`<p>Distance to a review: ${near.distance}</p>`}
${orRefusal(standing, ([one]) => html`${one && standingFacts(one)}`)}
<p class="quiet">Rates cover its last ${reviewWindow} finished messages. <a href="${pausePath({ kind: 'tenant', key: id })}">View its waiting mail</a> · <a href="/portal/operator/messages?tenant=${id}">Find its mail</a></p></div>
<h2>Tier</h2>${tierForm(tenant, visit.formField)}
${part(tenant, 'People', { path: 'logins', button: 'Add login' })}${people(members)}
${part(tenant, 'Domains', { path: 'domains', button: 'Add domain' })}${domainsPart(tenant, domains)}
${part(tenant, 'API keys', { path: 'keys', button: 'Create key' })}${keysPart(tenant, keys)}`;
  return view({ title: tenant.name, body });
}

function part({ id }: Tenant, title: string, { path, button }: { path: string; button: string }): Html {
  return html`<div class="heading"><h2>${title}</h2><div class="beside"><a class="button" href="${TENANTS_PATH}/${id}/${path}/new">${button}</a></div></div>`;
}

/** What its status means, in words. */
function whyPart({ id, status, statusReason }: Tenant): Html | null {
  switch (status) {
    case 'active':
      return null;
    case 'pending_verification':
      return html`<p class="notice info">The tenant has signed up but hasn’t confirmed its email address yet. None of its mail is sent.</p>`;
    case 'in_review':
      return html`<p class="notice warn">Waiting for your review: ${statusReason ?? 'new, not reviewed yet'}. Until you approve it, here or with <code>postrider tenant set ${id} --status active</code>, no mail is accepted or sent; queued messages wait until their lifetime is over.</p>`;
    case 'suspended':
      return html`<p class="notice bad">Suspended: ${statusReason ?? 'no reason was given'}. No mail is accepted or sent; queued messages wait until their lifetime is over.</p>`;
  }
}

/** The service's own tenant can only be let go on. */
function decisions({ id, name, status }: Tenant, { formField, isOwn }: { formField: Html; isOwn: boolean }): Html {
  const about = { action: `${TENANTS_PATH}/${id}/status`, formField };
  const statusField = (to: string) => html`<input type="hidden" name="status" value="${to}">`;
  const open = (label: string, question: string) =>
    confirmed({ ...about, label, question, button: label, tone: 'primary', fields: statusField('active') });
  const reason = html`<div class="field"><label for="reason">Reason</label><p class="hint" id="reason-hint">Its members see it in the portal; its owners also get it by mail.</p><input type="text" id="reason" name="reason" required maxlength="${MAX_NOTE_CHARS}" aria-describedby="reason-hint"></div>`;
  const suspend = confirmed({
    ...about,
    label: 'Suspend',
    button: 'Suspend',
    fields: html`${statusField('suspended')}${reason}`,
    question: `Stop all mail of ${name}? Messages that are being sent right now are finished; the rest waits. Its owners are notified by mail.`,
  });
  const isNew = status === 'in_review' || status === 'pending_verification';
  return html`<div class="actions">
${isNew && open('Approve', `Allow ${name} to send? Its owners are notified by mail.`)}
${status === 'suspended' && open('Reactivate', `Allow ${name} to send again? Its owners are notified by mail.`)}
${status !== 'suspended' && !isOwn && suspend}
</div>`;
}

function factsOf(tenant: Tenant): [string, HtmlPart][] {
  const onOff = (value: boolean) => (value ? 'on' : 'off');
  return [
    ['ID', copyable(tenant.id, 'the ID')],
    ['Created', time(tenant.createdAt)],
    ['Tier', tierText(tenant)],
    [
      'Tracking',
      `opens ${onOff(tenant.openTracking)}, clicks ${onOff(tenant.clickTracking)}, unsubscribe ${onOff(tenant.unsubscribe)}`,
    ],
  ];
}

function standingFacts({ messages, hardBounces, complaints }: TenantResults): Html {
  return facts([
    ['Messages', messages],
    ['Hard bounces', `${hardBounces} (${shareText(hardBounces, messages)})`],
    ['Complaints', `${complaints} (${shareText(complaints, messages)})`],
  ]);
}

function tierForm({ id, tier, tierPinned }: Tenant, formField: Html): Html {
  const choices = [
    { value: 'auto', label: 'automatic: rises with age and good standing' },
    ...TIERS.map((each) => ({ value: each, label: `${each}, pinned` })),
  ];
  const chosen = tierPinned ? tier : 'auto';
  return html`<form method="post" action="${TENANTS_PATH}/${id}/tier" class="card">${formField}${select({ name: 'tier', label: 'Rate tier', hint: `Currently ${tier}.` }, choices, chosen)}<button>Save</button></form>`;
}

/** What is in use, newest first: what was just added, and not what has ended long ago. */
function inUseFirst<T extends { createdAt: number }>(all: readonly T[], hasEnded: (each: T) => boolean): T[] {
  return all.toSorted((a, b) => Number(hasEnded(a)) - Number(hasEnded(b)) || b.createdAt - a.createdAt);
}

function people(members: readonly Member[]): Html {
  if (members.length === 0) return html`<p class="quiet">No users; only its API keys act for it.</p>`;
  const rows = inUseFirst(members, () => false)
    .slice(0, MOST_ROWS)
    .map(({ email, role, createdAt, lastSeenAt, hasSecondFactor }) => [
      email,
      role,
      hasSecondFactor ? 'on' : 'off',
      time(lastSeenAt, 'not recently'),
      time(createdAt),
    ]);
  const heads = ['Address', 'Role', 'Second factor', 'Last seen', 'Since'];
  return html`${table({ caption: 'People', heads }, rows)}${cutAt(members.length)}`;
}

export const DOMAIN_TONES: Readonly<Record<Domain['state'], Tone>> = {
  pending: 'busy',
  verified: 'good',
  failed: 'bad',
  revoked: 'quiet',
};

function domainsPart({ id: tenantId }: Tenant, domains: readonly Domain[]): Html {
  if (domains.length === 0) return html`<p class="quiet">None yet.</p>`;
  const rows = inUseFirst(domains, ({ state }) => state === 'revoked')
    .slice(0, MOST_ROWS)
    .map(({ id, name, state, failureReason, createdAt }) => [
      html`<a href="${TENANTS_PATH}/${tenantId}/domains/${id}">${name}</a>`,
      badge(state, DOMAIN_TONES[state]),
      failureReason ?? '',
      time(createdAt),
    ]);
  const all = html`<code class="unbroken">postrider domain list --tenant ${tenantId}</code>`;
  return html`${table({ caption: 'Domains', heads: ['Domain', 'State', 'Reason', 'Since'] }, rows)}${cutAt(domains.length, all)}`;
}

function keysPart({ id: tenantId }: Tenant, keys: readonly ApiKey[]): Html {
  if (keys.length === 0) return html`<p class="quiet">None yet.</p>`;
  const rows = inUseFirst(keys, ({ revokedAt }) => revokedAt !== null)
    .slice(0, MOST_ROWS)
    .map(({ name, scopes, boundDomain, createdAt, revokedAt }) => [
      name,
      revokedAt === null ? badge('active', 'good') : html`${badge('revoked')} ${time(revokedAt)}`,
      scopes.join(', '),
      boundDomain ?? 'any',
      time(createdAt),
    ]);
  const all = html`<code class="unbroken">postrider key list --tenant ${tenantId}</code>`;
  return html`${table({ caption: 'API keys', heads: ['Name', 'State', 'Scopes', 'Domain', 'Since'] }, rows)}${cutAt(keys.length, all)}`;
}

/** `all`: the command that shows the rest. */
function cutAt(rows: number, all: Html | null = null): Html | null {
  if (rows <= MOST_ROWS) return null;
  return html`<p class="quiet">Showing ${MOST_ROWS} of ${rows}, newest first${all && html`; ${all} lists all`}.</p>`;
}

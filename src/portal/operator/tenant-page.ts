// One tenant for operators: its status and why, its tier, how its mail fares, its people, keys and domains, and
// the decisions about it.
import { isUuid } from '../../base/ids.ts';
import { type Html, type HtmlPart, html } from '../../http/html.ts';
import type { Domain } from '../../store/domains.ts';
import type { TenantStanding } from '../../store/reads.ts';
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
  const tenant = isUuid(id) ? await store.getTenant(id) : null;
  if (!tenant) return missing('There is no such tenant.');
  const [standing, review, members, keys, domains, isOwn, near] = await Promise.all([
    reads.standingsOf(null, [id], reviewWindow),
    store.reviewOf(id),
    store.listMembers(id),
    store.listApiKeys(id),
    store.listDomains(id),
    isServiceItself(services, id),
    services.brake(id),
  ]);
  const body = html`<p class="crumb"><a href="${TENANTS_PATH}">Tenants</a></p>${heading(tenant.name, statusBadge(tenant.status))}
${whyPart(tenant)}
${isOwn && html`<p class="notice info">${OWN_MAIL}</p>`}
${decisions(tenant, { formField: visit.formField, isOwn })}
<div class="card">${facts([...factsOf(tenant), ...(review ? [['Last stopped for review', html`${time(review.at)}: ${review.reason}`] as const] : [])])}
${near && !isOwn && html`<p>Until a review: ${near.distance}</p>`}
${orRefusal(standing, ([one]) => html`${one && standingFacts(one)}`)}
<p class="quiet">Rates are those of its last ${reviewWindow} messages that have ended. <a href="${pausePath({ kind: 'tenant', key: id })}">What of its mail waits</a></p></div>
<h2>Tier</h2>${tierForm(tenant, visit.formField)}
<h2>People</h2>${people(members)}
<h2>Domains</h2>${domainsPart(domains)}
<h2>API keys</h2>${keysPart(keys)}`;
  return view({ title: tenant.name, body });
}

/** What its status means, in words. */
function whyPart({ id, status, statusReason }: Tenant): Html | null {
  switch (status) {
    case 'active':
      return null;
    case 'pending_verification':
      return html`<p class="notice info">It has signed up, and has not confirmed its mail address yet. Nothing of it is sent.</p>`;
    case 'in_review':
      return html`<p class="notice warn">It waits for you: ${statusReason ?? 'it is new, and nobody has looked at it yet'}. Until you approve it, here or with <code>postrider tenant set ${id} --status active</code>, nothing is taken in or sent; what was queued waits.</p>`;
    case 'suspended':
      return html`<p class="notice bad">It is suspended: ${statusReason ?? 'no reason was given'}. Nothing is taken in or sent; what was queued waits.</p>`;
  }
}

/** The service's own tenant can only be let go on. */
function decisions({ id, name, status }: Tenant, { formField, isOwn }: { formField: Html; isOwn: boolean }): Html {
  const about = { action: `${TENANTS_PATH}/${id}/status`, formField };
  const statusField = (to: string) => html`<input type="hidden" name="status" value="${to}">`;
  const open = (label: string, question: string) =>
    confirmed({ ...about, label, question, button: label, tone: 'primary', fields: statusField('active') });
  const reason = html`<div class="field"><label for="reason">Reason</label><p class="hint" id="reason-hint">Its people read it in the portal and in a mail.</p><input type="text" id="reason" name="reason" required maxlength="${MAX_NOTE_CHARS}" aria-describedby="reason-hint"></div>`;
  const suspend = confirmed({
    ...{ ...about, label: 'Suspend', button: 'Suspend', fields: html`${statusField('suspended')}${reason}` },
    question: `Stop all mail of ${name}? What is on the wire is finished, the rest waits. Its owners are told by mail.`,
  });
  const isNew = status === 'in_review' || status === 'pending_verification';
  return html`<div class="actions">
${isNew && open('Approve', `May ${name} send from now on? Its owners are told by mail.`)}
${status === 'suspended' && open('Reactivate', `May ${name} send again? Its owners are told by mail.`)}
${status !== 'suspended' && !isOwn && suspend}
</div>`;
}

function factsOf(tenant: Tenant): [string, HtmlPart][] {
  const onOff = (value: boolean) => (value ? 'on' : 'off');
  return [
    ['Id', copyable(tenant.id, 'the id')],
    ['Created', time(tenant.createdAt)],
    ['Tier', tierText(tenant)],
    [
      'Tracking',
      `opens ${onOff(tenant.openTracking)}, clicks ${onOff(tenant.clickTracking)}, unsubscribe ${onOff(tenant.unsubscribe)}`,
    ],
  ];
}

function standingFacts({ messages, hardBounces, complaints }: TenantStanding): Html {
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
  return html`<form method="post" action="${TENANTS_PATH}/${id}/tier" class="card">${formField}${select({ name: 'tier', label: 'Rate tier', hint: `It is ${tier} now.` }, choices, chosen)}<button>Save</button></form>`;
}

function people(members: readonly Member[]): Html {
  if (members.length === 0) return html`<p class="quiet">Nobody: only its keys act for it.</p>`;
  const rows = members
    .slice(0, MOST_ROWS)
    .map(({ email, role, createdAt, lastSeenAt, hasSecondFactor }) => [
      email,
      role,
      hasSecondFactor ? 'on' : 'off',
      time(lastSeenAt, 'not lately'),
      time(createdAt),
    ]);
  return table({ caption: 'People', heads: ['Address', 'Role', 'Second factor', 'Last seen', 'Since'] }, rows);
}

const DOMAIN_TONES: Readonly<Record<Domain['state'], Tone>> = {
  pending: 'busy',
  verified: 'good',
  failed: 'bad',
  revoked: 'quiet',
};

function domainsPart(domains: readonly Domain[]): Html {
  if (domains.length === 0) return html`<p class="quiet">None yet.</p>`;
  const rows = domains
    .slice(0, MOST_ROWS)
    .map(({ name, state, failureReason, createdAt }) => [
      name,
      badge(state, DOMAIN_TONES[state]),
      failureReason ?? '',
      time(createdAt),
    ]);
  return table({ caption: 'Domains', heads: ['Domain', 'State', 'Why not', 'Since'] }, rows);
}

function keysPart(keys: readonly ApiKey[]): Html {
  if (keys.length === 0) return html`<p class="quiet">None yet.</p>`;
  const rows = keys
    .slice(0, MOST_ROWS)
    .map(({ name, scopes, boundDomain, createdAt, revokedAt }) => [
      name,
      revokedAt === null ? badge('live', 'good') : html`${badge('revoked')} ${time(revokedAt)}`,
      scopes.join(', '),
      boundDomain ?? 'any',
      time(createdAt),
    ]);
  return table({ caption: 'API keys', heads: ['Name', 'State', 'Scopes', 'Domain', 'Since'] }, rows);
}

// The tenant's settings: whether it may send and how much, its name, and what is added to its mail.
import { type Html, html } from '../../http/html.ts';
import type { Tenant } from '../../store/tenants.ts';
import { nameProblem } from '../../tenants/refused.ts';
import { badge, checkbox, facts, field } from '../elements.ts';
import { action, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import { sendingStatus } from '../sending-status.ts';
import { settingsHead } from './settings-nav.ts';
import { lastHours, type SettingsServices } from './settings-services.ts';
import { callsWords, number, paceWords, riseWords, standingWords } from './tier-words.ts';

const PATH = '/portal/settings';

export function settingsPage(services: SettingsServices): PortalRoute[] {
  const back = () => redirect(PATH);
  return [
    page({ path: PATH, access: 'viewer', show: (visit) => show(services, visit) }),
    action({ path: `${PATH}/name`, access: 'owner', run: (visit) => changeName(services, visit) }),
    page({ path: `${PATH}/name`, access: 'viewer', show: back }),
    action({ path: `${PATH}/mail`, access: 'owner', run: (visit) => changeSwitches(services, visit) }),
  ];
}

async function changeName(services: SettingsServices, visit: VisitOf<'owner'>): Promise<PageResult> {
  const { tenant } = visit.visitor;
  const name = (visit.form.get('name') ?? '').trim();
  const problem = nameProblem(name);
  if (problem) return show(services, visit, `The name ${problem}.`);
  if (name === tenant.name) return redirect(PATH);
  await services.store.tenants.updateTenant(tenant.id, { name });
  await visit.audit('settings.name', { from: tenant.name, to: name });
  return redirect(PATH, `The name is now ${name}.`);
}

const SWITCHES = ['openTracking', 'clickTracking', 'unsubscribe'] as const;

async function changeSwitches({ store }: SettingsServices, visit: VisitOf<'owner'>): Promise<PageResult> {
  const { tenant } = visit.visitor;
  const changes = Object.fromEntries(
    SWITCHES.map((name) => [name, visit.form.get(name) === 'on'] as const).filter(([name, on]) => tenant[name] !== on),
  );
  if (Object.keys(changes).length === 0) return redirect(PATH, 'Nothing to save: no setting was changed.');
  await store.tenants.updateTenant(tenant.id, changes);
  await visit.audit('settings.mail', changes);
  return redirect(PATH, 'Saved. This applies to all messages delivered from now on.');
}

async function show(
  services: SettingsServices,
  visit: VisitOf<'viewer'>,
  nameProblem: string | null = null,
): Promise<PageResult> {
  const { tenant } = visit.visitor;
  const status = await statusOf(services, tenant);
  const mayChange = visit.may('owner');
  return view({
    title: 'Settings',
    status: nameProblem === null ? 200 : 422,
    body: html`${settingsHead('Settings', PATH)}
<h2>Status</h2>
<div class="card"><p>${badge(status.word, status.tone)}</p><p class="last">${status.reason}${status.next !== null && html` ${status.next}`}</p></div>
<h2>Limits and usage</h2>
${await limitsCard(services, tenant, visit.now)}
<h2>Tracking and unsubscribe</h2>
${mayChange ? switchesForm(tenant, visit.formField) : switchesCard(tenant)}
<h2>Name</h2>
${mayChange ? nameForm(tenant, visit, nameProblem) : html`<div class="card"><p class="last">${tenant.name}</p></div>`}`,
  });
}

async function statusOf({ store }: SettingsServices, tenant: Tenant) {
  const facts = await store.figures.onboardingFacts(tenant.id);
  const pause = await store.shaping.findPause({ kind: 'tenant', key: tenant.id });
  return sendingStatus({ ...facts, tenant, paused: pause !== null });
}

async function limitsCard({ store, limits, brake }: SettingsServices, tenant: Tenant, now: number): Promise<Html> {
  const [keys, standing, contentDays, day, month, near] = await Promise.all([
    store.keys.listApiKeys(tenant.id),
    store.tenants.recentResultsOf(tenant.id, limits.reviewWindow),
    store.upkeep.contentDaysOf(tenant.id),
    accepted(store, tenant.id, { now, hours: 24 }),
    accepted(store, tenant.id, { now, hours: 30 * 24 }),
    brake(tenant.id),
  ]);
  const live = keys.filter(({ revokedAt }) => revokedAt === null).length;
  return html`<div class="card">${facts([
    ['Tier', html`<strong>${tenant.tier}</strong><br><span class="quiet">${riseWords(tenant, limits, now)}</span>`],
    ['API calls', callsWords(limits.requestsPerMinute(tenant.tier))],
    ['Delivery', paceWords(limits.messagesPerHour(tenant.tier))],
    ['Accepted messages', `${number(day)} in the last 24 hours, ${number(month)} in the last 30 days`],
    ['Reputation', html`${standingWords(standing)}${near && html`<br><span class="quiet">${near.distance}</span>`}`],
    ['API keys', html`${live} of ${limits.keys}`],
    [
      'Retention',
      `content: ${days(contentDays ?? limits.contentDays)} after delivery; events: ${days(limits.recordsDays)}`,
    ],
  ])}</div>`;
}

function days(count: number): string {
  return count === 0 ? 'not kept' : `${count} ${count === 1 ? 'day' : 'days'}`;
}

async function accepted(
  store: SettingsServices['store'],
  tenantId: string,
  { now, hours }: { now: number; hours: number },
): Promise<number> {
  const points = await store.figures.chartOf(tenantId, { ...lastHours(now, hours), stepHours: hours });
  return points.reduce((sum, { figures }) => sum + figures.accepted, 0);
}

const EXPLAINED = {
  openTracking: {
    label: 'Track opens',
    hint: 'Adds a tiny image to the HTML part. Many mail programs load images automatically or not at all, so treat the number as a trend. In many countries you must tell your recipients.',
  },
  clickTracking: {
    label: 'Track clicks',
    hint: 'Links in the HTML part lead through this service to their target. Links with data-postrider-track="off" are not changed.',
  },
  unsubscribe: {
    label: 'One-click unsubscribe',
    hint: 'Adds the List-Unsubscribe headers that large providers require in bulk mail. Recipients who use it are added to your suppression list. Leave it off for receipts, password resets and similar mail.',
  },
} as const;

function switchesForm(tenant: Tenant, formField: Html): Html {
  return html`<form method="post" action="${PATH}/mail" class="card">${formField}
${SWITCHES.map((name) => checkbox({ name, checked: tenant[name], ...EXPLAINED[name] }))}
<button class="primary">Save</button></form>`;
}

function switchesCard(tenant: Tenant): Html {
  const rows = SWITCHES.map((name) => [EXPLAINED[name].label, tenant[name] ? 'on' : 'off'] as const);
  return html`<div class="card">${facts(rows)}<p class="hint">Owners can change this.</p></div>`;
}

function nameForm(tenant: Tenant, { formField, form }: VisitOf<'viewer'>, problem: string | null): Html {
  const hint = 'Visible to your members, in invitations and to the operator. Recipients of your mail don’t see it.';
  const value = problem === null ? tenant.name : (form.get('name') ?? '');
  return html`<form method="post" action="${PATH}/name" class="card">${formField}
${field({ name: 'name', label: 'Organization name', value, hint, problem, required: true, maxLength: 200 })}
<button>Change name</button></form>`;
}

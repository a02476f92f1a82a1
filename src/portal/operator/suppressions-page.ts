// The platform's list of mailboxes that do not exist, and what to do when a receiver was wrong about many:
// which receivers are doubted (the spike rule), trusting one again, taking back what one has said.
import { MAX_GROUP_NAME_CHARS } from '../../delivery/route/routes.ts';
import { type Html, html } from '../../http/html.ts';
import { parseAddress, suppressionKey, suppressionPrefix } from '../../protocol/mail/addresses/address.ts';
import { type DoubtedReceiver, NO_ROUTE, type PlatformSuppression } from '../../store/suppressions.ts';
import { undoHardBounces } from '../../suppression/undo-hard-bounces.ts';
import { confirmed, emptyState, field, heading, pager, problemBox, table, time } from '../elements.ts';
import { action, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import type { OperatorServices } from './operator-services.ts';
import { pausePath } from './queue-targets.ts';

const PATH = '/portal/operator/suppressions';
const PER_PAGE = 50;
const MOST_CHARS = 320;
/** Every rule by which DNS alone decides. */
const DNS_RULES = 'route-*';

type Services = Pick<OperatorServices, 'store' | 'receiverTrusted'>;
type Operators = VisitOf<'operator'>;

export function suppressionPages(services: Services): PortalRoute[] {
  const access = 'operator';
  return [
    page({ path: PATH, access, show: (visit) => show(services, visit) }),
    action({ path: `${PATH}/remove`, access, run: (visit) => remove(services, visit) }),
    action({ path: `${PATH}/undo`, access, run: (visit) => undo(services, visit) }),
    action({ path: `${PATH}/trust`, access, run: (visit) => trust(services, visit) }),
  ];
}

interface UndoForm {
  group: string;
  since: string;
  problem: string | null;
}

async function show({ store }: Services, visit: Operators, undone?: UndoForm): Promise<PageResult> {
  const search = (visit.query.get('address') ?? '').trim().slice(0, MOST_CHARS);
  const after = visit.query.get('after');
  const [doubts, found] = await Promise.all([
    store.reputation.listDoubtedReceivers(),
    store.suppressions.listPlatformSuppressions({
      after,
      limit: PER_PAGE + 1,
      ...(search !== '' && { prefix: suppressionPrefix(search) }),
    }),
  ]);
  const pathOf = (change: Record<string, string>) => {
    const filled = Object.entries({ address: search, ...change }).filter(([, value]) => value !== '');
    return filled.length === 0 ? PATH : `${PATH}?${new URLSearchParams(filled)}`;
  };
  const next = found.length > PER_PAGE ? pathOf({ after: found[PER_PAGE - 1]!.address }) : null;
  const body = html`${heading('Suppressions')}
<p>The platform’s suppression list: mailboxes that receivers reported as nonexistent. No tenant’s mail is sent to them until the entry expires or you remove it.</p>
${doubts.length > 0 && html`<h2>Needs a decision</h2>${doubts.map((doubt) => doubtCard(doubt, visit.formField))}`}
<form class="filters" method="get" action="${PATH}">${field({ name: 'address', label: 'Address begins with', value: search, type: 'search', maxLength: MOST_CHARS })}<button>Search</button></form>
${found.length === 0 ? nothing(search) : entriesTable(found.slice(0, PER_PAGE), visit.formField)}
${pager({ first: after === null ? null : pathOf({}), next })}
<h2>Undo a receiver’s hard bounces</h2>
${undoForm(undone ?? { group: '', since: '', problem: null }, visit.formField)}`;
  return view({ title: 'Suppressions', body, status: undone ? 422 : 200 });
}

function nothing(search: string): Html {
  return search === ''
    ? emptyState('The list is empty', 'Addresses are added automatically when a receiver says that they don’t exist.')
    : emptyState(
        'No address matches',
        html`The address may be on a tenant’s own list; <code>postrider address explain</code> shows why it is refused.`,
      );
}

function doubtCard(doubt: DoubtedReceiver, formField: Html): Html {
  if (doubt.mxGroup === NO_ROUTE) return noRouteCard(doubt, formField);
  const { mxGroup, since, reason } = doubt;
  const group = html`<input type="hidden" name="group" value="${mxGroup}">`;
  const start = new Date(since - 60 * 60 * 1000).toISOString().slice(0, 16);
  return html`<div class="card"><p><strong><a href="${pausePath({ kind: 'group', key: mxGroup })}">${mxGroup}</a></strong>: ${reason}. Its hard bounces have counted as soft since ${time(since)}.</p>
<div class="actions">${confirmed({
    label: 'Trust again',
    button: 'Trust again',
    action: `${PATH}/trust`,
    formField,
    tone: 'neutral',
    question: `Trust hard bounces from ${mxGroup} again? Do this if they were correct, or once the problem is over.`,
    fields: group,
  })}${confirmed({
    label: 'Undo its hard bounces',
    button: 'Undo',
    action: `${PATH}/undo`,
    formField,
    question: `Remove all suppressions that ${mxGroup} has caused since then, from the platform’s list and from tenants’ lists?`,
    fields: html`${group}${sinceField(`since-${mxGroup}`, start)}`,
  })}</div></div>`;
}

function noRouteCard({ since, reason }: DoubtedReceiver, formField: Html): Html {
  const group = html`<input type="hidden" name="group" value="${NO_ROUTE}">`;
  const start = new Date(since - 60 * 60 * 1000).toISOString().slice(0, 16);
  return html`<div class="card"><p><strong>Mail without a route in DNS</strong>: ${reason}. It has been held since ${time(since)}: no such message bounces or fails. <a href="/portal/operator/doctor">Check your DNS servers</a> first.</p>
<div class="actions">${confirmed({
    label: 'Release',
    button: 'Release',
    action: `${PATH}/trust`,
    formField,
    tone: 'neutral',
    question: 'Trust DNS again? Each held message is decided at its next attempt, within the hour.',
    fields: group,
  })}${confirmed({
    label: 'Undo what DNS decided',
    button: 'Undo',
    action: `${PATH}/undo`,
    formField,
    question:
      'Remove all suppressions that DNS has caused since then, from the platform’s list and from tenants’ lists?',
    fields: html`${group}${sinceField(`since-${NO_ROUTE}`, start)}`,
  })}</div></div>`;
}

function sinceField(id: string, value: string): Html {
  return html`<div class="field"><label for="${id}">Since (UTC)</label><input type="datetime-local" id="${id}" name="since" value="${value}" required></div>`;
}

function undoForm({ group, since, problem }: UndoForm, formField: Html): Html {
  return html`<form method="post" action="${PATH}/undo" class="card">${formField}${problemBox(problem)}
<p>Removes all hard bounces reported by an MX group (the mail servers of one receiver) since a given time, from the platform’s list and from tenants’ lists.</p>
${field({ name: 'group', label: 'MX group', hint: 'As shown in the list above.', value: group, required: true, maxLength: MAX_GROUP_NAME_CHARS })}${sinceField('field-since', since)}<button class="danger">Undo hard bounces</button></form>`;
}

function entriesTable(entries: readonly PlatformSuppression[], formField: Html): Html {
  const rows = entries.map(({ address, mxGroup, rule, messageId, createdAt, expiresAt }) => [
    html`<code>${address}</code>`,
    html`${mxGroup ?? 'an operator'} <span class="quiet">(rule ${rule})</span>${messageId !== null && html`<br><a href="/portal/operator/queue/${messageId}">View message</a>`}`,
    html`${time(createdAt)}<br><span class="quiet">until ${time(expiresAt)}</span>`,
    html`<form method="post" action="${PATH}/remove">${formField}<input type="hidden" name="address" value="${address}"><button aria-label="Remove ${address}">Remove</button></form>`,
  ]);
  return table({ caption: 'The platform’s list', heads: ['Address', 'Source', 'Since', 'Remove'] }, rows);
}

async function remove({ store }: Services, visit: Operators): Promise<PageResult> {
  const written = (visit.form.get('address') ?? '').trim();
  const parsed = parseAddress(written);
  const address = parsed.ok ? suppressionKey(parsed.address) : written;
  if (!(await store.suppressions.removePlatformSuppression(address)))
    return redirect(PATH, 'The address isn’t on the list.', 'warn');
  await visit.audit('platform_suppression.removed', { address });
  return redirect(PATH, `${address} is no longer on the platform’s list. Tenants’ own lists are unchanged.`);
}

async function undo(services: Services, visit: Operators): Promise<PageResult> {
  const group = (visit.form.get('group') ?? '').trim().toLowerCase();
  const since = (visit.form.get('since') ?? '').trim();
  // As the field gives it: without a zone, in UTC.
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(since) ? Date.parse(`${since}Z`) : Number.NaN;
  const problem = group === '' ? 'Enter an MX group.' : Number.isNaN(at) ? 'Enter a date and a time.' : null;
  if (problem !== null) return show(services, visit, { group, since, problem });
  const of = group === NO_ROUTE ? { rule: DNS_RULES, since: at } : { mxGroup: group, since: at };
  const { platform, tenants } = await undoHardBounces(services.store, of);
  await visit.audit('platform_suppression.undone', { group, since: new Date(at).toISOString(), platform, tenants });
  return redirect(
    PATH,
    `Entries removed that ${group === NO_ROUTE ? 'DNS' : group} had caused: ${platform} of the platform, ${tenants} of tenants.`,
  );
}

async function trust({ store, receiverTrusted }: Services, visit: Operators): Promise<PageResult> {
  const group = visit.form.get('group') ?? '';
  const stored = await store.reputation.trustReceiver(group);
  const remembered = receiverTrusted(group);
  const doubt = stored ?? remembered;
  if (!doubt) return redirect(PATH, 'No decision is pending for this name.', 'warn');
  await visit.audit('receiver.trusted', { group, doubted_since: new Date(doubt.since).toISOString() });
  return redirect(
    PATH,
    group === NO_ROUTE ? 'Mail without a route is no longer held.' : `Hard bounces from ${group} count again.`,
  );
}

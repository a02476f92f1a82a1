// The list of messages: filters, newest first, and how far it has looked when that was not to the end.
import { type Html, html } from '../../http/html.ts';
import { MESSAGE_STATES } from '../../store/queue.ts';
import type { FoundMessage, MessagePage } from '../../store/reads.ts';
import type { Labels } from '../../store/submissions.ts';
import type { Suppression } from '../../store/suppressions.ts';
import { findPlatformEntry, onPlatformList } from '../../suppression/platform-list.ts';
import { emptyState, field, heading, pager, problemBox, select, table, time } from '../elements.ts';
import { type PageResult, type VisitOf, view } from '../page.ts';
import { saidBriefly } from '../tenants-words.ts';
import { COMPOSE } from './compose-page.ts';
import { listPath, type MessageFilter, readFilter } from './message-filter.ts';
import type { MessageServices } from './message-services.ts';
import { cut, stateBadge } from './message-words.ts';

const PER_PAGE = 50;
/** The whole page is to be there within 100 ms. */
const SEARCH_BUDGET_MS = 50;
const SUBJECT_CHARS = 160;
const TAG_CHARS = 60;

export async function showMessages(services: MessageServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const tenantId = visit.visitor.tenant.id;
  const filter = readFilter(visit.query);
  const form = await filterForm(services, tenantId, filter);
  const title = 'Messages';
  const send = visit.may('member') && html`<a class="button primary" href="${COMPOSE}">Send a message</a>`;
  const shown = async (list: Html, status = 200) =>
    view({ title, status, body: html`${heading(title, send)}${form}${list}` });
  const { problems } = filter;
  // A choice that is none comes from an address that somebody has written.
  if (Object.keys(problems).length > 0) return shown(html`${problemBox(problems.state ?? problems.key ?? null)}`, 422);
  const search = { ...filter.search, limit: PER_PAGE, budgetMs: SEARCH_BUDGET_MS };
  const outcome = await services.reads.searchMessages(tenantId, search);
  if (outcome.kind === 'refused') return shown(html`<p class="notice warn">${outcome.reason}</p>`, 503);
  const { suppressionKey: address } = filter;
  const note = address !== null && (await suppressionNote(services, { tenantId, address, now: visit.now }));
  return shown(html`${note}${foundList(outcome.value, filter)}`);
}

function foundList(page: MessagePage, filter: MessageFilter): Html {
  const { messages, next, stoppedEarly } = page;
  const list = messages.length === 0 ? (stoppedEarly ? null : nothing(filter)) : messageTable(messages);
  const first = filter.search.olderThan === undefined ? null : listPath(filter, null);
  const links = pager({ first, next: next === null || stoppedEarly ? null : listPath(filter, next) });
  return html`${list}${stoppedEarly && next !== null && lookedSoFar(page, filter, next)}${links}`;
}

function messageTable(messages: readonly FoundMessage[]): Html {
  const heads = ['State', 'To', 'Subject', 'Accepted'];
  return html`<div class="messages">${table({ caption: 'Messages, newest first', heads }, messages.map(messageRow))}</div>`;
}

/** The whole row leads to the message. */
function messageRow(message: FoundMessage): Html[] {
  const { id, recipient, recipientName, state, lastReason, complained, subject, from, labels, createdAt } = message;
  const reason = state === 'delivered' || lastReason === null ? null : saidBriefly(lastReason);
  return [
    html`${stateBadge(message)}${complained && html` <span class="badge bad">complaint</span>`}`,
    html`<a class="whole-row" href="/portal/messages/${id}">${recipient}</a>${recipientName && html`<br><span class="hint">${recipientName}</span>`}`,
    html`${subject === '' ? html`<span class="quiet">(no subject)</span>` : cut(subject, SUBJECT_CHARS)}${
      reason && html`<span class="hint one-line" title="${reason}">${reason}</span>`
    }<span class="hint from">from ${from}</span>${tagLinks(labels)}`,
    time(createdAt),
  ];
}

/** Each leads to all messages that have it. */
function tagLinks(labels: Labels | null): Html | null {
  const tags = Object.entries(labels?.tags ?? {}).map(([name, value]) => `${name}:${value}`);
  if (tags.length === 0) return null;
  const links = tags.map((tag) => {
    const path = `/portal/messages?${new URLSearchParams({ tag })}`;
    return html` <a class="badge quiet" href="${path}">${cut(tag, TAG_CHARS)}</a>`;
  });
  return html`<span class="tags">${links}</span>`;
}

function nothing(filter: MessageFilter): Html {
  if (filter.search.olderThan !== undefined) return html`<p>No older messages.</p>`;
  if (filter.isSet) {
    const all = html`Remove a filter, or <a href="/portal/messages">show all messages</a>.`;
    return emptyState('No messages match', all);
  }
  const next = html`Messages that you send with <code>POST /emails</code> appear here at once. The <a href="/portal">overview</a> shows how to send the first one; the <a href="/docs">API reference</a> covers the rest.`;
  return emptyState('No messages yet', next);
}

/** The time is in the id that the search has come to. */
function lookedSoFar({ scanned, messages }: MessagePage, filter: MessageFilter, next: string): Html {
  const reached = Number.parseInt(next.slice(0, 13).replace('-', ''), 16);
  const found = messages.length === 0 ? 'No match so far. ' : '';
  const many = scanned > 0 && html`Searched ${scanned.toLocaleString('en')} messages, `;
  return html`<p class="notice info">${found}${many || 'Searched '}back to ${time(reached)}. <a href="${listPath(filter, next)}" rel="next">Continue searching</a></p>`;
}

async function suppressionNote(
  { store }: MessageServices,
  { tenantId, address, now }: { tenantId: string; address: string; now: number },
): Promise<Html | null> {
  const own = await store.suppressions.getSuppression(tenantId, address);
  if (own) return ownNote(own);
  const entry = await findPlatformEntry(store, address, now);
  return (
    entry &&
    html`<p class="notice warn">Mail to <strong>${address}</strong> is not accepted: it is ${onPlatformList(entry)}</p>`
  );
}

function ownNote({ address, reason, createdAt }: Suppression): Html {
  const path = `/portal/suppressions?${new URLSearchParams({ search: address })}`;
  return html`<p class="notice warn"><strong>${address}</strong> has been on your suppression list since ${time(createdAt)} (${reason}), so mail to it is not accepted. <a href="${path}">View entry</a></p>`;
}

async function filterForm({ store }: MessageServices, tenantId: string, filter: MessageFilter): Promise<Html> {
  const { fields, problems } = filter;
  const [domains, keys] = [await store.domains.listDomains(tenantId), await store.keys.listApiKeys(tenantId)];
  const senders = [...new Set([...domains.map(({ name }) => name), ...(fields.sender ? [fields.sender] : [])])].sort();
  const any = { value: '', label: 'any' };
  const choices = (values: readonly string[]) => [any, ...values.map((value) => ({ value, label: value }))];
  const keyChoices = [
    any,
    ...keys.map(({ id, name, revokedAt }) => ({ value: id, label: revokedAt === null ? name : `${name} (revoked)` })),
  ];
  const problem = (name: keyof typeof problems) => problems[name] ?? null;
  return html`<form method="get" action="/portal/messages" class="card search-form">
<div class="filters">${field({ name: 'search', label: 'Search', value: fields.search, type: 'search', placeholder: 'address, subject or ID' })}
<button class="primary">Search</button>${filter.isSet && html`<a class="button" href="/portal/messages">Clear</a>`}</div>
<details${filter.isNarrowed && html` open`}><summary>Filters</summary><div class="filters">
${select({ name: 'state', label: 'State' }, choices(MESSAGE_STATES), fields.state)}
${select({ name: 'sender', label: 'Sending domain' }, choices(senders), fields.sender)}
${select({ name: 'key', label: 'API key' }, keyChoices, fields.key)}
${field({ name: 'tag', label: 'Tag', value: fields.tag, type: 'search', placeholder: 'name:value', problem: problem('tag') })}
${field({ name: 'from', label: 'From (UTC)', value: fields.from, type: 'datetime-local', problem: problem('from') })}
${field({ name: 'until', label: 'Until (UTC)', value: fields.until, type: 'datetime-local', problem: problem('until') })}
</div></details>
</form>`;
}

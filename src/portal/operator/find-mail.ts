// Finding mail of all tenants, finished mail too, by what a person knows of it: recipient, domain, part of an ID, of a
// subject or of an address. Tenants are searched one after the other, as long as there is time.
import { steadyClock } from '../../base/clock.ts';
import { type Html, html } from '../../http/html.ts';
import { readSearchText } from '../../operator/search-text.ts';
import type { FoundMessage } from '../../store/reads.ts';
import type { Tenant } from '../../store/tenants.ts';
import { badge, emptyState, field, heading, table, time } from '../elements.ts';
import { type PageResult, type PortalRoute, page, type VisitOf, view } from '../page.ts';
import type { OperatorServices } from './operator-services.ts';
import { STATE_TONES } from './queue-message-page.ts';
import { QUEUE_PATH } from './queue-targets.ts';
import { TENANTS_PATH } from './tenants-page.ts';

const PATH = '/portal/operator/messages';
const SHOWN = 50;
const MAX_SEARCH_CHARS = 500;
/** For all tenants: somebody waits for the page. */
const BUDGET_MS = 3000;
/** So that the last tenant gets some of it, too. */
const MIN_BUDGET_MS = 20;
const SUBJECT_CHARS = 100;

export function findMailPage(services: OperatorServices): PortalRoute {
  return page({ path: PATH, access: 'operator', show: (visit) => show(services, visit) });
}

interface Found {
  message: FoundMessage;
  tenant: Tenant;
}

interface Search {
  found: Found[];
  /** More were found than are shown. */
  more: boolean;
  /** Names of tenants whose older mail, or all of whose mail, was not looked at. */
  cutOff: string[];
  /** Why a tenant's mail could not be read. */
  refused: string | null;
}

async function show(services: OperatorServices, { query }: VisitOf<'operator'>): Promise<PageResult> {
  const typed = (query.get('search') ?? '').trim().slice(0, MAX_SEARCH_CHARS);
  const wanted = query.get('tenant') ?? '';
  const tenants = (await services.store.tenants.listTenants()).filter(({ id }) => wanted === '' || id === wanted);
  const result = typed === '' ? null : await search(services, typed, tenants);
  const only = wanted !== '' && tenants[0];
  const form = html`<form class="filters" method="get" action="${PATH}">${field({ name: 'search', label: 'Find mail', value: typed, type: 'search', placeholder: 'address, domain, subject or ID' })}${only && html`<input type="hidden" name="tenant" value="${only.id}">`}<button class="primary">Search</button></form>`;
  const body = html`${heading('Messages')}
<p>Mail of ${only ? html`<strong>${only.name}</strong> (<a href="${PATH}?${String(new URLSearchParams({ search: typed }))}">of all tenants</a>)` : 'all tenants'}, finished or not, newest first.</p>
${form}${result && resultView(result)}`;
  return view({ title: 'Messages', body, status: result?.refused && result.found.length === 0 ? 503 : 200 });
}

async function search({ reads, clock }: OperatorServices, typed: string, tenants: readonly Tenant[]): Promise<Search> {
  const { search: asked } = readSearchText(typed);
  const elapsed = steadyClock(clock);
  const found: Found[] = [];
  const cutOff: string[] = [];
  let [more, refused] = [false, null as string | null];
  for (const [at, tenant] of tenants.entries()) {
    const leftMs = BUDGET_MS - elapsed.now();
    if (leftMs <= 0) {
      cutOff.push(...tenants.slice(at).map(({ name }) => name));
      break;
    }
    const budgetMs = Math.max(leftMs / (tenants.length - at), MIN_BUDGET_MS);
    const page = await reads.searchMessages(tenant.id, { ...asked, limit: SHOWN, budgetMs });
    if (page.kind === 'refused') {
      refused = page.reason;
      cutOff.push(tenant.name);
      continue;
    }
    const { messages, next, stoppedEarly } = page.value;
    found.push(...messages.map((message) => ({ message, tenant })));
    if (stoppedEarly) cutOff.push(tenant.name);
    else if (next !== null) more = true;
  }
  const newest = found.sort((one, other) => (one.message.id < other.message.id ? 1 : -1));
  return { found: newest.slice(0, SHOWN), more: more || found.length > SHOWN, cutOff, refused };
}

function resultView({ found, more, cutOff, refused }: Search): Html {
  const named = cutOff.slice(0, 5).join(', ') + (cutOff.length > 5 ? ` and ${cutOff.length - 5} more` : '');
  const unsearched =
    cutOff.length > 0 &&
    html`<p class="notice warn">${refused}${refused && ' '}The search took too long: older mail of ${named} was not looked at. Search for more of the address or the ID, or use <code>postrider queue find</code>.</p>`;
  if (found.length === 0) {
    return html`${unsearched}${emptyState('No message matches', 'An address, a domain, six characters of an ID, or a part of the subject. Old messages are erased.')}`;
  }
  const list = table(
    { caption: 'Messages, newest first', heads: ['State', 'To', 'Subject', 'Tenant', 'Accepted'] },
    found.map(rowOf),
  );
  return html`${unsearched}${list}${more && html`<p class="quiet">Showing the newest ${SHOWN}.</p>`}`;
}

function rowOf({ message, tenant }: Found) {
  const { id, state, parked, recipient, subject, from, lastReason, createdAt } = message;
  const short = subject.length > SUBJECT_CHARS ? `${subject.slice(0, SUBJECT_CHARS - 1)}…` : subject;
  const reason = state === 'delivered' || lastReason === null ? null : lastReason;
  return [
    html`${badge(state, STATE_TONES[state])}${parked && html` ${badge('parked', 'warn')}`}`,
    html`<a class="roomy" href="${QUEUE_PATH}/${id}">${recipient}</a>`,
    html`${short === '' ? html`<span class="quiet">(no subject)</span>` : short}<br><span class="hint">from ${from}${reason && `: ${reason}`}</span>`,
    html`<a href="${TENANTS_PATH}/${tenant.id}">${tenant.name}</a>`,
    time(createdAt),
  ];
}

// The tenant's suppression list: search by the beginning of an address, filter by reason, add, remove.
import { type Html, html } from '../../http/html.ts';
import { suppressionPrefix } from '../../protocol/mail/addresses/address.ts';
import {
  type FoundSuppressions,
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from '../../store/suppressions.ts';
import { badge, confirmed, emptyState, field, heading, select, type Tone, table, time } from '../elements.ts';
import { type PageResult, type VisitOf, view } from '../page.ts';
import { LIST, type SuppressionServices } from './suppression-services.ts';

const PER_PAGE = 50;
const MOST_CHARS = 320;

const REASONS: Record<SuppressionReason, [label: string, tone: Tone]> = {
  hard_bounce: ['hard bounce', 'bad'],
  complaint: ['complaint', 'bad'],
  unsubscribe: ['unsubscribed', 'warn'],
  manual: ['added manually', 'quiet'],
};

interface Filter {
  search: string;
  reason: SuppressionReason | null;
  after: string | null;
}

export interface AddForm {
  address: string;
  problem: string;
}

/** With the form to add an address open where what it sent was wrong. */
export async function showSuppressions(
  { reads }: SuppressionServices,
  visit: VisitOf<'viewer'>,
  wrong: AddForm | null = null,
): Promise<PageResult> {
  const filter = readFilter(visit.query);
  const search = {
    prefix: suppressionPrefix(filter.search),
    reason: filter.reason,
    after: filter.after,
    limit: PER_PAGE,
  };
  const outcome = await reads.searchSuppressions(visit.visitor.tenant.id, search);
  const list =
    outcome.kind === 'found' ? found(outcome.value, filter, visit) : html`<p class="notice warn">${outcome.reason}</p>`;
  const may = visit.may('member');
  const buttons = html`${may && html`<a class="button" href="${LIST}/import">Import</a>`}<a class="button" href="${LIST}/export">Export CSV</a>`;
  const body = html`${heading('Suppressions', buttons)}
<p class="quiet">Mail to suppressed addresses is not accepted; the API lists them under <code>rejected</code>. Hard bounces, complaints and
unsubscribes are added automatically.</p>
${may && addPart(visit, wrong)}${filterForm(filter)}${list}`;
  const status = wrong ? 422 : outcome.kind === 'found' ? 200 : 503;
  return view({ title: 'Suppressions', status, body });
}

function readFilter(query: URLSearchParams): Filter {
  const reason = SUPPRESSION_REASONS.find((known) => known === query.get('reason')) ?? null;
  const search = (query.get('search') ?? '').trim().slice(0, MOST_CHARS);
  return { search, reason, after: query.get('after')?.slice(0, MOST_CHARS) ?? null };
}

function listPath({ search, reason }: Filter, after: string | null): string {
  const query = new URLSearchParams();
  if (search !== '') query.set('search', search);
  if (reason !== null) query.set('reason', reason);
  if (after !== null) query.set('after', after);
  return query.size === 0 ? LIST : `${LIST}?${query}`;
}

function filterForm({ search, reason }: Filter): Html {
  const choices = SUPPRESSION_REASONS.map((value) => ({ value, label: REASONS[value][0] }));
  const isSet = search !== '' || reason !== null;
  return html`<form method="get" action="${LIST}" class="filters card" data-submit-on-change>
${field({ name: 'search', label: 'Address begins with', value: search, type: 'search' })}
${select({ name: 'reason', label: 'Reason' }, [{ value: '', label: 'any' }, ...choices], reason ?? '')}
<button class="primary">Search</button>${isSet && html`<a class="button" href="${LIST}">Clear</a>`}
</form>`;
}

function addPart({ formField }: VisitOf<'viewer'>, wrong: AddForm | null): Html {
  return html`<details class="confirm add"${wrong && html` open`}><summary class="button">Add address</summary>
<form method="post" action="${LIST}/add" class="card">${formField}
${field({ name: 'address', label: 'Address', value: wrong?.address ?? '', problem: wrong?.problem ?? null, required: true })}
<button class="primary">Add to list</button></form></details>`;
}

function found({ entries, next }: FoundSuppressions, filter: Filter, visit: VisitOf<'viewer'>): Html {
  const first = filter.after === null ? null : listPath(filter, null);
  const more =
    next !== null && entries.length > 0 && html`<a href="${listPath(filter, next)}" rel="next">More addresses</a>`;
  const back = first !== null && html`<a href="${first}">First page</a>`;
  const links = (more || back) && html`<nav class="pager" aria-label="Pages">${back}${more}</nav>`;
  if (entries.length > 0) return html`${entryTable(entries, visit)}${links}`;
  if (next !== null)
    return html`<p class="notice info">No match so far; the list is long. <a href="${listPath(filter, next)}" rel="next">Continue searching</a></p>`;
  return html`${nothing(filter)}${links}`;
}

function nothing({ search, reason, after }: Filter): Html {
  if (after !== null) return html`<p>No more addresses.</p>`;
  if (search === '' && reason === null) {
    return emptyState(
      'The list is empty',
      'Addresses appear here after a hard bounce, a complaint or an unsubscribe. If you are moving from another service, import its list first.',
    );
  }
  return emptyState('No address matches', html`<a href="${LIST}">Show the whole list</a>`);
}

function entryTable(entries: readonly Suppression[], visit: VisitOf<'viewer'>): Html {
  const may = visit.may('member');
  const heads = ['Address', 'Reason', 'Since', 'Message', ...(may ? ['Remove'] : [])];
  const list = table(
    { caption: 'Suppressed addresses, in alphabetical order', heads },
    entries.map((entry) => [
      html`<code>${entry.address}</code>`,
      badge(...REASONS[entry.reason]),
      time(entry.createdAt),
      entry.messageId === null
        ? html`<span class="quiet">none</span>`
        : html`<a href="/portal/messages/${entry.messageId}">View message</a>`,
      ...(may ? [removal(entry, visit.formField)] : []),
    ]),
  );
  return html`<div class="suppressed">${list}</div>`;
}

const WARNINGS: Record<SuppressionReason, string> = {
  hard_bounce: 'Its mailbox did not exist. If that has not changed, the next message bounces again.',
  complaint: 'This person reported your mail as spam. Sending again harms the delivery of all your mail.',
  unsubscribe: 'This person unsubscribed. Remove the address only if they have asked you to.',
  manual: 'It was added manually.',
};

function removal({ address, reason }: Suppression, formField: Html): Html {
  return confirmed({
    label: 'Remove',
    question: html`Allow mail to <strong>${address}</strong> again? ${WARNINGS[reason]}`,
    action: `${LIST}/remove`,
    formField,
    button: 'Remove from list',
    fields: html`<input type="hidden" name="address" value="${address}">`,
  });
}

// The audit log of a tenant, for its people: newest first, page by page. That of everything is the operator's.
import { type Html, html } from '../../http/html.ts';
import type { AuditEntry } from '../../store/audit.ts';
import { actionInWords } from '../audit-entry.ts';
import { emptyState, pager, table, time } from '../elements.ts';
import { type PageResult, type PortalRoute, page, type VisitOf, view } from '../page.ts';
import { settingsHead } from './settings-nav.ts';
import type { SettingsServices } from './settings-services.ts';

const PATH = '/portal/settings/audit';
const PER_PAGE = 50;

export function auditPage(services: SettingsServices): PortalRoute {
  return page({ path: PATH, access: 'viewer', show: (visit) => show(services, visit) });
}

async function show({ store }: SettingsServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const before = readBefore(visit.query.get('before'));
  const entries = await store.audit.listAudit(visit.visitor.tenant.id, { before, limit: PER_PAGE + 1 });
  const rows = entries.slice(0, PER_PAGE).map((entry) => [
    time(entry.at),
    // Who works for the operator is not the tenant's affair.
    entry.actor === 'operator' || entry.actor === 'command' ? 'the operator' : entry.who,
    actionInWords(entry.action),
    details(entry),
    entry.actor !== 'operator' && entry.actor !== 'command' && entry.address
      ? html`<code class="unbroken">${entry.address}</code>`
      : null,
  ]);
  const list =
    rows.length === 0
      ? emptyState('No changes recorded yet', 'Every change to keys, domains, members and settings appears here.')
      : table({ caption: 'Changes', heads: ['When', 'Who', 'What', 'Details', 'From'] }, rows);
  return view({
    title: 'Audit log',
    body: html`${settingsHead('Audit log', PATH)}
<p class="hint">Who changed what, newest first. Entries can’t be changed or removed.</p>
${list}${pages(before, entries)}`,
  });
}

function readBefore(text: string | null): number | null {
  const seq = Number(text);
  return text !== null && Number.isSafeInteger(seq) && seq > 0 ? seq : null;
}

function pages(before: number | null, entries: readonly AuditEntry[]): Html | null {
  const next = entries.length > PER_PAGE ? `${PATH}?before=${entries[PER_PAGE - 1]!.seq}` : null;
  return pager({ first: before === null ? null : PATH, next });
}

/** What operators write for each other. The reason of a cancellation is for the tenant. */
const INTERNAL_NOTES = ['queue.pause', 'queue.resume', 'queue.retry'];

function details({ actor, action, data }: AuditEntry): Html | null {
  const isInternal = (name: string) =>
    actor === 'command' && (name === 'by' || (name === 'reason' && INTERNAL_NOTES.includes(action)));
  const shown = Object.entries(data).filter(([name, value]) => value !== null && !isInternal(name));
  if (shown.length === 0) return null;
  return html`<ul class="details">${shown.map(
    ([name, value]) => html`<li><span class="quiet">${name.replaceAll('_', ' ')}</span> ${String(value)}</li>`,
  )}</ul>`;
}

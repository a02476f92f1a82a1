// The audit log for operators: their own acts and those of the command line, or everybody's.

import { type HtmlPart, html } from '../../http/html.ts';
import type { AuditEntry } from '../../store/audit.ts';
import type { StoreVerbs } from '../../store/store.ts';
import { actionInWords } from '../audit-entry.ts';
import { emptyState, heading, pager, select, table, time } from '../elements.ts';
import { type PageResult, type PortalRoute, page, type VisitOf, view } from '../page.ts';
import { TENANTS_PATH } from './tenants-page.ts';

export interface AuditServices {
  store: StoreVerbs<{ audit: 'listAllAudit' }>;
}

const PATH = '/portal/operator/audit';
const PER_PAGE = 50;
/** What others did is passed over; so much at once, and so often. */
const LOOKED_AT_ONCE = 500;
const MOST_LOOKS = 10;

export function auditPage(services: AuditServices): PortalRoute {
  return page({ path: PATH, access: 'operator', show: (visit) => show(services, visit) });
}

async function show(services: AuditServices, { query }: VisitOf<'operator'>): Promise<PageResult> {
  const who = query.get('who') === 'everybody' ? 'everybody' : 'operators';
  const wished = Number(query.get('before') ?? '');
  const before = Number.isSafeInteger(wished) && wished > 0 ? wished : null;
  const { entries, next } = await entriesOf(services, who, before);
  const choices = [
    { value: 'operators', label: 'operators and the command line' },
    { value: 'everybody', label: 'everyone' },
  ];
  const rows = entries.map(rowOf);
  const pathOf = (change: Record<string, string>) => `${PATH}?${new URLSearchParams({ who, ...change })}`;
  const body = html`${heading('Audit log')}
<form class="filters" method="get" action="${PATH}" data-submit-on-change>${select({ name: 'who', label: 'Performed by' }, choices, who)}<button>Show</button></form>
${rows.length === 0 ? emptyState(next === null ? 'No entries yet' : 'No entries on this page', next === null ? 'Every change made by an operator is recorded here.' : 'Older pages may have some.') : table({ caption: 'Audit log', heads: ['When', 'Who', 'What', 'Details'] }, rows)}
${pager({ first: before === null ? null : pathOf({}), next: next === null ? null : pathOf({ before: String(next) }) })}`;
  return view({ title: 'Audit log', body });
}

async function entriesOf(
  { store }: AuditServices,
  who: 'operators' | 'everybody',
  before: number | null,
): Promise<{ entries: AuditEntry[]; next: number | null }> {
  const entries: AuditEntry[] = [];
  let cursor = before;
  for (let look = 0; look < MOST_LOOKS; look++) {
    const found = await store.audit.listAllAudit({ before: cursor, limit: LOOKED_AT_ONCE });
    for (const entry of found) {
      if (who === 'operators' && entry.actor !== 'operator' && entry.actor !== 'command') continue;
      if (entries.length === PER_PAGE) return { entries, next: entries.at(-1)!.seq };
      entries.push(entry);
    }
    if (found.length < LOOKED_AT_ONCE) return { entries, next: null };
    cursor = found.at(-1)!.seq;
  }
  return { entries, next: cursor };
}

function rowOf({ at, actor, who, address, action, data, tenantId }: AuditEntry): HtmlPart[] {
  const details = Object.entries(data).filter(([name, value]) => name !== 'tenant_id' && value !== null);
  const tenant = tenantId ?? (typeof data.tenant_id === 'string' ? data.tenant_id : null);
  return [
    time(at),
    html`${who}<br><span class="quiet">${[who === ACTORS[actor] ? '' : ACTORS[actor], address ?? ''].filter(Boolean).join(', ')}</span>`,
    actionInWords(action),
    html`${tenant !== null && html`<a href="${TENANTS_PATH}/${tenant}">tenant</a>${details.length > 0 && ' · '}`}${details.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`).join(' · ')}`,
  ];
}

const ACTORS = {
  user: 'user',
  operator: 'operator',
  command: 'command line',
  system: 'the service itself',
  key: 'API key',
} as const;

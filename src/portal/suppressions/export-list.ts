// The suppression list as a CSV file. One file has a bounded number of addresses; a longer list comes in
// parts, and says so before it begins.
import { html } from '../../http/html.ts';
import { csvLine, TENANT_COLUMNS, tenantCsvLine } from '../../suppression/csv.ts';
import { heading } from '../elements.ts';
import { document, type PageResult, type VisitOf, view } from '../page.ts';
import { LIST, type SuppressionServices } from './suppression-services.ts';

const PER_FILE = 100_000;
const AT_ONCE = 1000;

export async function exportList(services: SuppressionServices, visit: VisitOf<'viewer'>): Promise<PageResult> {
  const after = visit.query.get('after');
  const read = await readFrom(services, visit.visitor.tenant.id, after);
  if ('reason' in read) {
    const body = html`${heading('Export')}<p class="notice warn">${read.reason}</p>`;
    return view({ title: 'Export', status: 503, body });
  }
  const isWhole = after === null && read.next === null;
  if (!isWhole && !visit.query.has('part')) return partsPage(after, read.next);
  // The header line is no address.
  const addresses = read.csv.split('\n').length - 2;
  await visit.audit('suppression.exported', { addresses });
  const day = new Date(visit.now).toISOString().slice(0, 10);
  return document(read.csv, {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="suppressions-${day}.csv"`,
    'Content-Security-Policy': "default-src 'none'; sandbox",
  });
}

type Read = { csv: string; next: string | null } | { reason: string };

async function readFrom({ reads, turn }: SuppressionServices, tenantId: string, start: string | null): Promise<Read> {
  const lines = [csvLine(TENANT_COLUMNS)];
  let after = start;
  do {
    const outcome = await reads.searchSuppressions(tenantId, { prefix: '', reason: null, after, limit: AT_ONCE });
    if (outcome.kind === 'refused') return { reason: outcome.reason };
    lines.push(...outcome.value.entries.map(tenantCsvLine));
    after = outcome.value.next;
    await turn();
  } while (after !== null && lines.length <= PER_FILE);
  return { csv: lines.join(''), next: after };
}

function partsPage(after: string | null, next: string | null): PageResult {
  const path = (start: string | null, part: boolean) => {
    const query = new URLSearchParams({ ...(start !== null && { after: start }), ...(part && { part: 'on' }) });
    return `${LIST}/export?${query}`;
  };
  const body = html`<p class="crumb"><a href="${LIST}">Suppressions</a></p>${heading('Export')}
<p>The list has more addresses than fit in one file (${PER_FILE.toLocaleString('en')}), so it is split into parts.</p>
<p class="actions"><a class="button primary" href="${path(after, true)}">Download this part</a>${next !== null && html`<a class="button" href="${path(next, false)}">Next part</a>`}</p>`;
  return view({ title: 'Export', body });
}

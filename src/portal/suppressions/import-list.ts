// Importing a suppression list from a CSV file or from pasted text: all of it, or nothing, unless lines that
// cannot be used are to be left out.
import { utf8Text } from '../../base/text/read-text.ts';
import { type Html, html } from '../../http/html.ts';
import { SUPPRESSION_REASONS, type SuppressionReason } from '../../store/suppressions.ts';
import { addInTurns } from '../../suppression/add-in-turns.ts';
import {
  ignoredSentence,
  type LineProblem,
  lineSentence,
  NOT_UTF8,
  readSuppressionCsvInTurns,
} from '../../suppression/csv.ts';
import { checkbox, field, heading, problemBox, select } from '../elements.ts';
import { type PageResult, redirect, type VisitOf, view } from '../page.ts';
import { LIST, type SuppressionServices } from './suppression-services.ts';

export const IMPORT_LIMIT_BYTES = 5 * 1024 * 1024;
const MOST_LINES = 100_000;
const MOST_PROBLEMS_SHOWN = 30;
/** More is not sent back into the field when something was wrong. */
const MOST_PASTED_CHARS = 500_000;
const TOO_LONG_TO_SHOW = 'Paste the addresses once more: so many are not sent back.';

interface Attempt {
  problem: string | null;
  problems: readonly (LineProblem | string)[];
  pasted: string;
  reason: SuppressionReason;
  skips: boolean;
}

const FRESH: Attempt = { problem: null, problems: [], pasted: '', reason: 'manual', skips: false };

export function showImport(visit: VisitOf<'member'>): PageResult {
  return view({ title: 'Import suppressions', body: importForm(visit, FRESH) });
}

export async function importList(services: SuppressionServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const file = visit.files.get('file');
  const pasted = visit.form.get('pasted') ?? '';
  const reason = SUPPRESSION_REASONS.find((known) => known === visit.form.get('reason')) ?? 'manual';
  const skips = visit.form.has('skip');
  const again = (problem: string, problems: readonly (LineProblem | string)[] = []) => {
    const isLong = pasted.length > MOST_PASTED_CHARS;
    const said = isLong ? `${problem} ${TOO_LONG_TO_SHOW}` : problem;
    const attempt = { problem: said, problems, reason, skips, pasted: isLong ? '' : pasted };
    return view({ title: 'Import suppressions', status: 422, body: importForm(visit, attempt) });
  };
  const text = file && file.bytes.length > 0 ? utf8Text(file.bytes) : pasted;
  if (text === null) return again(`The file ${NOT_UTF8}`);
  if (text.trim() === '') return again('Choose a file, or paste addresses into the field.');
  const defaults = { reason, now: visit.now, allowBareList: true, maxLines: MOST_LINES };
  const read = await readSuppressionCsvInTurns(text, defaults, services.turn);
  if (read === null)
    return again(`There are more than ${MOST_LINES.toLocaleString('en')} lines. Import the list in several parts.`);
  const { entries, problems, ignored, broken } = read;
  if (broken !== undefined) return again('Nothing was imported: a quote is not closed.', [broken]);
  if (problems.length > 0 && !skips) return again('Nothing was imported: some lines are invalid.', problems);
  if (entries.length === 0) return again('No addresses found.', problems);
  const added = await addInTurns(services, visit.visitor.tenant.id, entries);
  const counts = { added, known: entries.length - added, left_out: problems.length };
  await visit.audit('suppression.imported', counts);
  return redirect(LIST, resultSentence(counts, ignored));
}

interface Counts {
  added: number;
  known: number;
  left_out: number;
}

function resultSentence({ added, known, left_out: leftOut }: Counts, ignored: readonly string[]): string {
  const sentences = [
    `${counted(added, 'address was added', 'addresses were added')}.`,
    known > 0 &&
      `${counted(known, 'was already on the list and keeps its reason', 'were already on the list and keep their reasons')}.`,
    leftOut > 0 && `${counted(leftOut, 'line was skipped', 'lines were skipped')}.`,
    ignoredSentence(ignored),
  ];
  return sentences.filter(Boolean).join(' ');
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

function importForm({ formField }: VisitOf<'member'>, { problem, problems, pasted, reason, skips }: Attempt): Html {
  const example = html`The first line names the columns: <code>address</code> (or <code>email</code>), and optionally <code>reason</code> (${SUPPRESSION_REASONS.join(', ')}) and <code>created_at</code>. A plain list of addresses, one per line, works as well. Most exports of other services are understood; columns that are ignored are named afterwards.`;
  const choices = SUPPRESSION_REASONS.map((value) => ({ value, label: value }));
  const hint = 'For lines without a reason.';
  return html`<p class="crumb"><a href="${LIST}">Suppressions</a></p>
${heading('Import suppressions')}
${problemBox(problem)}${problems.length > 0 && problemList(problems)}
<p class="quiet">${example} Addresses already on the list keep their reason.</p>
<form method="post" action="${LIST}/import" enctype="multipart/form-data" class="card">${formField}
<div class="field"><label for="field-file">CSV file</label><p class="hint" id="field-file-hint">At most 5 MiB and ${MOST_LINES.toLocaleString('en')} lines.</p><input type="file" id="field-file" name="file" accept=".csv,.txt,text/csv,text/plain" aria-describedby="field-file-hint"></div>
${field({ name: 'pasted', label: 'Or paste it here', value: pasted, rows: 8 })}
${select({ name: 'reason', label: 'Reason', hint }, choices, reason)}
${checkbox({ name: 'skip', label: 'Skip invalid lines', hint: 'Otherwise one invalid line stops the whole import.', checked: skips })}
<button class="primary">Import</button></form>`;
}

function problemList(problems: readonly (LineProblem | string)[]): Html {
  const more = problems.length - MOST_PROBLEMS_SHOWN;
  const shown = problems
    .slice(0, MOST_PROBLEMS_SHOWN)
    .map((each) => (typeof each === 'string' ? each : lineSentence(each)));
  return html`<ul>${shown.map((each) => html`<li>${each}</li>`)}${more > 0 && html`<li>and ${more.toLocaleString('en')} more</li>`}</ul>`;
}

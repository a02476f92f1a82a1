// suppression import | export: lists as CSV files. A file is read here, where the path means what the
// operator meant, and handed to the writer in portions that its socket takes.
import { readFileSync, statSync } from 'node:fs';
import { counted } from '../../base/text/counted.ts';
import { utf8Text } from '../../base/text/read-text.ts';
import { systemWords } from '../../base/text/system-words.ts';
import { type Answer, done, failed } from '../../operator/answer.ts';
import { SUPPRESSION_REASONS, type Suppression, type SuppressionReason } from '../../store/suppressions.ts';
import {
  csvLine,
  ignoredSentence,
  lineSentence,
  NOT_UTF8,
  PLATFORM_COLUMNS,
  platformCsvLine,
  readSuppressionCsv,
  TENANT_COLUMNS,
  tenantCsvLine,
} from '../../suppression/csv.ts';
import { localCommand, storeCommand } from '../command.ts';
import { flag, oneOf, positional, required, suppressedAddress, tenantName, text, verbatim } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { runWhereTheWriterIs } from '../with-services.ts';
import { noteAct } from './audit-note.ts';
import { scope, scopeProblem } from './suppression.ts';

const PAGE = 1000;
/** As many as the control socket carries with room to spare. */
const MAX_EXPORTED = 200_000;

export const suppressionExport = storeCommand({
  name: 'suppression export',
  summary: `Prints a list as CSV, at most ${MAX_EXPORTED} addresses; continue with --after.`,
  options: { ...scope, after: suppressedAddress('start after this address') },
  check: scopeProblem,
  async run(services, { tenant, after }) {
    const { store } = services;
    const lines = [csvLine(tenant === undefined ? PLATFORM_COLUMNS : TENANT_COLUMNS)];
    let cursor = after ?? null;
    while (lines.length <= MAX_EXPORTED) {
      const page = { after: cursor, limit: Math.min(PAGE, MAX_EXPORTED + 1 - lines.length) };
      const found =
        tenant === undefined
          ? (await store.suppressions.listPlatformSuppressions(page)).map(
              (entry) => [entry.address, platformCsvLine(entry)] as const,
            )
          : (await store.suppressions.listSuppressions(tenant, page)).map(
              (entry) => [entry.address, tenantCsvLine(entry)] as const,
            );
      lines.push(...found.map(([, line]) => line));
      cursor = found.length < page.limit ? null : found.at(-1)![0];
      if (cursor === null) break;
    }
    const addresses = lines.length - 1;
    const list = tenant === undefined ? 'platform_suppression' : 'suppression';
    await recordAct(services, tenant ?? null, `${list}.exported`, { addresses });
    return done({ csv: lines.join(''), addresses, next: cursor });
  },
  render: ({ csv }) => csv.trimEnd(),
  note: ({ addresses, next }) =>
    next === null
      ? null
      : `Only ${counted(addresses, 'address was', 'addresses were')} exported: continue with --after ${next}`,
});

const MAX_FILE_OCTETS = 100 * 1024 * 1024;
const MAX_PROBLEMS_TOLD = 10;
/** A request to the control socket is 64 KiB at most; JSON in JSON doubles its quotes. */
const MAX_PORTION_CHARACTERS = 24 * 1024;

export const suppressionImport = localCommand({
  name: 'suppression import',
  summary: "Adds addresses from a CSV file to a tenant's list. Existing entries keep their reason.",
  options: {
    file: required(
      positional(
        text(
          'FILE',
          'CSV whose first line names the columns: address, reason, created_at; or an export of another service',
        ),
      ),
    ),
    tenant: required(tenantName('the list of this tenant')),
    reason: oneOf('REASON', SUPPRESSION_REASONS, 'for lines without a reason; default: manual'),
    'skip-invalid': flag('skip invalid lines instead of importing nothing'),
  },
  async run(context, { file, tenant: named, reason = 'manual', ...switches }): Promise<Answer<Imported>> {
    const read = readFile(file, reason);
    if (typeof read === 'string') return failed(read);
    const { entries, problems, ignored, broken } = read;
    if (broken !== undefined) return failed(`nothing was imported: ${file} can't be read: ${broken}`);
    if (problems.length > 0 && !switches['skip-invalid']) {
      const told = problems.slice(0, MAX_PROBLEMS_TOLD).map(lineSentence).join('\n');
      return failed(`nothing was imported: ${file} has ${counted(problems.length, 'invalid line')}:\n${told}`);
    }
    const { config } = await context.loadConfig();
    // From the first portion on by its ID: a name may change meanwhile.
    let [tenant, added] = [named, 0];
    let ended: Answer = done(null);
    for (const rows of portions(entries)) {
      ended = await runWhereTheWriterIs(suppressionImportRows, { tenant, rows }, { config, say: context.complain });
      if (ended.kind !== 'done') break;
      const portion = ended.result as { tenant: string; added: number };
      [tenant, added] = [portion.tenant, added + portion.added];
    }
    // A file that was read in part is in the log with what came of it.
    const isWhole = ended.kind === 'done';
    const data = { addresses: entries.length, added, complete: isWhole };
    if (isWhole || added > 0) await noteAct(context, config, { tenant, action: 'suppression.imported', data });
    if (!isWhole) return ended as Answer<never>;
    const counts = { addresses: entries.length, added, known: entries.length - added, skipped: problems.length };
    return done({ ...counts, ignored_columns: ignored });
  },
  render({ added, known, skipped, ignored_columns: ignored }) {
    const sentence = ignoredSentence(ignored);
    return `${counted(added, 'address', 'addresses')} added, ${known} already on the list, ${counted(skipped, 'line')} skipped.${sentence === null ? '' : ` ${sentence}`}`;
  },
});

interface Imported {
  addresses: number;
  added: number;
  known: number;
  skipped: number;
  ignored_columns: string[];
}

function readFile(file: string, reason: SuppressionReason) {
  try {
    if (statSync(file).size > MAX_FILE_OCTETS) return `${file} is larger than ${MAX_FILE_OCTETS / 1024 / 1024} MiB`;
    const content = utf8Text(readFileSync(file));
    if (content === null) return `nothing was imported: ${file} ${NOT_UTF8}`;
    return readSuppressionCsv(content, { reason, now: Date.now() });
  } catch (error) {
    return `${file} cannot be read: ${systemWords(error)}`;
  }
}

/** As JSON, each short enough for one request; one at least, so that the tenant is looked for. */
function* portions(entries: readonly Suppression[]): Generator<string> {
  let rows: unknown[] = [];
  let [characters, yielded] = [0, 0];
  for (const { address, reason, createdAt } of entries) {
    characters += address.length + 50;
    rows.push([address, reason, createdAt]);
    if (characters < MAX_PORTION_CHARACTERS) continue;
    yield JSON.stringify(rows);
    [rows, characters, yielded] = [[], 0, yielded + 1];
  }
  if (rows.length > 0 || yielded === 0) yield JSON.stringify(rows);
}

/** What `suppression import` asks the writer for; no command of its own. */
export const suppressionImportRows = storeCommand({
  name: 'suppression import rows',
  summary: 'A portion of a file that is imported.',
  options: { tenant: required(tenantName('whose list')), rows: required(verbatim('JSON', 'address, reason, time')) },
  async run({ store }, { tenant, rows }) {
    const entries = (JSON.parse(rows) as [string, SuppressionReason, number][]).map(([address, reason, createdAt]) => {
      return { address, reason, createdAt, messageId: null };
    });
    return done({ tenant, added: await store.suppressions.importSuppressions(tenant, entries) });
  },
  render: ({ added }) => `${added} added.`,
});

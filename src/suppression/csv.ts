// Suppression lists as CSV (RFC 4180), as the portal and the command line import and export them. The
// first line names the columns; only `address` is required, and those that are not understood are named.
import { SECOND_MS, toTimestamp } from '../base/clock.ts';
import { parseAddress, suppressionKey } from '../protocol/mail/addresses/address.ts';
import {
  type PlatformSuppression,
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from '../store/suppressions.ts';
import { type ReadColumns, readColumns, readReason } from './csv-names.ts';

export const TENANT_COLUMNS = ['address', 'reason', 'created_at', 'message_id'] as const;
export const PLATFORM_COLUMNS = [
  'address',
  'reason',
  'created_at',
  'expires_at',
  'rule',
  'mx_group',
  'message_id',
] as const;

export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => quoted(cell ?? '')).join(',')}\r\n`;
}

function quoted(cell: string): string {
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Spreadsheets run such cells as formulas, and anyone can get an address onto a list. A leading apostrophe makes it
 * text; a cell that has one already gets another, so that an import can remove exactly what an export added.
 */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

function withoutApostrophe(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

export function tenantCsvLine({ address, reason, createdAt, messageId }: Suppression): string {
  return csvLine([address, reason, toTimestamp(createdAt), messageId]);
}

export function platformCsvLine(entry: PlatformSuppression): string {
  const { address, createdAt, expiresAt, rule, mxGroup, messageId } = entry;
  return csvLine([address, 'hard_bounce', toTimestamp(createdAt), toTimestamp(expiresAt), rule, mxGroup, messageId]);
}

/** After the name of a file. Decoded all the same, each foreign letter would become U+FFFD, and the address another one. */
export const NOT_UTF8 = 'is not UTF-8 text. Save it as CSV in UTF-8 and import it again.';

export interface ImportedSuppressions {
  entries: Suppression[];
  problems: LineProblem[];
  /** The names of columns that are not understood, as they were written. */
  ignored: string[];
  /** The file can't be used: an unclosed quote swallows everything after it. */
  broken?: string;
}

/** Why a line can't be used. */
export interface LineProblem {
  /** From 1, as editors count. */
  line: number;
  problem: string;
}

const MAX_COLUMNS_NAMED = 10;
const MAX_NAMED_CHARS = 40;

/** Null if there are none. */
export function ignoredSentence(ignored: readonly string[]): string | null {
  if (ignored.length === 0) return null;
  const named = ignored.slice(0, MAX_COLUMNS_NAMED).map((name) => name.slice(0, MAX_NAMED_CHARS));
  const more = ignored.length - named.length;
  return `Ignored columns: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}

export function lineSentence({ line, problem }: LineProblem): string {
  return `line ${line}: ${problem}`;
}

export interface ImportDefaults {
  reason: SuppressionReason;
  now: number;
  /** Also accepts a plain list of addresses, as people paste it, without a line of column names. */
  allowBareList?: boolean;
}

export function readSuppressionCsv(text: string, defaults: ImportDefaults): ImportedSuppressions {
  const all: ImportedSuppressions = { entries: [], problems: [], ignored: [] };
  for (const read of readLines(text, defaults)) if (read !== null) addTo(read, all);
  return all;
}

/** Lines read per event-loop turn: some milliseconds. */
const LINES_PER_TURN = 250;

/** The same without blocking the event loop; null when there are more lines than `maxLines`. */
export async function readSuppressionCsvInTurns(
  text: string,
  defaults: ImportDefaults & { maxLines: number },
  turn: () => Promise<unknown>,
): Promise<ImportedSuppressions | null> {
  const all: ImportedSuppressions = { entries: [], problems: [], ignored: [] };
  let lines = 0;
  for (const read of readLines(text, defaults)) {
    if (read === null) {
      await turn();
      continue;
    }
    addTo(read, all);
    if ('ignored' in read) continue;
    if (++lines > defaults.maxLines) return null;
    if (lines % LINES_PER_TURN === 0) await turn();
  }
  return all;
}

function addTo(read: ReadPart, all: ImportedSuppressions): void {
  if ('problem' in read) all.problems.push(read);
  else if ('ignored' in read) all.ignored = read.ignored;
  else if ('unclosedAt' in read) all.broken = `line ${read.unclosedAt}: the quote opened here is never closed`;
  else all.entries.push(read);
}

type ReadPart = Suppression | Unclosed | LineProblem | Pick<ImportedSuppressions, 'ignored'>;

/** Entries, problems with lines, once the columns that are ignored, and null where the caller should yield. */
function* readLines(text: string, defaults: ImportDefaults): Generator<ReadPart | null> {
  const rows = readCsv(text);
  let first = rows.next();
  for (; !first.done && first.value === null; first = rows.next()) yield null;
  if (first.done || first.value === null) return yield NO_COLUMN;
  if (isUnclosed(first.value)) return yield first.value;
  const { cells } = first.value;
  const isList =
    defaults.allowBareList === true && cells.length === 1 && parseAddress(withoutApostrophe(cells[0]!.trim())).ok;
  const columns = readColumns(isList ? ['address'] : cells);
  if (columns.at.address < 0) return yield NO_COLUMN;
  yield { ignored: columns.ignored };
  const read = (row: CsvRow) => (isList && hasMore(row) ? tooMuch(row) : readLine(row, columns, defaults));
  if (isList) yield read(first.value);
  for (const row of rows) yield row && (isUnclosed(row) ? row : read(row));
}

/** In a plain list, where nothing says what else a line may be. */
function hasMore({ cells }: CsvRow): boolean {
  return cells.slice(1).some((cell) => cell.trim() !== '');
}

function tooMuch({ line }: CsvRow): LineProblem {
  return { line, problem: 'has more than one address; write one per line, or name the columns in the first line' };
}

/** Instead of a row that ends inside quotes: the line where the quote opens. */
interface Unclosed {
  unclosedAt: number;
}

function isUnclosed(row: CsvRow | Unclosed): row is Unclosed {
  return 'unclosedAt' in row;
}

/** The only problem of a text that has it. */
export const NO_COLUMN: LineProblem = { line: 1, problem: 'there is no column "address"' };

function readLine({ line, cells }: CsvRow, { at }: ReadColumns, defaults: ImportDefaults): Suppression | LineProblem {
  const cell = (position: number) => (position < 0 ? '' : (cells[position] ?? '').trim());
  const row = {
    address: withoutApostrophe(cell(at.address)),
    reason: cell(at.reason),
    createdAt: cell(at.createdAt),
  };
  const read = readRow(row, defaults);
  return typeof read === 'string' ? { line, problem: read } : read;
}

function readRow(
  row: { address: string; reason: string; createdAt: string },
  { reason: usualReason, now }: ImportDefaults,
): Suppression | string {
  const parsed = parseAddress(row.address);
  if (!parsed.ok) return `"${row.address.slice(0, 100)}" is not an email address: ${parsed.reason}`;
  const reason = row.reason === '' ? usualReason : readReason(row.reason);
  if (reason === undefined) return `"${row.reason.slice(0, 100)}" must be one of ${SUPPRESSION_REASONS.join(', ')}`;
  const createdAt = row.createdAt === '' ? now : timeOf(row.createdAt);
  if (Number.isNaN(createdAt)) return `"${row.createdAt.slice(0, 100)}" is not a time`;
  return { address: suppressionKey(parsed.address), reason, messageId: null, createdAt: Math.min(createdAt, now) };
}

/** SendGrid exports seconds since 1970. */
function timeOf(text: string): number {
  return /^\d{9,10}$/.test(text) ? Number(text) * SECOND_MS : Date.parse(text);
}

interface CsvRow {
  line: number;
  cells: string[];
}

/** Limits on cells per line and characters per cell: nothing beyond them can be an address. */
const MAX_CELLS = 100;
const MAX_CELL_CHARS = 2000;
/** Characters read per event-loop turn: some milliseconds. */
const CHARS_PER_TURN = 65_536;

/** Comma, or what spreadsheets write where that is in numbers; the one that comes first is that of the file. */
const SEPARATORS = ',;';

/** Skips empty lines. Yields null from time to time, where the caller should let others run. */
function* readCsv(text: string): Generator<CsvRow | Unclosed | null> {
  let cells: string[] = [];
  let cell = '';
  let [line, startedAt, quotedAt] = [1, 1, 1];
  let separators = SEPARATORS;
  let isQuoted = false;
  let hasJustClosed = false;
  let chars = 0;
  const add = (char: string) => {
    if (cell.length < MAX_CELL_CHARS) cell += char;
  };
  const endCell = () => {
    if (cells.length < MAX_CELLS) cells.push(cell);
    cell = '';
  };
  const endRow = (): CsvRow | null => {
    endCell();
    const row = { line: startedAt, cells };
    cells = [];
    startedAt = line;
    return row.cells.some((one) => one.trim() !== '') ? row : null;
  };
  // Spreadsheets write a byte order mark first.
  for (const char of text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')) {
    if (++chars % CHARS_PER_TURN === 0) yield null;
    if (char === '\n') line++;
    const isDoubled = hasJustClosed && char === '"';
    hasJustClosed = isQuoted && char === '"';
    if (isQuoted) {
      if (hasJustClosed) isQuoted = false;
      else add(char);
    } else if (char === '"') {
      // A doubled quote inside a quoted cell closes it and opens it again.
      if (isDoubled) add('"');
      else quotedAt = line;
      isQuoted = true;
    } else if (separators.includes(char)) {
      separators = char;
      endCell();
    } else if (char === '\n') {
      const row = endRow();
      if (row) yield row;
    } else add(char);
  }
  if (isQuoted) return yield { unclosedAt: quotedAt };
  const row = endRow();
  if (row) yield row;
}

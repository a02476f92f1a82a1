// Suppression lists as CSV (RFC 4180): what portal and command line import and export. The first
// line names the columns; only `address` must be there.
import { toTimestamp } from '../base/clock.ts';
import { parseAddress, suppressionKey } from '../protocol/mail/address.ts';
import {
  type PlatformSuppression,
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
} from '../store/suppressions.ts';

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
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export function tenantCsvLine({ address, reason, createdAt, messageId }: Suppression): string {
  return csvLine([address, reason, toTimestamp(createdAt), messageId]);
}

export function platformCsvLine(entry: PlatformSuppression): string {
  const { address, createdAt, expiresAt, rule, mxGroup, messageId } = entry;
  return csvLine([address, 'hard_bounce', toTimestamp(createdAt), toTimestamp(expiresAt), rule, mxGroup, messageId]);
}

export interface ImportedSuppressions {
  entries: Suppression[];
  /** Sentences that begin with the number of the line. */
  problems: string[];
}

export interface ImportDefaults {
  reason: SuppressionReason;
  now: number;
}

/** What a spreadsheet of somebody else calls the column. */
const ADDRESS_NAMES = ['address', 'email', 'e-mail', 'email_address', 'recipient'];

export function readSuppressionCsv(text: string, defaults: ImportDefaults): ImportedSuppressions {
  const [header, ...rows] = readCsv(text);
  const names = header?.cells.map((name) => name.trim().toLowerCase()) ?? [];
  const addressAt = names.findIndex((name) => ADDRESS_NAMES.includes(name));
  if (addressAt < 0) return { entries: [], problems: ['line 1: names no column "address"'] };
  const [reasonAt, createdAt] = [names.indexOf('reason'), names.indexOf('created_at')];
  const entries: Suppression[] = [];
  const problems: string[] = [];
  for (const { line, cells } of rows) {
    const cell = (at: number) => (at < 0 ? '' : (cells[at] ?? '').trim());
    const read = readRow({ address: cell(addressAt), reason: cell(reasonAt), createdAt: cell(createdAt) }, defaults);
    if (typeof read === 'string') problems.push(`line ${line}: ${read}`);
    else entries.push(read);
  }
  return { entries, problems };
}

function readRow(
  row: { address: string; reason: string; createdAt: string },
  { reason: usualReason, now }: ImportDefaults,
): Suppression | string {
  const parsed = parseAddress(row.address);
  if (!parsed.ok) return `"${row.address.slice(0, 100)}" is no address: ${parsed.reason}`;
  const reason =
    row.reason === '' ? usualReason : SUPPRESSION_REASONS.find((known) => known === row.reason.toLowerCase());
  if (reason === undefined) return `"${row.reason.slice(0, 100)}" is none of ${SUPPRESSION_REASONS.join(', ')}`;
  const createdAt = row.createdAt === '' ? now : Date.parse(row.createdAt);
  if (Number.isNaN(createdAt)) return `"${row.createdAt.slice(0, 100)}" is no time`;
  return { address: suppressionKey(parsed.address), reason, messageId: null, createdAt: Math.min(createdAt, now) };
}

interface CsvRow {
  line: number;
  cells: string[];
}

/** Lines that are empty are left out. */
function readCsv(text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  let cell = '';
  let [line, startedAt] = [1, 1];
  let isQuoted = false;
  let hasJustClosed = false;
  const endRow = () => {
    cells.push(cell);
    if (cells.some((one) => one.trim() !== '')) rows.push({ line: startedAt, cells });
    cells = [];
    cell = '';
    startedAt = line;
  };
  // A byte order mark is what spreadsheets begin with.
  for (const char of text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')) {
    if (char === '\n') line++;
    const isDoubled = hasJustClosed && char === '"';
    hasJustClosed = isQuoted && char === '"';
    if (isQuoted) {
      if (hasJustClosed) isQuoted = false;
      else cell += char;
    } else if (char === '"') {
      // A doubled quote inside a quoted cell closes it and opens it again.
      if (isDoubled) cell += '"';
      isQuoted = true;
    } else if (char === ',' || char === ';') {
      cells.push(cell);
      cell = '';
    } else if (char === '\n') endRow();
    else cell += char;
  }
  endRow();
  return rows;
}

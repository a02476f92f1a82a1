// POST /suppressions/import: many addresses at once, from a list or from CSV as the portal and the command line read it.
// What can be used is added; the rest is answered by its place.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import { parseAddress, suppressionKey } from '../../protocol/mail/addresses/address.ts';
import type { Suppression, SuppressionReason } from '../../store/suppressions.ts';
import { type AddInTurnsKit, addInTurns } from '../../suppression/add-in-turns.ts';
import { lineSentence, NO_COLUMN, readSuppressionCsvInTurns } from '../../suppression/csv.ts';
import { ok } from '../answer.ts';
import { loadBodyShape } from '../body-shape.ts';
import type { Endpoint } from '../endpoint.ts';
import { invalid } from '../query.ts';

const MAX_LINES = 10_000;
const MAX_REFUSALS_SHOWN = 100;
/** A full import costs as much as a hundred calls, since each address is a row to write. */
const ADDRESSES_PER_CALL = 100;
/** Reading them takes less than a millisecond. */
const ADDRESSES_PER_TURN = 250;

export interface SuppressionImportParts {
  clock: Clock;
  store: AddInTurnsKit['store'];
}

interface ImportBody {
  addresses?: string[];
  csv?: string;
  reason?: SuppressionReason;
}

interface ReadImport {
  entries: Suppression[];
  refusals: ({ index: number; message: string } | { line: number; message: string })[];
  ignored: string[];
}

export function suppressionImportEndpoint({ clock, store }: SuppressionImportParts): Endpoint {
  const shape = loadBodyShape<ImportBody>('import-suppressions');
  return {
    method: 'POST',
    pattern: '/suppressions/import',
    scope: 'suppressions:write',
    body: 'json',
    async answer({ tenant, read, audit, countAs }) {
      const body = await read(shape);
      if (isRefusal(body)) return body;
      const found = await readImport(body, clock.now());
      if (isRefusal(found)) return found;
      const { entries, refusals, ignored } = found;
      countAs(Math.ceil((entries.length + refusals.length) / ADDRESSES_PER_CALL));
      const added = await addInTurns({ store, turn: () => nextTurn() }, tenant.id, entries);
      const counts = { added, known: entries.length - added };
      await audit('suppression.imported', { ...counts, left_out: refusals.length });
      const refused = { refused: refusals.length, refusals: refusals.slice(0, MAX_REFUSALS_SHOWN) };
      return ok({ ...counts, ...refused, ignored_columns: ignored });
    },
  };
}

async function readImport(body: ImportBody, now: number): Promise<ReadImport | Refusal> {
  const { addresses, csv, reason = 'manual' } = body;
  if (addresses !== undefined && csv !== undefined) return invalid('csv', 'give either addresses or csv, not both.');
  if (addresses !== undefined) return readList(addresses, { reason, messageId: null, createdAt: now });
  return csv === undefined
    ? invalid('addresses', 'this field is required, unless there is csv.')
    : readCsv(csv, { reason, now });
}

async function readList(addresses: readonly string[], entry: Omit<Suppression, 'address'>): Promise<ReadImport> {
  const read: ReadImport = { entries: [], refusals: [], ignored: [] };
  for (const [index, address] of addresses.entries()) {
    const parsed = parseAddress(address.trim());
    if (parsed.ok) read.entries.push({ ...entry, address: suppressionKey(parsed.address) });
    else read.refusals.push({ index, message: parsed.reason });
    if ((index + 1) % ADDRESSES_PER_TURN === 0) await nextTurn();
  }
  return read;
}

async function readCsv(
  csv: string,
  defaults: { reason: SuppressionReason; now: number },
): Promise<ReadImport | Refusal> {
  const limits = { allowBareList: true, maxLines: MAX_LINES };
  const read = await readSuppressionCsvInTurns(csv, { ...defaults, ...limits }, () => nextTurn());
  if (read === null) return invalid('csv', `must have at most ${MAX_LINES} lines with addresses.`);
  const { entries, problems, ignored, broken } = read;
  if (broken !== undefined) return invalid('csv', `${broken}.`);
  if (problems[0] === NO_COLUMN) return invalid('csv', `${lineSentence(NO_COLUMN)}.`);
  return { entries, refusals: problems.map(({ line, problem }) => ({ line, message: problem })), ignored };
}

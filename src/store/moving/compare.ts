// Whether every value of the copy is that of its source: both sides read all rows once more, each on its own, and sum up a
// hash of each.
import { setImmediate as turn } from 'node:timers/promises';
import type { TableSum } from '../postgres/moving/target.ts';
import { OWN_META, type SourceTable } from '../sqlite/moving/source.ts';
import type { BothSides, RowCounts } from './copy.ts';
import { RowBytes, RowSum, type StoredValue } from './row-bytes.ts';

/** So that progress can be shown, and a lost connection be noticed. */
const ROWS_PER_TURN = 2000;

/** A table, and how it differs; null: all is the same. */
export async function findDifference(
  sides: BothSides,
  counts: RowCounts,
): Promise<[table: string, how: string] | null> {
  // Asked all at once, so that PostgreSQL goes on while this side is still reading a table.
  const asked = [...counts.keys()].map((table) => settled(sides.target.sum(table, OWN_META)));
  for (const [index, [table, count]] of [...counts].entries()) {
    const own = await sumHere(sides, table, count);
    const answer = await asked[index]!;
    if ('error' in answer) throw answer.error;
    const { rows, sum } = answer.value;
    if (rows !== own.rows) return [table.name, `${rows} rows instead of ${own.rows}`];
    if (sum !== own.sum) return [table.name, 'the same number of rows, but other values'];
  }
  return null;
}

async function sumHere({ source, progress }: BothSides, table: SourceTable, count: number): Promise<TableSum> {
  const bytes = new RowBytes();
  const own = new RowSum();
  for (const row of source.rows(table, 0)) {
    own.add(bytes.of(row as StoredValue[]));
    if (own.rows % ROWS_PER_TURN > 0) continue;
    await turn();
    progress({ step: 'compare', table: table.name, rows: own.rows, of: count });
  }
  return { rows: own.rows, sum: own.sum };
}

/** An answer may be an error long before anybody waits for it. */
function settled<T>(answer: Promise<T>): Promise<{ value: T } | { error: unknown }> {
  return answer.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

// Searching a tenant's suppression list in SQLite: along its key, over a bounded number of entries.
import type { FoundSuppressions, SuppressionSearch } from '../../reads.ts';
import type { ReadingConnection } from '../engine/reading-connection.ts';
import { type Row, toId } from '../engine/values.ts';
import { bounds, suppressionFromRow } from '../verbs/suppressions.ts';

/** Takes some 10 ms. */
const MAX_SCANNED = 20_000;

export function searchSuppressions(
  db: ReadingConnection,
  tenantId: string,
  { prefix, reason, after, limit }: SuppressionSearch,
): FoundSuppressions {
  const within = `tenant_id = +? AND address > +? AND address >= +? AND address < +?`;
  const scanned = reason === null ? limit + 1 : MAX_SCANNED;
  const of = [toId(tenantId), ...bounds({ after, prefix, limit: scanned })];
  const rows = db
    .sql(
      `SELECT * FROM (SELECT * FROM suppressions WHERE ${within} ORDER BY address LIMIT +?)
       WHERE reason = coalesce(+?, reason) ORDER BY address LIMIT +?`,
    )
    .all(...of, reason, limit + 1) as Row[];
  const entries = rows.slice(0, limit).map(suppressionFromRow);
  if (rows.length > limit) return { entries, next: entries.at(-1)!.address };
  const last = db.sql(`SELECT address FROM suppressions WHERE ${within} ORDER BY address LIMIT 1 OFFSET +?`, 'column');
  const next = last.get(...of.slice(0, -1), scanned - 1) as string | undefined;
  return { entries, next: reason === null ? null : (next ?? null) };
}

// Rows of DMARC reports that have no room of their own are summed up, so that no total is wrong.
import { OTHER_SOURCES } from './dmarc.ts';
import type { DmarcReportRow } from './inbound.ts';

export interface FoldedRows {
  rows: DmarcReportRow[];
  /** How many sources had no room of their own. */
  folded: number;
}

/** The `most` sources with most messages stay; the others are summed up. */
export function foldDmarcRows(all: readonly DmarcReportRow[], most: number): FoldedRows {
  const single = all.filter(({ sourceIp }) => sourceIp !== OTHER_SOURCES);
  if (single.length <= most) return { rows: [...all], folded: 0 };
  const ordered = single.toSorted((a, b) => b.messages - a.messages);
  const sums = new Map<string, DmarcReportRow>();
  for (const row of all) if (row.sourceIp === OTHER_SOURCES) addDmarcRow(sums, row);
  for (const row of ordered.slice(most)) addDmarcRow(sums, { ...row, sourceIp: OTHER_SOURCES });
  return { rows: [...ordered.slice(0, most), ...sums.values()], folded: single.length - most };
}

export function addDmarcRow(rows: Map<string, DmarcReportRow>, row: DmarcReportRow): void {
  const key = `${row.day} ${row.domain} ${row.sourceIp} ${row.disposition} ${row.dkim} ${row.spf}`;
  const known = rows.get(key);
  rows.set(key, known ? { ...known, messages: known.messages + row.messages } : row);
}

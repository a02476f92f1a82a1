// DMARC rows beyond a limit are summed up as "other", so that totals stay right.
import { OTHER_SOURCES } from './dmarc.ts';
import type { DmarcReportRow } from './inbound.ts';

export interface FoldedRows {
  rows: DmarcReportRow[];
  /** How many sources were summed up. */
  folded: number;
}

/** Keeps the `max` sources with the most messages and sums up the others. */
export function foldDmarcRows(all: readonly DmarcReportRow[], max: number): FoldedRows {
  const single = all.filter(({ sourceIp }) => sourceIp !== OTHER_SOURCES);
  if (single.length <= max) return { rows: [...all], folded: 0 };
  const ordered = single.toSorted((a, b) => b.messages - a.messages);
  const sums = new Map<string, DmarcReportRow>();
  for (const row of all) if (row.sourceIp === OTHER_SOURCES) addDmarcRow(sums, row);
  for (const row of ordered.slice(max)) addDmarcRow(sums, { ...row, sourceIp: OTHER_SOURCES });
  return { rows: [...ordered.slice(0, max), ...sums.values()], folded: single.length - max };
}

export function addDmarcRow(rows: Map<string, DmarcReportRow>, row: DmarcReportRow): void {
  const key = `${row.day} ${row.domain} ${row.sourceIp} ${row.disposition} ${row.dkim} ${row.spf}`;
  const known = rows.get(key);
  rows.set(key, known ? { ...known, messages: known.messages + row.messages } : row);
}

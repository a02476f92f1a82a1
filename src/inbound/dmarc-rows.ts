// What of a DMARC report is stored: rows of domains that somebody here sends from, summed up, and no more of
// them than a report may have. Days that no report can be about are refused.

import { DAY_MS } from '../base/clock.ts';
import type { DmarcReport } from '../protocol/mail/dmarc-report.ts';
import { addDmarcRow, type FoldedRows, foldDmarcRows } from '../store/fold-dmarc-rows.ts';
import type { DmarcReportRow } from '../store/inbound.ts';
import type { StoreVerbs } from '../store/store.ts';

/** Receivers report within a day or two; a month is for one that was down. */
const OLDEST_DAYS = 30;
/** For clocks that are wrong, and days that end elsewhere. */
const AHEAD_DAYS = 2;
const MAX_DOMAINS = 200;

/** Why its days cannot be right; null: they can. */
export function objectionToDays({ beginsAt, endsAt }: DmarcReport, now: number): string | null {
  const isFine = beginsAt >= now - OLDEST_DAYS * DAY_MS && endsAt <= now + AHEAD_DAYS * DAY_MS && beginsAt <= endsAt;
  if (isFine) return null;
  const days = `${dayOf(beginsAt)} to ${dayOf(endsAt)}`;
  return `its days, ${days}, are not within the ${OLDEST_DAYS} days before its arrival and the ${AHEAD_DAYS} after it`;
}

/** Of domains that somebody here sends from, summed up: the rest of a report is none of our business. */
export async function rowsOf(
  report: DmarcReport,
  store: StoreVerbs<{ domains: 'findVerifiedHolder' }>,
  maxRows: number,
): Promise<FoldedRows> {
  const day = dayOf(report.beginsAt);
  const known = new Map<string, boolean>();
  const rows = new Map<string, DmarcReportRow>();
  for (const { sourceIp, messages, disposition, dkim, spf, headerFrom } of report.records) {
    if (!known.has(headerFrom)) {
      if (known.size >= MAX_DOMAINS) continue;
      known.set(headerFrom, (await store.domains.findVerifiedHolder(headerFrom)) !== null);
    }
    if (!known.get(headerFrom)) continue;
    addDmarcRow(rows, { domain: headerFrom, day, sourceIp, disposition, dkim, spf, messages });
  }
  return foldDmarcRows([...rows.values()], maxRows);
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

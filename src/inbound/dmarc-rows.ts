// The rows of a DMARC report that are stored: those of tenants' domains, summed up, and no more than the limit
// per report. A report whose days are impossible is refused.

import { DAY_MS } from '../base/clock.ts';
import type { DmarcReport } from '../protocol/mail/reports/dmarc-report.ts';
import { addDmarcRow, type FoldedRows, foldDmarcRows } from '../store/fold-dmarc-rows.ts';
import type { DmarcReportRow } from '../store/inbound.ts';
import type { StoreVerbs } from '../store/store.ts';

/** Receivers report within a day or two; a month allows for one that was down. */
const OLDEST_DAYS = 30;
/** Allows for wrong clocks and other time zones. */
const AHEAD_DAYS = 2;
const MAX_DOMAINS = 200;

/** Why the report's days are impossible; null: they are plausible. */
export function objectionToDays({ beginsAt, endsAt }: DmarcReport, now: number): string | null {
  const isFine = beginsAt >= now - OLDEST_DAYS * DAY_MS && endsAt <= now + AHEAD_DAYS * DAY_MS && beginsAt <= endsAt;
  if (isFine) return null;
  const days = `${dayOf(beginsAt)} to ${dayOf(endsAt)}`;
  return `its days, ${days}, are not within the ${OLDEST_DAYS} days before its arrival and the ${AHEAD_DAYS} after it`;
}

/** Sums up the rows of domains that a tenant sends from; the others are ignored. */
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

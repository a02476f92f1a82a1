// How much of a DMARC report fits: by the rows of its domains' days, and the bytes of the day on which it
// came. Sources that don't fit are summed up; a report is refused when not even its sums fit.

import { OTHER_SOURCES } from '../../../dmarc.ts';
import { addDmarcRow, foldDmarcRows } from '../../../fold-dmarc-rows.ts';
import type { DmarcLimits, DmarcReportRecord, DmarcReportRow } from '../../../inbound.ts';
import { only, type Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';
import { type Holding, leftIn, type Room, roomsFor } from './dmarc-shares.ts';

/** What a report and a row of it take at most in tables and indexes, measured and rounded up; texts are added. */
const REPORT_BYTES = 500;
const ROW_BYTES = 100;
/** Of a domain's day; four honest receivers with that many sources are rare. */
const SHARE_OF_ROWS = 1 / 4;
const SHARE_OF_BYTES = 1 / 8;
/** Reports without a proven sender leave the other half to those with one. */
const UNPROVEN_SHARE_OF_BYTES = 1 / 2;

export interface RoomRequest {
  report: DmarcReportRecord;
  limits: DmarcLimits;
  /** Null: this is its first report. */
  reporter: number | null;
  /** The day of its arrival. */
  day: string;
}

export type RoomGiven =
  | { rows: DmarcReportRow[]; bytes: number; remark: string | null }
  /** Not even its sums fit. */
  | { rows: null; reason: string };

export function* fitReport(db: Transaction, asked: RoomRequest): Steps<RoomGiven> {
  const { report } = asked;
  const bytesLeft = leftIn(yield* bytesOf(db, asked));
  const whole = yield* fitRows(db, asked, report.rows);
  if (whole.rows === null) return whole;
  const bytes = sizeOf({ ...report, rows: whole.rows });
  if (bytes <= bytesLeft.single) return { ...whole, bytes };
  const { of, size } = bytesLeft.tightest;
  const reason = `${of} have taken their ${size} bytes of this day (dmarc.max_mib_per_day)`;
  const { rows: sums, folded } = foldDmarcRows(report.rows, 0);
  const summed = yield* fitRows(db, asked, sums);
  if (summed.rows === null) return summed;
  const fewer = sizeOf({ ...report, rows: summed.rows });
  if (fewer > bytesLeft.sums) return { rows: null, reason };
  return { ...summed, bytes: fewer, remark: `${folded} sources are summed up, since ${reason}` };
}

type Fitted = { rows: DmarcReportRow[]; remark: string | null } | { rows: null; reason: string };

function* fitRows(db: Transaction, asked: RoomRequest, all: readonly DmarcReportRow[]): Steps<Fitted> {
  const days = Map.groupBy(all, ({ day, domain }) => `${day} ${domain}`);
  const rows: DmarcReportRow[] = [];
  const remarks: string[] = [];
  for (const ofDay of days.values()) {
    const fitted = yield* fitDay(db, asked, ofDay);
    if (fitted.rows === null) return fitted;
    rows.push(...fitted.rows);
    if (fitted.remark !== null) remarks.push(fitted.remark);
  }
  return { rows, remark: remarks[0] ?? null };
}

/** Rows of one domain and day. Adding to an existing row needs no room. */
function* fitDay(db: Transaction, asked: RoomRequest, all: readonly DmarcReportRow[]): Steps<Fitted> {
  const { domain, day } = all[0]!;
  const left = leftIn(yield* rowsOf(db, asked, { domain, day }));
  const known = new Set(yield* knownRows(db, asked, all));
  const added = all.filter((row) => !known.has(row));
  const single = added.filter(({ sourceIp }) => sourceIp !== OTHER_SOURCES);
  if (single.length <= left.single && added.length <= left.sums) return { rows: [...all], remark: null };
  const { of, size } = left.tightest;
  const used = `the ${Math.floor(size)} rows for ${of} on ${domain} of ${day} are used up (dmarc.max_rows_per_domain_and_day)`;
  const summed = foldDmarcRows(added, 0).rows;
  const sums = summed.length - (yield* knownRows(db, asked, summed)).length;
  if (sums > left.sums) return { rows: null, reason: used };
  const { rows, folded } = foldDmarcRows(added, Math.min(left.single, left.sums - sums));
  const merged = new Map<string, DmarcReportRow>();
  for (const row of [...known, ...rows]) addDmarcRow(merged, row);
  return { rows: [...merged.values()], remark: folded === 0 ? null : `${folded} sources are summed up, since ${used}` };
}

interface DomainDay {
  domain: string;
  day: string;
}

/** Of rows of one domain and day, those that add to a row that exists. */
function* knownRows(
  db: Transaction,
  { reporter, report }: RoomRequest,
  rows: readonly DmarcReportRow[],
): Steps<DmarcReportRow[]> {
  if (reporter === null || rows.length === 0) return [];
  const { domain, day } = rows[0]!;
  const find = db.sql(
    'SELECT id FROM dmarc_domain_days WHERE domain = +? AND day = +? AND proven = +? AND reporter_id = +?',
    'column',
  );
  const id = yield* find.get(domain, day, report.sender === null ? 0 : 1, reporter);
  if (id === undefined) return [];
  const row = db.sql(
    'SELECT 1 FROM dmarc_rows WHERE domain_day_id = +? AND source_ip = +? AND disposition = +? AND dkim = +? AND spf = +?',
  );
  return yield* only(rows, function* ({ sourceIp, disposition, dkim, spf }) {
    return (yield* row.get(id, sourceIp, disposition, dkim, spf)) !== undefined;
  });
}

function* rowsOf(db: Transaction, { report, limits }: RoomRequest, { domain, day }: DomainDay): Steps<Room[]> {
  const held = db.sql(
    `SELECT p.organization, sum(d.row_count) AS taken FROM dmarc_domain_days d
     CROSS JOIN dmarc_reporters p ON p.id = d.reporter_id
     WHERE d.domain = +? AND d.day = +? AND d.proven = +? GROUP BY p.organization`,
  );
  const { rowsPerDomainAndDay: total, largeReporters } = limits;
  const holdings = (yield* held.all(domain, day, report.sender === null ? 0 : 1)) as Holding[];
  const division = { total, share: SHARE_OF_ROWS, unprovenShare: null, largeReporters };
  return roomsFor(report.organization ?? '', holdings, division);
}

function* bytesOf(db: Transaction, { report, limits, day }: RoomRequest): Steps<Room[]> {
  const holdings = (yield* db
    .sql('SELECT organization, bytes AS taken FROM dmarc_room WHERE day = +?')
    .all(day)) as Holding[];
  return roomsFor(report.organization ?? '', holdings, {
    total: limits.bytesPerDay,
    share: SHARE_OF_BYTES,
    unprovenShare: UNPROVEN_SHARE_OF_BYTES,
    largeReporters: limits.largeReporters,
  });
}

function sizeOf({ orgName, domain, reportId, policy, rows }: DmarcReportRecord): number {
  const texts = orgName.length + domain.length + reportId.length + JSON.stringify(policy).length;
  const domains = new Set(rows.map((row) => row.domain));
  const ofDomains = [...domains].reduce((sum, name) => sum + ROW_BYTES + 2 * name.length, 0);
  // The name and the report's ID are stored in a table and in its index.
  return REPORT_BYTES + 2 * texts + ofDomains + rows.length * ROW_BYTES;
}

// Inbound DMARC reports: written within the limits of a domain's day and of a day's arrivals, and erased.
// Anyone can send reports, so nothing here grows with what they claim.

import type { DmarcLimits, DmarcReportRecord, DmarcReportRow } from '../../../inbound.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';
import type { Row } from '../../values.ts';
import { fitReport } from './dmarc-room.ts';

/** With ten thousand rows for each of 400 days, a sum is still an exact number in JavaScript. */
const MAX_MESSAGES_PER_ROW = 1_000_000_000;

export interface AddedReport {
  /** Null when it was stored, otherwise why not; then nothing was written. */
  objection: string | null;
  /** What was summed up, and why. */
  remark: string | null;
}

export function* addDmarcReport(
  db: Transaction,
  { seq, at }: { seq: number; at: number },
  { report, limits }: { report: DmarcReportRecord; limits: DmarcLimits },
): Steps<AddedReport> {
  const known = yield* findReporter(db, report);
  const refused = (objection: string) => ({ objection, remark: null });
  if (known !== undefined && (yield* isKnownReport(db, known, report)))
    return refused('the same DMARC report came before');
  const fitted = yield* fitReport(db, { report, limits, reporter: known ?? null, day: dayOf(at) });
  if (fitted.rows === null) return refused(fitted.reason);
  const reporter = known ?? (yield* addReporter(db, report));
  const { domain, reportId, beginsAt, endsAt, policy } = report;
  yield* db
    .sql(
      `INSERT INTO dmarc_reports (reporter_id, domain, report_id, begins_at, ends_at, policy, inbound_id, received_at)
     SELECT CAST(+? AS BIGINT), +?, +?, CAST(+? AS BIGINT), CAST(+? AS BIGINT), +?, id, received_at FROM inbound_mails WHERE seq = +?`,
    )
    .run(reporter, domain, reportId, beginsAt, endsAt, JSON.stringify(policy), seq);
  const proven = report.sender === null ? 0 : 1;
  const days = new Map<string, number>();
  for (const row of fitted.rows) {
    const key = `${row.day} ${row.domain}`;
    let domainDay = days.get(key);
    if (domainDay === undefined) {
      domainDay = yield* openDomainDay(db, row, { proven, reporter });
      days.set(key, domainDay);
    }
    yield* addRow(db, domainDay, row);
  }
  yield* db
    .sql(
      `INSERT INTO dmarc_room (day, organization, bytes) VALUES (+?, +?, +?)
     ON CONFLICT (day, organization) DO UPDATE SET bytes = dmarc_room.bytes + excluded.bytes`,
    )
    .run(dayOf(at), report.organization ?? '', fitted.bytes);
  return { objection: null, remark: fitted.remark };
}

function* findReporter(db: Transaction, { orgName, sender }: DmarcReportRecord): Steps<number | undefined> {
  const find = db.sql('SELECT id FROM dmarc_reporters WHERE name = +? AND sender = +?', 'column');
  return (yield* find.get(orgName, sender ?? '')) as number | undefined;
}

function* addReporter(db: Transaction, { orgName, sender, organization }: DmarcReportRecord): Steps<number> {
  const add = db.sql(
    'INSERT INTO dmarc_reporters (name, sender, organization) VALUES (+?, +?, +?) RETURNING id',
    'assigned',
  );
  return (yield* add.get(orgName, sender ?? '', organization ?? '')) as number;
}

function* isKnownReport(db: Transaction, reporter: number, { domain, reportId }: DmarcReportRecord): Steps<boolean> {
  const find = db.sql('SELECT 1 FROM dmarc_reports WHERE reporter_id = +? AND domain = +? AND report_id = +?');
  return (yield* find.get(reporter, domain, reportId)) !== undefined;
}

function* openDomainDay(
  db: Transaction,
  { domain, day }: DmarcReportRow,
  { proven, reporter }: { proven: number; reporter: number },
): Steps<number> {
  const key = [domain, day, proven, reporter];
  const find = db.sql(
    'SELECT id FROM dmarc_domain_days WHERE domain = +? AND day = +? AND proven = +? AND reporter_id = +?',
    'column',
  );
  const known = (yield* find.get(...key)) as number | undefined;
  if (known !== undefined) return known;
  const add = db.sql(
    'INSERT INTO dmarc_domain_days (domain, day, proven, reporter_id) VALUES (+?, +?, +?, +?) RETURNING id',
    'assigned',
  );
  return (yield* add.get(...key)) as number;
}

function* addRow(db: Transaction, domainDay: number, row: DmarcReportRow): Steps<void> {
  const { sourceIp, disposition, dkim, spf, messages } = row;
  const key = [domainDay, sourceIp, disposition, dkim, spf];
  const added = Math.min(messages, MAX_MESSAGES_PER_ROW);
  const add = db.sql(
    `INSERT INTO dmarc_rows (domain_day_id, source_ip, disposition, dkim, spf, messages) VALUES (+?, +?, +?, +?, +?, +?)
     ON CONFLICT DO NOTHING`,
  );
  if ((yield* add.run(...key, added)).changes === 1) {
    yield* db.sql('UPDATE dmarc_domain_days SET row_count = row_count + 1 WHERE id = +?').run(domainDay);
    return;
  }
  yield* db
    .sql(
      `UPDATE dmarc_rows SET messages = min(messages + +?, ${MAX_MESSAGES_PER_ROW})
     WHERE domain_day_id = +? AND source_ip = +? AND disposition = +? AND dkim = +? AND spf = +?`,
    )
    .run(added, ...key);
}

/** Erases domain days before this one, the oldest first, until about `limit` rows are gone. Returns how many rows. */
export function* forgetDmarcDays(db: Transaction, beforeDay: string, limit: number): Steps<number> {
  const old = db.sql('SELECT id, reporter_id, row_count FROM dmarc_domain_days WHERE day < +? ORDER BY day LIMIT +?');
  let gone = 0;
  for (const { id, reporter_id: reporter } of (yield* old.all(beforeDay, limit)) as Row[]) {
    const left = limit - gone;
    if (left <= 0) break;
    const erase = db.sql(
      `DELETE FROM dmarc_rows WHERE (domain_day_id, source_ip, disposition, dkim, spf) IN
         (SELECT domain_day_id, source_ip, disposition, dkim, spf FROM dmarc_rows WHERE domain_day_id = +? LIMIT +?)`,
    );
    const rows = (yield* erase.run(id, left)).changes;
    gone += rows + 1;
    if (rows === left) {
      yield* db.sql('UPDATE dmarc_domain_days SET row_count = row_count - +? WHERE id = +?').run(rows, id);
      break;
    }
    yield* db.sql('DELETE FROM dmarc_domain_days WHERE id = +?').run(id);
    yield* forgetReporter(db, reporter as number);
  }
  return gone;
}

/** Erases reports that came in before this time. Returns how many. */
export function* forgetDmarcReports(db: Transaction, before: number, limit: number): Steps<number> {
  yield* db.sql('DELETE FROM dmarc_room WHERE day < +?').run(dayOf(before));
  const old = yield* db
    .sql('SELECT id, reporter_id FROM dmarc_reports WHERE received_at < +? LIMIT +?')
    .all(before, limit);
  for (const { id, reporter_id: reporter } of old as Row[]) {
    yield* db.sql('DELETE FROM dmarc_reports WHERE id = +?').run(id);
    yield* forgetReporter(db, reporter as number);
  }
  return old.length;
}

/** Deletes a reporter once nothing refers to it. */
function* forgetReporter(db: Transaction, id: number): Steps<void> {
  yield* db
    .sql(
      `DELETE FROM dmarc_reporters WHERE id = +@id
       AND NOT EXISTS (SELECT 1 FROM dmarc_domain_days WHERE reporter_id = +@id)
       AND NOT EXISTS (SELECT 1 FROM dmarc_reports WHERE reporter_id = +@id)`,
    )
    .run({ id });
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

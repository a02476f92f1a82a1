// Sums of DMARC reports. They run in slices, by domain and by day, with a turn of the event loop between
// them: a domain that is forged often can have very many sources.

import { setImmediate as turn } from 'node:timers/promises';
import type {
  DmarcDomainReport,
  DmarcDomainSums,
  DmarcPeriod,
  DmarcReporterSum,
  DmarcSourceSums,
  DmarcStore,
  DmarcSums,
} from '../../../dmarc.ts';
import type { Steps } from '../../steps.ts';
import type { Connection, Transaction } from '../../transaction.ts';
import type { Row } from '../../values.ts';

export function dmarcVerbs(db: Connection): DmarcStore {
  return {
    listDmarcDomains: (period, page) => listDomains(db, period, page),
    dmarcSumsOf: (domains, period) => sumEach(db, domains, period),
    sumDmarc: (domain, period, maxSources) => sumDomain(db, { domain, period, maxSources }),
  };
}

const SUMS = `sum(messages) AS messages, sum(CASE WHEN dkim = 'pass' OR spf = 'pass' THEN messages ELSE 0 END) AS passed,
  sum(CASE WHEN dkim = 'pass' THEN messages ELSE 0 END) AS dkim_passed,
  sum(CASE WHEN spf = 'pass' THEN messages ELSE 0 END) AS spf_passed,
  sum(CASE WHEN disposition = 'quarantine' THEN messages ELSE 0 END) AS quarantined,
  sum(CASE WHEN disposition = 'reject' THEN messages ELSE 0 END) AS rejected`;

const ROWS = 'dmarc_domain_days d CROSS JOIN dmarc_rows r ON r.domain_day_id = d.id';

const MAX_REPORTERS = 50;

async function listDomains(
  db: Connection,
  period: DmarcPeriod,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ domains: DmarcDomainSums[]; next: string | null }> {
  const domains: DmarcDomainSums[] = [];
  for (let last = after ?? ''; domains.length < limit; await turn()) {
    const found = await db.read(() => nextDomain(db, last));
    if (found === null) return { domains, next: null };
    const sums = await db.read(() => sumsOf(db, found, period));
    if (sums) domains.push(sums);
    last = found;
  }
  return { domains, next: domains.at(-1)?.domain ?? null };
}

async function sumEach(db: Connection, domains: readonly string[], period: DmarcPeriod): Promise<DmarcDomainSums[]> {
  const sums: DmarcDomainSums[] = [];
  for (const domain of domains) {
    const found = await db.read(() => sumsOf(db, domain, period));
    if (found) sums.push(found);
    await turn();
  }
  return sums;
}

/** One step down the index: the days of a domain are not scanned. */
function* nextDomain(db: Transaction, after: string): Steps<string | null> {
  const row = (yield* db
    .sql('SELECT min(domain) AS domain FROM dmarc_domain_days WHERE domain > +?')
    .get(after)) as Row;
  return row.domain as string | null;
}

function* sumsOf(db: Transaction, domain: string, { firstDay, lastDay }: DmarcPeriod): Steps<DmarcDomainSums | null> {
  const rows = (yield* db
    .sql(
      `SELECT d.proven, min(d.day) AS first_day, max(d.day) AS last_day, ${SUMS} FROM ${ROWS}
       WHERE d.domain = +? AND d.day >= +? AND d.day <= +? GROUP BY d.proven`,
    )
    .all(domain, firstDay, lastDay)) as Row[];
  const proven = rows.find((row) => row.proven === 1);
  const unproven = rows.find((row) => row.proven === 0);
  const days = proven ?? unproven;
  if (!days) return null;
  return {
    domain,
    ...(proven ? sumsFromRow(proven) : noSums()),
    firstDay: days.first_day as string,
    lastDay: days.last_day as string,
    unprovenMessages: (unproven?.messages as number | undefined) ?? 0,
  };
}

async function sumDomain(
  db: Connection,
  { domain, period, maxSources }: { domain: string; period: DmarcPeriod; maxSources: number },
): Promise<DmarcDomainReport> {
  const days: DmarcDomainReport['days'] = [];
  const sources = new Map<string, DmarcSourceSums>();
  const reporters = new Reporters();
  const unproven = { total: noSums(), reporters: new Reporters() };
  const bounds = [domain, period.firstDay, period.lastDay] as const;
  const known = await db.read(() => daysOf(db, ...bounds));
  for (const day of known) {
    const { bySource, byReporter, unprovenSums } = await db.read(() => oneDay(db, domain, day));
    const total = noSums();
    for (const row of bySource) {
      const sums = sumsFromRow(row);
      addTo(total, sums);
      const sourceIp = row.source_ip as string;
      const source = sources.get(sourceIp) ?? { sourceIp, ...noSums(), firstDay: day, lastDay: day };
      addTo(source, sums);
      sources.set(sourceIp, { ...source, lastDay: day });
    }
    for (const row of byReporter) (row.sender === '' ? unproven.reporters : reporters).add(row);
    if (unprovenSums) addTo(unproven.total, unprovenSums);
    if (bySource.length > 0) days.push({ day, ...total });
    await turn();
  }
  const total = noSums();
  for (const day of days) addTo(total, day);
  const failed = ({ messages, passed }: DmarcSums) => messages - passed;
  const ordered = [...sources.values()].sort((a, b) => failed(b) - failed(a) || b.messages - a.messages);
  return {
    total,
    days,
    sources: ordered.slice(0, maxSources),
    sourceCount: sources.size,
    reporters: reporters.top(),
    unproven: { total: unproven.total, reporters: unproven.reporters.top() },
  };
}

/** Message counts by reporter. */
class Reporters {
  readonly #sums = new Map<string, DmarcReporterSum>();

  add(row: Row): void {
    const { name: orgName, sender, messages } = row as { name: string; sender: string; messages: number };
    const key = `${sender} ${orgName}`;
    const known = this.#sums.get(key);
    if (known) known.messages += messages;
    else this.#sums.set(key, { orgName, sender: sender || null, messages });
  }

  top(): DmarcReporterSum[] {
    return [...this.#sums.values()].sort((a, b) => b.messages - a.messages).slice(0, MAX_REPORTERS);
  }
}

function* daysOf(db: Transaction, domain: string, firstDay: string, lastDay: string): Steps<string[]> {
  const days = 'SELECT DISTINCT day FROM dmarc_domain_days WHERE domain = +? AND day >= +? AND day <= +? ORDER BY day';
  return (yield* db.sql(days, 'column').all(domain, firstDay, lastDay)) as string[];
}

function* oneDay(db: Transaction, domain: string, day: string) {
  const bySource = db.sql(
    `SELECT r.source_ip, ${SUMS} FROM ${ROWS} WHERE d.domain = +? AND d.day = +? AND d.proven = 1
     GROUP BY r.source_ip ORDER BY r.source_ip`,
  );
  const unproven = db.sql(`SELECT ${SUMS} FROM ${ROWS} WHERE d.domain = +? AND d.day = +? AND d.proven = 0`);
  const byReporter = db.sql(
    `SELECT p.name, p.sender, sum(r.messages) AS messages FROM ${ROWS}
     CROSS JOIN dmarc_reporters p ON p.id = d.reporter_id WHERE d.domain = +? AND d.day = +? GROUP BY p.id ORDER BY p.id`,
  );
  const sums = (yield* unproven.get(domain, day)) as Row;
  return {
    bySource: (yield* bySource.all(domain, day)) as Row[],
    byReporter: (yield* byReporter.all(domain, day)) as Row[],
    // Without any row, the sums are NULL.
    unprovenSums: sums.messages === null ? null : sumsFromRow(sums),
  };
}

function noSums(): DmarcSums {
  return { messages: 0, passed: 0, dkimPassed: 0, spfPassed: 0, quarantined: 0, rejected: 0 };
}

function addTo(sums: DmarcSums, more: DmarcSums): void {
  for (const name of Object.keys(noSums()) as (keyof DmarcSums)[]) sums[name] += more[name];
}

function sumsFromRow(row: Row): DmarcSums {
  return {
    messages: row.messages as number,
    passed: row.passed as number,
    dkimPassed: row.dkim_passed as number,
    spfPassed: row.spf_passed as number,
    quarantined: row.quarantined as number,
    rejected: row.rejected as number,
  };
}

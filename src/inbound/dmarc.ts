// DMARC aggregate reports that come in: unpacked, read, and stored per domain and day when they are
// about a domain that somebody here sends from.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DmarcReading, type DmarcReport, scanDmarcReport } from '../protocol/mail/dmarc-report.ts';
import { contentOf, readMail } from '../protocol/mail/inbound/mail-parts.ts';
import { unpack } from '../protocol/mail/packed-file.ts';
import type { DomainStore } from '../store/domains.ts';
import type {
  DmarcDayRow,
  DmarcReportRecord,
  InboundUpdate,
  InboundVerdict,
  WaitingInboundMail,
} from '../store/inbound.ts';

export interface DmarcKit {
  store: Pick<DomainStore, 'findVerifiedHolder'>;
}

const MAX_UNPACKED_OCTETS = 25 * 1024 * 1024;
const MAX_DOMAINS = 200;
const MAX_ROWS = 20_000;

/** Null when the mail has nothing in it that could be such a report. */
export async function readDmarcMail(
  mail: WaitingInboundMail,
  { store }: DmarcKit,
): Promise<Omit<InboundUpdate, 'seq' | 'at'> | null> {
  const found = await findReport(mail.content);
  if (found === null) return null;
  if (!found.ok)
    return { verdict: verdict('kept', `the DMARC report cannot be used: ${found.reason}`, {}), action: null };
  const { report } = found;
  const { orgName, reportId, policy } = report;
  const finding = { org_name: orgName, report_id: reportId, domain: policy.domain, records: report.records.length };
  const rows = await rowsOf(report, store);
  if (rows.length === 0) {
    const reason = `a DMARC report of ${orgName} on ${policy.domain}, a domain that nobody here sends from`;
    return { verdict: verdict('none', reason, finding), action: null };
  }
  const reason = `DMARC report of ${orgName} on ${policy.domain}`;
  return { verdict: verdict('stored', reason, finding), action: { do: 'dmarc', report: recordOf(report, rows) } };
}

async function findReport(content: Buffer): Promise<DmarcReading | null> {
  const mail = readMail(content);
  for (const part of mail.parts) {
    if (part.type.startsWith('message/')) continue;
    const unpacked = await unpack(contentOf(part), MAX_UNPACKED_OCTETS);
    if (unpacked?.kind === 'refused') return { ok: false, reason: unpacked.reason };
    if (unpacked) return read(unpacked.content.toString('utf8'));
  }
  return null;
}

async function read(xml: string): Promise<DmarcReading> {
  const scan = scanDmarcReport(xml);
  for (;;) {
    const step = scan.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

/** Of domains that somebody here sends from, summed up: the rest of a report is none of our business. */
async function rowsOf(report: DmarcReport, store: DmarcKit['store']): Promise<DmarcDayRow[]> {
  const day = new Date(report.beginsAt).toISOString().slice(0, 10);
  const known = new Map<string, boolean>();
  const rows = new Map<string, DmarcDayRow>();
  for (const { sourceIp, messages, disposition, dkim, spf, headerFrom } of report.records) {
    if (!known.has(headerFrom)) {
      if (known.size >= MAX_DOMAINS) continue;
      known.set(headerFrom, (await store.findVerifiedHolder(headerFrom)) !== null);
    }
    if (!known.get(headerFrom)) continue;
    const key = `${headerFrom} ${sourceIp} ${disposition} ${dkim} ${spf}`;
    const row = rows.get(key);
    if (row) row.messages += messages;
    else if (rows.size < MAX_ROWS) {
      rows.set(key, { domain: headerFrom, day, orgName: report.orgName, sourceIp, disposition, dkim, spf, messages });
    }
  }
  return [...rows.values()];
}

function recordOf(
  { orgName, reportId, beginsAt, endsAt, policy }: DmarcReport,
  rows: DmarcDayRow[],
): DmarcReportRecord {
  return { domain: policy.domain, orgName, reportId, beginsAt, endsAt, policy, rows };
}

function verdict(effect: InboundVerdict['effect'], reason: string, finding: Record<string, unknown>): InboundVerdict {
  return { kind: 'dmarc', effect, reason, digest: null, messageId: null, tenantId: null, finding };
}

// DMARC aggregate reports that come in: unpacked, read, and stored per domain and day when they are
// about a domain that somebody here sends from. TLS reports, which come the same way, are named as such.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DmarcReading, type DmarcReport, scanDmarcReport } from '../protocol/mail/dmarc-report.ts';
import { contentOf, type MailPart, readMail } from '../protocol/mail/inbound/mail-parts.ts';
import { unpack } from '../protocol/mail/packed-file.ts';
import {
  isTlsReportType,
  MAX_TLS_REPORT_CHARACTERS,
  readTlsReport,
  type TlsReport,
} from '../protocol/mail/tls-report.ts';
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
/** A mail has one report; of more files nobody knows which counts. */
const MAX_FILES = 5;
const MAX_DOMAINS = 200;
const MAX_ROWS = 20_000;

/** Null when the mail has nothing in it that could be such a report. */
export async function readDmarcMail(
  mail: WaitingInboundMail,
  { store }: DmarcKit,
): Promise<Omit<InboundUpdate, 'seq' | 'at'> | null> {
  const found = await findReport(mail.content);
  if (found === null) return null;
  if (found.kind === 'tls_report') return { verdict: tlsVerdict(found), action: null };
  if (found.kind === 'unusable') {
    return { verdict: verdict('kept', `the DMARC report cannot be used: ${found.reason}`, {}), action: null };
  }
  const { report } = found;
  const { orgName, reportId, policy } = report;
  const finding = { org_name: orgName, report_id: reportId, domain: policy.domain, records: report.records.length };
  const rows = await rowsOf(report, store);
  const reason = `DMARC report of ${orgName} on ${policy.domain}`;
  if (rows.length === 0) {
    const why = report.records.length === 0 ? 'it has no record' : 'nobody here sends from the domains in its records';
    return { verdict: verdict('none', `${reason}: ${why}`, finding), action: null };
  }
  return { verdict: verdict('stored', reason, finding), action: { do: 'dmarc', report: recordOf(report, rows) } };
}

type Found =
  | { kind: 'dmarc_report'; report: DmarcReport }
  /** `report` null: it cannot be read, and `reason` says why. */
  | { kind: 'tls_report'; report: TlsReport | null; reason: string }
  | { kind: 'unusable'; reason: string };

/** Of several files the first that is a report, else what is wrong with the first. */
async function findReport(content: Buffer): Promise<Found | null> {
  const files: Found[] = [];
  for (const part of readMail(content).parts) {
    if (part.type.startsWith('message/')) continue;
    const found = await readFile(part);
    if (found === null) continue;
    files.push(found);
    if (found.kind !== 'unusable' || files.length === MAX_FILES) break;
  }
  return files.find(({ kind }) => kind !== 'unusable') ?? files[0] ?? null;
}

/** Null when the part is not a file of the kind that reports come in. */
async function readFile(part: MailPart): Promise<Found | null> {
  const octets = contentOf(part);
  const unpacked = await unpack(octets, MAX_UNPACKED_OCTETS);
  if (unpacked === null && !isTlsReportType(part.type) && !mayBeReport(octets)) return null;
  if (unpacked?.kind === 'refused') {
    const { reason } = unpacked;
    return isTlsReportType(part.type) ? { kind: 'tls_report', report: null, reason } : { kind: 'unusable', reason };
  }
  const text = textIn(unpacked?.content ?? octets);
  const tlsReport = readTlsReport(text);
  if (tlsReport !== null || isTlsReportType(part.type)) {
    const isTooLarge = text.length > MAX_TLS_REPORT_CHARACTERS;
    const reason = isTooLarge ? 'it is larger than 2 MiB' : 'it is not the JSON that RFC 8460 describes';
    return { kind: 'tls_report', report: tlsReport, reason };
  }
  const reading = await read(text);
  return reading.ok ? { kind: 'dmarc_report', report: reading.report } : { kind: 'unusable', reason: reading.reason };
}

const SEARCHED_OCTETS = 64 * 1024;

/** XML with a report in it, or JSON, as a text that nobody packed. */
function mayBeReport(octets: Buffer): boolean {
  const start = textIn(octets.subarray(0, SEARCHED_OCTETS)).trimStart();
  return start.startsWith('<')
    ? /<(?:[\w.-]+:)?feedback[\s/>]/i.test(start)
    : start.startsWith('{') && start.includes('"report-id"');
}

/** XML is UTF-8 or, with its mark at the beginning, UTF-16. */
function textIn(octets: Buffer): string {
  const mark = octets.length >= 2 ? octets.readUInt16BE(0) : 0;
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(octets);
}

function tlsVerdict({ report, reason }: Extract<Found, { kind: 'tls_report' }>): InboundVerdict {
  const common = { ...verdict('kept', '', {}), kind: 'report' } as const;
  if (report === null) return { ...common, reason: `a TLS report (RFC 8460) that cannot be read: ${reason}` };
  const { orgName, domains, succeeded, failed } = report;
  const sessions = `${succeeded} sessions succeeded, ${failed} failed`;
  return {
    ...common,
    reason: `TLS report (RFC 8460) of ${orgName} on ${domains.join(', ') || 'no domain'}: ${sessions}. Such reports are kept, not evaluated`,
    finding: { tls_report: { org_name: orgName, domains, succeeded, failed } },
  };
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

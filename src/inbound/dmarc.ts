// Inbound DMARC aggregate reports: unpacked, parsed, and stored per domain and day if they are about a
// tenant's domain. TLS reports, which arrive in the same way, are recognised as such. Anyone can send a small
// mail that unpacks to a large file, so files are read one at a time.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../base/errors.ts';
import { organizationalDomain } from '../protocol/dns/published/dmarc-record.ts';
import { contentOf, type MailPart, readMail } from '../protocol/mail/inbound/mail-parts.ts';
import { type DmarcReading, type DmarcReport, scanDmarcReport } from '../protocol/mail/reports/dmarc-report.ts';
import { isPacked, unpack } from '../protocol/mail/reports/packed-file.ts';
import {
  isTlsReportType,
  MAX_TLS_REPORT_CHARACTERS,
  readTlsReport,
  type TlsReport,
} from '../protocol/mail/reports/tls-report.ts';
import type {
  DmarcLimits,
  DmarcReportRecord,
  DmarcReportRow,
  InboundOutcome,
  InboundVerdict,
  WaitingInboundMail,
} from '../store/inbound.ts';
import type { StoreVerbs } from '../store/store.ts';
import { objectionToDays, rowsOf } from './dmarc-rows.ts';
import type { ReportSender } from './dmarc-sender.ts';

export interface DmarcKit {
  store: StoreVerbs<{ domains: 'findVerifiedHolder' }>;
  limits: DmarcLimits & { rowsPerReport: number };
  /** Queries DNS. */
  proveSender(mail: WaitingInboundMail): Promise<ReportSender>;
}

const MAX_UNPACKED_BYTES = 25 * 1024 * 1024;
/** A mail should have one report; more files than this are not examined. */
const MAX_FILES = 5;

/** After so much text that was not a report, no more files are examined. */
const MAX_SEARCHED_BYTES = 1024 * 1024;

/** Of one mail. */
type Reading =
  | { kind: 'nothing'; verdict: InboundVerdict }
  | { kind: 'rows'; about: ReportSummary; rows: DmarcReportRow[]; folded: number };

type ReportSummary = Omit<DmarcReport, 'records'> & { records: number };

export class DmarcReader {
  readonly #kit: DmarcKit;
  #last: Promise<unknown> = Promise.resolve();
  #isStopping = false;

  constructor(kit: DmarcKit) {
    this.#kit = kit;
  }

  /** Null if the mail contains nothing that could be such a report. DNS is queried only for one that changes something. */
  async read(mail: WaitingInboundMail): Promise<InboundOutcome | null> {
    const { limits, proveSender } = this.#kit;
    const reading = await this.#inTurn(() => readReport(mail, this.#kit));
    if (reading === null) return null;
    if (reading.kind === 'nothing') return { verdict: reading.verdict, action: null };
    const { about, rows, folded } = reading;
    const sender = await proveSender(mail);
    const said = [
      `${nameOf(about)}: ${sender.reason}`,
      ...(folded > 0
        ? [`${folded} sources were summed up because of dmarc.max_rows_per_report (${limits.rowsPerReport})`]
        : []),
    ].join('; ');
    return {
      verdict: verdict('stored', said, { ...findingOf(about), sender: sender.domain }),
      action: { do: 'dmarc', report: recordOf(about, { sender: sender.domain, rows }), limits },
    };
  }

  /** Mails whose turn has not come are not read any more: the next start finds them in the store. */
  stop(): void {
    this.#isStopping = true;
  }

  /** What was read is copied: values cut out of a file's text keep all of it in memory, and DNS may take long. */
  #inTurn(work: () => Promise<Reading | null>): Promise<Reading | null> {
    const done = this.#last.then(async () => {
      if (this.#isStopping) throw new Fault('the daemon is stopping');
      return structuredClone(await work());
    });
    this.#last = done.catch(() => {});
    return done;
  }
}

async function readReport({ content, receivedAt }: WaitingInboundMail, kit: DmarcKit): Promise<Reading | null> {
  const found = await findReport(content);
  if (found === null) return null;
  if (found.kind === 'tls_report') return { kind: 'nothing', verdict: tlsVerdict(found) };
  if (found.kind === 'unusable') {
    return { kind: 'nothing', verdict: verdict('kept', `the DMARC report is not usable: ${found.reason}`, {}) };
  }
  const { records, ...report } = found.report;
  const about = { ...report, records: records.length };
  const nothing = (why: string): Reading => ({
    kind: 'nothing',
    verdict: verdict('none', `${nameOf(about)}: ${why}`, findingOf(about)),
  });
  if (records.length === 0) return nothing('it has no record');
  const objection = objectionToDays(found.report, receivedAt);
  if (objection !== null) return nothing(objection);
  const { rows, folded } = await rowsOf(found.report, kit.store, kit.limits.rowsPerReport);
  if (rows.length === 0) return nothing('no tenant sends from the domains in its records');
  return { kind: 'rows', about, rows, folded };
}

function nameOf({ orgName, policy }: ReportSummary): string {
  return `DMARC report of ${orgName} on ${policy.domain}`;
}

function findingOf({ orgName, reportId, policy, records }: ReportSummary): Record<string, unknown> {
  return { org_name: orgName, report_id: reportId, domain: policy.domain, records };
}

type Found =
  | { kind: 'dmarc_report'; report: DmarcReport }
  /** `report` null: it can't be parsed, because of `reason`. */
  | { kind: 'tls_report'; report: TlsReport | null; reason: string }
  | { kind: 'unusable'; reason: string };

/** The first file that is a report, or else what is wrong with the first file. */
async function findReport(content: Buffer): Promise<Found | null> {
  const files: Found[] = [];
  let searchedBytes = 0;
  for (const part of readMail(content).parts) {
    if (part.type.startsWith('message/')) continue;
    const read = await readFile(part);
    if (read === null) continue;
    files.push(read.found);
    searchedBytes += read.bytes;
    if (read.found.kind !== 'unusable' || files.length === MAX_FILES || searchedBytes > MAX_SEARCHED_BYTES) break;
  }
  return files.find(({ kind }) => kind !== 'unusable') ?? files[0] ?? null;
}

/** Null if the part is not a file in which reports are sent. `bytes`: how much of it was searched. */
async function readFile(part: MailPart): Promise<{ found: Found; bytes: number } | null> {
  const start = contentOf(part, SEARCHED_BYTES);
  if (!isPacked(start) && !isTlsReportType(part.type) && !mayBeReport(start)) return null;
  const packed = contentOf(part);
  const unpacked = await unpack(packed, MAX_UNPACKED_BYTES);
  if (unpacked?.kind === 'refused') {
    const { reason } = unpacked;
    const isTls = isTlsReportType(part.type);
    return { found: isTls ? { kind: 'tls_report', report: null, reason } : { kind: 'unusable', reason }, bytes: 0 };
  }
  const bytes = unpacked?.content ?? packed;
  return { found: await readText(textIn(bytes), part.type), bytes: bytes.length };
}

async function readText(text: string, type: string): Promise<Found> {
  const tlsReport = readTlsReport(text);
  if (tlsReport !== null || isTlsReportType(type)) {
    const isTooLarge = text.length > MAX_TLS_REPORT_CHARACTERS;
    const reason = isTooLarge ? 'it is larger than 2 MiB' : 'it is not the JSON that RFC 8460 describes';
    return { kind: 'tls_report', report: tlsReport, reason };
  }
  const reading = await read(text);
  return reading.ok ? { kind: 'dmarc_report', report: reading.report } : { kind: 'unusable', reason: reading.reason };
}

const SEARCHED_BYTES = 64 * 1024;

/** An unpacked XML or JSON report, by its first bytes. */
function mayBeReport(bytes: Buffer): boolean {
  const start = textIn(bytes).trimStart();
  return start.startsWith('<')
    ? /<(?:[\w.-]+:)?feedback[\s/>]/i.test(start)
    : start.startsWith('{') && start.includes('"report-id"');
}

/** XML is UTF-8 or, with a byte order mark, UTF-16. */
function textIn(bytes: Buffer): string {
  const mark = bytes.length >= 2 ? bytes.readUInt16BE(0) : 0;
  const encoding = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
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

function recordOf(
  { orgName, reportId, beginsAt, endsAt, policy }: ReportSummary,
  { sender, rows }: Pick<DmarcReportRecord, 'sender' | 'rows'>,
): DmarcReportRecord {
  const organization = sender === null ? null : organizationalDomain(sender);
  return { domain: policy.domain, orgName, sender, organization, reportId, beginsAt, endsAt, policy, rows };
}

function verdict(effect: InboundVerdict['effect'], reason: string, finding: Record<string, unknown>): InboundVerdict {
  return { kind: 'dmarc', effect, reason, digest: null, messageId: null, tenantId: null, finding };
}

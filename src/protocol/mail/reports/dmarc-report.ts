// Reads DMARC aggregate reports: RFC 7489 section 7.2 and appendix C, RFC 9990 as far as it only adds fields. The
// numbers of records and of tags are limited. It yields now and then, so that its caller can let other work run.
import { isIP } from 'node:net';
import { feedbackElements } from './dmarc-elements.ts';

export interface DmarcReport {
  orgName: string;
  reportId: string;
  beginsAt: number;
  endsAt: number;
  policy: { domain: string; p: string; sp: string; adkim: string; aspf: string; pct: string };
  records: DmarcRecord[];
}

export interface DmarcRecord {
  sourceIp: string;
  messages: number;
  disposition: string;
  dkim: 'pass' | 'fail';
  spf: 'pass' | 'fail';
  /** In lower case. */
  headerFrom: string;
}

export type DmarcReading = { ok: true; report: DmarcReport } | { ok: false; reason: string };

/** Far more than the largest receivers send for one domain and day. */
const MAX_RECORDS = 50_000;
/** Start and end tags, comments and the like. A record has 40 at most where so many of them fit into 25 MiB. */
const MAX_TAGS = 40 * MAX_RECORDS;
/** Of one record, or around the records: a hundred signatures of a mail take 1,200, a schema in front some hundred. */
const MAX_TAGS_IN_A_ROW = 10_000;
const TAGS_PER_TURN = 5_000;
/** No sender has so many messages from one address in a few days; larger numbers would only distort sums. */
const MAX_COUNT = 1_000_000_000;
/** Longer values are truncated: names and IDs of real reports are at most half as long. */
const MAX_NAME_CHARACTERS = 200;
const MAX_DOMAIN_CHARACTERS = 253;

export function readDmarcReport(xml: string): DmarcReading {
  const reading = scanDmarcReport(xml);
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
  }
}

/** As `readDmarcReport`, as a generator. */
export function* scanDmarcReport(xml: string): Generator<void, DmarcReading> {
  const values = new Map<string, string>();
  const records: DmarcRecord[] = [];
  let record: Map<string, string> | null = null;
  let unreadable = 0;
  let [tags, tagsInARow] = [0, 0];
  for (const step of feedbackElements(xml)) {
    if (++tags % TAGS_PER_TURN === 0) yield;
    if (step.kind === 'broken') return refused(step.reason);
    if (tags > MAX_TAGS) return refused(`it has more than ${MAX_TAGS} tags`);
    if (++tagsInARow > MAX_TAGS_IN_A_ROW) {
      return refused(`it has more than ${MAX_TAGS_IN_A_ROW} tags ${record ? 'in one record' : 'outside its records'}`);
    }
    if (step.kind === 'passed') continue;
    if (step.path === 'feedback/record') {
      tagsInARow = 0;
      if (step.kind === 'open') record = new Map();
      else if (record) {
        if (records.length + unreadable >= MAX_RECORDS) return refused(`it has more than ${MAX_RECORDS} records`);
        const read = recordOf(record);
        if (read && read.messages > MAX_COUNT) {
          return refused(`a record counts ${read.messages} messages; more than ${MAX_COUNT} are not believed`);
        }
        if (read) records.push(read);
        else unreadable++;
        record = null;
      }
    } else if (step.kind === 'close') {
      const place = record ?? values;
      if (!place.has(step.path)) place.set(step.path, step.text);
    }
  }
  if (records.length === 0 && unreadable > 0) {
    return refused(`none of its ${unreadable} records has an address as source_ip, a count and a header_from`);
  }
  return reportOf(values, records);
}

const SECOND_MS = 1000;
/** For a value that a rejection quotes. */
const MAX_QUOTED_CHARS = 40;

function reportOf(values: ReadonlyMap<string, string>, records: DmarcRecord[]): DmarcReading {
  const value = (path: string) => values.get(`feedback/${path}`) ?? '';
  const [begin, end] = [value('report_metadata/date_range/begin'), value('report_metadata/date_range/end')];
  const [beginsAt, endsAt] = [Number(begin) * SECOND_MS, Number(end) * SECOND_MS];
  const domain = value('policy_published/domain').toLowerCase().replace(/\.$/, '');
  const reportId = value('report_metadata/report_id').slice(0, MAX_NAME_CHARACTERS);
  const orgName = (value('report_metadata/org_name') || value('report_metadata/email')).slice(0, MAX_NAME_CHARACTERS);
  const needed = {
    date_range: begin && end,
    'policy_published/domain': domain,
    report_id: reportId,
    org_name: orgName,
  };
  const missing = Object.entries(needed).filter(([, value]) => value === '');
  if (missing.length > 0) return refused(`it has no ${missing.map(([name]) => name).join(', no ')}`);
  if (!isTime(beginsAt) || !isTime(endsAt)) {
    const range = `${begin.slice(0, MAX_QUOTED_CHARS)} to ${end.slice(0, MAX_QUOTED_CHARS)}`;
    return refused(`its date_range, ${range}, is not two times in seconds since 1970`);
  }
  if (domain.length > MAX_DOMAIN_CHARACTERS) return refused('the domain of its policy is longer than any can be');
  const policy = {
    domain,
    p: oneOf(DISPOSITIONS, value('policy_published/p')),
    sp: oneOf(DISPOSITIONS, value('policy_published/sp')),
    adkim: oneOf(ALIGNMENTS, value('policy_published/adkim')),
    aspf: oneOf(ALIGNMENTS, value('policy_published/aspf')),
    pct: /^\d{1,3}$/.exec(value('policy_published/pct'))?.[0] ?? '',
  };
  return { ok: true, report: { orgName, reportId, beginsAt, endsAt, policy, records } };
}

function recordOf(values: ReadonlyMap<string, string>): DmarcRecord | null {
  const value = (path: string) => values.get(`feedback/record/${path}`) ?? '';
  const messages = Number(value('row/count'));
  const headerFrom = value('identifiers/header_from').toLowerCase().replace(/\.$/, '');
  const sourceIp = value('row/source_ip').toLowerCase();
  if (!Number.isInteger(messages) || messages < 0 || isIP(sourceIp) === 0 || sourceIp.includes('%')) return null;
  if (headerFrom === '' || headerFrom.length > MAX_DOMAIN_CHARACTERS) return null;
  const passed = (name: string) => (value(`row/policy_evaluated/${name}`).toLowerCase() === 'pass' ? 'pass' : 'fail');
  const disposition = oneOf(DISPOSITIONS, value('row/policy_evaluated/disposition')) || 'none';
  return { sourceIp, messages, disposition, dkim: passed('dkim'), spf: passed('spf'), headerFrom };
}

const DISPOSITIONS = ['none', 'quarantine', 'reject'];
const ALIGNMENTS = ['r', 's'];

/** In lower case; empty when it is none of them. */
function oneOf(words: readonly string[], value: string): string {
  const word = value.toLowerCase();
  return words.includes(word) ? word : '';
}

/** From 2012, when DMARC began, to a century later. */
function isTime(ms: number): boolean {
  return ms >= Date.UTC(2012, 0) && ms < Date.UTC(2112, 0);
}

function refused(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}

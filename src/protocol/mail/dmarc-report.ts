// Reads DMARC aggregate reports: RFC 7489 section 7.2 and appendix C, RFC 9990 where it adds nothing
// but fields. A scanner for this one use: no DOCTYPE, no entities of its own, bounded in depth and
// number. It pauses now and then, so that whoever runs it can let others go on.

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
const MAX_DEPTH = 12;
const MAX_VALUE_CHARACTERS = 500;
const TAGS_PER_TURN = 5_000;

export function readDmarcReport(xml: string): DmarcReading {
  const reading = scanDmarcReport(xml);
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
  }
}

/** As `readDmarcReport`, in turns. */
export function* scanDmarcReport(xml: string): Generator<void, DmarcReading> {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) return refused('it has a DOCTYPE, which no DMARC report needs');
  const values = new Map<string, string>();
  const records: DmarcRecord[] = [];
  let record: Map<string, string> | null = null;
  let tags = 0;
  for (const step of elements(xml)) {
    if (++tags % TAGS_PER_TURN === 0) yield;
    if (step.kind === 'broken') return refused(step.reason);
    if (step.path === 'feedback/record') {
      if (step.kind === 'open') record = new Map();
      else if (record) {
        if (records.length >= MAX_RECORDS) return refused(`it has more than ${MAX_RECORDS} records`);
        const read = recordOf(record);
        if (read) records.push(read);
        record = null;
      }
    } else if (step.kind === 'close') {
      const place = record ?? values;
      if (!place.has(step.path)) place.set(step.path, step.text);
    }
  }
  return reportOf(values, records);
}

type Step =
  | { kind: 'open'; path: string }
  | { kind: 'close'; path: string; text: string }
  | { kind: 'broken'; reason: string };

function* elements(xml: string): Generator<Step> {
  const open: string[] = [];
  let text = '';
  let at = 0;
  for (;;) {
    const start = xml.indexOf('<', at);
    if (start < 0) break;
    if (text.length < MAX_VALUE_CHARACTERS) text += xml.slice(at, Math.min(start, at + MAX_VALUE_CHARACTERS));
    if (xml.startsWith('<!--', start) || xml.startsWith('<![CDATA[', start)) {
      const isComment = xml[start + 2] === '-';
      const end = xml.indexOf(isComment ? '-->' : ']]>', start + 4);
      if (end < 0) return yield broken('it ends in the middle');
      if (!isComment) text += xml.slice(start + 9, Math.min(end, start + 9 + MAX_VALUE_CHARACTERS));
      at = end + 3;
      continue;
    }
    const end = xml.indexOf('>', start);
    if (end < 0) return yield broken('it ends in the middle');
    at = end + 1;
    const tag = xml.slice(start + 1, Math.min(end, start + 200));
    if (tag.startsWith('?') || tag.startsWith('!')) continue;
    const name = localName(tag);
    if (tag.startsWith('/')) {
      if (open.at(-1) !== name) return yield broken(`</${name}> closes nothing`);
      yield { kind: 'close', path: open.join('/'), text: plain(text) };
      open.pop();
      text = '';
      continue;
    }
    if (open.length >= MAX_DEPTH) return yield broken('its elements lie too deep in each other');
    open.push(name);
    text = '';
    yield { kind: 'open', path: open.join('/') };
    if (xml[end - 1] === '/') {
      yield { kind: 'close', path: open.join('/'), text: '' };
      open.pop();
    }
  }
  if (open.length > 0) yield broken('it ends in the middle');
}

/** Without prefix and attributes. */
function localName(tag: string): string {
  return (/^\/?(?:[\w.-]+:)?([\w.-]+)/.exec(tag)?.[1] ?? '').toLowerCase();
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function plain(text: string): string {
  const value = text.replace(/&(lt|gt|amp|quot|apos);/g, (_, name: string) => ENTITIES[name]!);
  return value.trim().slice(0, MAX_VALUE_CHARACTERS);
}

const SECOND_MS = 1000;

function reportOf(values: ReadonlyMap<string, string>, records: DmarcRecord[]): DmarcReading {
  const value = (path: string) => values.get(`feedback/${path}`) ?? '';
  const beginsAt = Number(value('report_metadata/date_range/begin')) * SECOND_MS;
  const endsAt = Number(value('report_metadata/date_range/end')) * SECOND_MS;
  const domain = value('policy_published/domain').toLowerCase().replace(/\.$/, '');
  const reportId = value('report_metadata/report_id');
  const orgName = value('report_metadata/org_name') || value('report_metadata/email');
  if (!isTime(beginsAt) || !isTime(endsAt)) return refused('it does not say which time it is about');
  if (domain === '' || reportId === '' || orgName === '') {
    return refused('it has no policy_published/domain, report_id or org_name');
  }
  const policy = {
    domain,
    p: value('policy_published/p'),
    sp: value('policy_published/sp'),
    adkim: value('policy_published/adkim'),
    aspf: value('policy_published/aspf'),
    pct: value('policy_published/pct'),
  };
  return { ok: true, report: { orgName, reportId, beginsAt, endsAt, policy, records } };
}

function recordOf(values: ReadonlyMap<string, string>): DmarcRecord | null {
  const value = (path: string) => values.get(`feedback/record/${path}`) ?? '';
  const messages = Number(value('row/count'));
  const headerFrom = value('identifiers/header_from').toLowerCase().replace(/\.$/, '');
  const sourceIp = value('row/source_ip');
  if (!Number.isSafeInteger(messages) || messages < 0 || headerFrom === '' || sourceIp === '') return null;
  const passed = (name: string) => (value(`row/policy_evaluated/${name}`).toLowerCase() === 'pass' ? 'pass' : 'fail');
  const disposition = value('row/policy_evaluated/disposition').toLowerCase() || 'none';
  return { sourceIp, messages, disposition, dkim: passed('dkim'), spf: passed('spf'), headerFrom };
}

/** From 2012, when DMARC began, to a century later. */
function isTime(ms: number): boolean {
  return ms >= Date.UTC(2012, 0) && ms < Date.UTC(2112, 0);
}

function refused(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}

function broken(reason: string): Step {
  return { kind: 'broken', reason };
}

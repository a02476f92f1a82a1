// Splits the text of a report into the writer's own words and the returned message. No standard defines the border:
// each family of servers has its own. After a reason, a header is the returned message, whatever sentence introduces
// it; a quoted subject is not a reason.
import { withoutQuotedSubjects } from './quoted-subject.ts';

export interface ReportText {
  /** The lines of the report itself, trimmed. */
  lines: readonly string[];
  /** The report itself, as it was written and in any length: notifications for programs have long lines. */
  whole: string;
  /** The returned message, or the part of it that was returned; null: none. */
  original: string | null;
}

// A longer report contains something else.
const MAX_CHARACTERS = 64 * 1024;
const MAX_LINES = 1_000;
const MAX_LINE_CHARACTERS = 1_500;

const DECORATION = String.raw`^[\s>*|#=_+.:-]{0,80}`;
/** Beginnings of lines that announce the message. */
const ANNOUNCEMENTS = [
  'below this line is',
  '(?:this|here|enclosed|attached|included|below) (?:is|are|follows) (?:a|the) (?:copy|full|complete|original|header)',
  String.raw`(?:the )?(?:headers?|body|text|first \d+ lines) of (?:the|your) (?:original|message)`,
  String.raw`original (?:message|mail|e-?mail|headers?)(?! (?:was|details|subject|could|to|from|has|id|sent|received|you)\b)`,
  '(?:message|mail|full) (?:headers?|text|body|contents?)(?: of the message)? follows',
  'message follows',
  'unsent message',
  '(?:the )?(?:original )?(?:text|content|contents|body) (?:of (?:the|your) (?:original )?(?:message|mail|e-?mail)|(?:follows|is|was)\\b)',
  'original text(?: follows)?',
  '(?:here is|this is|following is) what you (?:wrote|sent)|you (?:wrote|sent)(?: the following)?:\\s*$',
  '(?:the |your )?(?:message|mail|e-?mail)(?: you sent)? (?:reads?|was|is)(?: as follows)?:\\s*$',
  String.raw`returned (?:mail|message)\b(?!:)`,
  'start of (?:the )?returned message',
  'old message',
  '(?:a )?copy of (?:the|your) (?:message|mail|original|e-?mail)',
  '(?:begin|start) of (?:the )?(?:original|forwarded|message)',
  'forwarded message',
  'mensaje original',
  "message d'origine",
  'urspr(?:ü|ue)ngliche nachricht',
  'mensagem original',
  'messaggio originale',
  'undelivered message',
  'rejected message',
];
const ANNOUNCEMENT = new RegExp(`${DECORATION}(?:${ANNOUNCEMENTS.join('|')})`, 'i');
/** Fields that people do not write into a text. */
const TRANSPORT_FIELD =
  /^>?\s?(?:received|return-path|x-received|dkim-signature|delivered-to|arc-seal|domainkey-signature)\s*:/i;

export function divideReport(text: string): ReportText {
  const written = text.slice(0, MAX_CHARACTERS).split('\n', MAX_LINES);
  const lines = written.map((line) => line.slice(0, MAX_LINE_CHARACTERS).trimEnd());
  const field = lines.findIndex((line) => TRANSPORT_FIELD.test(line));
  const announced = lines.findIndex((line, place) => place > 0 && line.length < 200 && ANNOUNCEMENT.test(line));
  const header = headerIn(lines);
  const cut = [field, announced, header].filter((place) => place >= 0).sort((a, b) => a - b)[0] ?? lines.length;
  const rest = withoutIndent(lines.slice(field === cut || header === cut ? cut : cut + 1));
  return {
    lines: withoutQuotedSubjects(lines.slice(0, cut)),
    whole: cut === lines.length ? text : written.slice(0, cut).join('\n'),
    original: rest.length === 0 ? null : rest.join('\n'),
  };
}

/** The returned message may be indented, quoted, or below a ruled line. */
function withoutIndent(lines: readonly string[]): string[] {
  const start = lines.findIndex((line) => !/^[\s=_*#+~-]*$/.test(line));
  if (start < 0) return [];
  const indent = /^[>|]?[ \t]*/.exec(lines[start]!)![0];
  const kept = lines.slice(start);
  return indent === '' ? kept : kept.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
}

const HEADER_FIELD = /^[>|]?\s{0,8}([A-Z][\w-]{1,40})[ \t]?:(?:[ \t]|$)/;
/** Header fields that reports rarely list for people. */
const FOR_PROGRAMS = new Set(['mime-version', 'content-type', 'content-transfer-encoding', 'message-id', 'x-mailer']);
const FOR_PEOPLE = new Set(['from', 'to', 'subject', 'date', 'cc', 'reply-to', 'sender']);
/** Fields of a report, not of a message. */
const OF_A_REPORT =
  /^(?:final-recipient|original-recipient|action|status|diagnostic-code|reporting-mta|remote-mta|reason|error|x-.*-rcpt)$/;
const REPLY_CODE = /(?<![\d.])[45]\d\d(?![\d.])|\b[45]\.\d\.\d/;
const ADDRESS = /\S@\S/;
/** A list of the message's fields may precede the reason: then the text continues like this. */
const GOES_ON =
  /deliver|recipient|reject|refus|fail|reach|zugestellt|zustell|empf(?:ä|ae)nger|remis|livr|destinat|entreg|consegn|bezorg|dostarcz|доставл|получател|配[信送]|送[达達]|收件/i;

/** The line where the header of the returned message begins, or -1. */
function headerIn(lines: readonly string[]): number {
  let [hasCode, hasAddress] = [false, false];
  for (let at = 0; at < lines.length; at++) {
    const end = HEADER_FIELD.test(lines[at]!) ? endOfFields(lines, at) : at;
    if (end > at + 1 && (hasCode || hasAddress) && isHeader(lines.slice(at, end), hasCode)) {
      const next = lines.slice(end).find((line) => line.trim() !== '') ?? '';
      if (hasCode || !GOES_ON.test(next)) return at;
    }
    for (const line of lines.slice(at, Math.max(end, at + 1))) {
      hasCode ||= REPLY_CODE.test(line);
      hasAddress ||= ADDRESS.test(line);
    }
    at = Math.max(at, end - 1);
  }
  return -1;
}

function endOfFields(lines: readonly string[], from: number): number {
  let end = from + 1;
  while (end < lines.length && (HEADER_FIELD.test(lines[end]!) || /^[>|]?[ \t]+\S/.test(lines[end]!))) end++;
  return end;
}

/** After a reply, the fields that people see are enough. */
function isHeader(block: readonly string[], hasCode: boolean): boolean {
  const names = block.flatMap((line) => HEADER_FIELD.exec(line)?.[1]?.toLowerCase() ?? []);
  const count = (of: ReadonlySet<string>) => new Set(names.filter((name) => of.has(name))).size;
  if (names.some((name) => OF_A_REPORT.test(name))) return false;
  if (hasCode && names.includes('from') && count(FOR_PEOPLE) >= 4) return true;
  return count(FOR_PEOPLE) >= 2 && count(FOR_PROGRAMS) >= 1 && count(FOR_PEOPLE) + count(FOR_PROGRAMS) >= 4;
}

const BLOCK_TAG = /<\/?(?:p|div|br|tr|li|h\d|table|pre|hr|blockquote)\b[^>]{0,500}>/gi;
const CELL_TAG = /<\/?(?:td|th|dt|dd)\b[^>]{0,500}>/gi;
const ENTITIES: Readonly<Record<string, string>> = { nbsp: ' ', amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The visible text of HTML, well enough to search it for words and addresses. */
export function plainTextOf(html: string): string {
  let text = html.slice(0, 4 * MAX_CHARACTERS);
  for (const [open, close] of HIDDEN) text = withoutBetween(text, open, close);
  return text
    .replace(/\n/g, ' ')
    .replace(BLOCK_TAG, '\n')
    .replace(CELL_TAG, ' ')
    .replace(/<\/?[a-z!][^<>]{0,2000}>/gi, '')
    .replace(/&#(\d{1,6});/g, (_, code: string) => String.fromCodePoint(Math.min(Number(code), 0x10ffff)))
    .replace(/&([a-z]{2,5});/gi, (all, name: string) => ENTITIES[name.toLowerCase()] ?? all)
    .replace(/[ \t\u00a0]+/g, ' ');
}

const HIDDEN = [
  ['<style', '</style'],
  ['<script', '</script'],
  ['<title', '</title'],
  ['<!--', '-->'],
] as const;

/** Not a regular expression: with unclosed tags, it would search to the end of the text from each of them. */
function withoutBetween(text: string, open: string, close: string): string {
  const searched = text.toLowerCase();
  const kept: string[] = [];
  let at = 0;
  while (at < text.length) {
    const from = searched.indexOf(open, at);
    const to = from < 0 ? -1 : searched.indexOf(close, from);
    if (to < 0) break;
    kept.push(text.slice(at, from), ' ');
    at = to + close.length;
  }
  return kept.join('') + text.slice(at);
}

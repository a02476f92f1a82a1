// Divides the text of a report into what its writer says and the message that comes back with it.
// There is no standard for the line between them: each family of servers has its own.

export interface ReportText {
  /** The lines of the report itself, trimmed at their ends. */
  lines: readonly string[];
  /** The message that comes back, or as much of it as there is; null: none. */
  original: string | null;
}

// A report that needs more holds something else.
const MAX_CHARACTERS = 64 * 1024;
const MAX_LINES = 1_000;
const MAX_LINE_CHARACTERS = 1_500;

const DECORATION = String.raw`^[\s>*|#=_+.:-]{0,80}`;
/** What the lines begin with that say that the message follows. */
const ANNOUNCEMENTS = [
  'below this line is',
  '(?:this|here|enclosed|attached|included|below) (?:is|are|follows) (?:a|the) (?:copy|full|complete|original|header)',
  String.raw`(?:the )?(?:headers?|body|text|first \d+ lines) of (?:the|your) (?:original|message)`,
  String.raw`original (?:message|mail|e-?mail|headers?)(?! (?:was|details|subject|could|to|from|has|id|sent|received|you)\b)`,
  '(?:message|mail|full) (?:headers?|text|body|contents?)(?: of the message)? follows',
  'message follows',
  'unsent message',
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
/** Fields that nobody writes into a text. */
const TRANSPORT_FIELD =
  /^>?\s?(?:received|return-path|x-received|dkim-signature|delivered-to|arc-seal|domainkey-signature)\s*:/i;

export function divideReport(text: string): ReportText {
  const lines = text
    .slice(0, MAX_CHARACTERS)
    .split('\n', MAX_LINES)
    .map((line) => line.slice(0, MAX_LINE_CHARACTERS).trimEnd());
  const field = lines.findIndex((line) => TRANSPORT_FIELD.test(line));
  const announced = lines.findIndex((line, place) => place > 0 && line.length < 200 && ANNOUNCEMENT.test(line));
  const cut = [field, announced].filter((place) => place >= 0).sort((a, b) => a - b)[0] ?? lines.length;
  const rest = lines.slice(field === cut ? cut : cut + 1).join('\n');
  return { lines: lines.slice(0, cut), original: rest.trim() === '' ? null : rest.replace(/^\s+/, '') };
}

const BLOCK_TAG = /<\/?(?:p|div|br|tr|li|h\d|table|pre|hr|blockquote)\b[^>]{0,500}>/gi;
const CELL_TAG = /<\/?(?:td|th|dt|dd)\b[^>]{0,500}>/gi;
const ENTITIES: Readonly<Record<string, string>> = { nbsp: ' ', amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** What a person would see of HTML, well enough to look for words and addresses in it. */
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

/** No pattern: where openings have no end, it would search to the end of the text from each of them. */
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

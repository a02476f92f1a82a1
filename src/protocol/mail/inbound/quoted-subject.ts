// Removes the subject of the returned message from a report's text: `Subject: your mailbox is full` is not a reason.
// Where it is not known, only what the text marks as a quotation: a subject may have the same words as the reason.

const WORDS =
  'subject|betreff|objet|asunto|oggetto|assunto|onderwerp|emne|ämne|temat|předmět|tárgy|konu|тема|件名|主题|主題|제목';
/** `Subject: …`, alone on its line, and `The subject of the message is: …` (Exim). */
const SUBJECT_LINE = new RegExp(
  String.raw`^([>|*\s-]{0,10}(?:(?:the|message|original|e-?mail|mail) )?(?:${WORDS})(?: line)?(?: of (?:the|your) (?:message|mail|e-?mail))?(?: (?:is|was))?\s{0,5}[:：]).*$`,
  'i',
);
/** `with the subject "…"`, in quotation marks of any kind. */
const QUOTED = new RegExp(
  String.raw`((?:${WORDS}|titled|entitled|with the title)\b[^"“„«'‘「\n]{0,30})(?:"[^"\n]{1,300}"|[“„][^”“\n]{1,300}[”“]|«[^»\n]{1,300}»|‘[^’\n]{1,300}’|'[^'\n]{1,300}'(?!\w)|「[^」\n]{1,300}」)`,
  'gi',
);

/** The lines without quoted subjects. */
export function withoutQuotedSubjects(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(SUBJECT_LINE, '$1').replace(QUOTED, '$1'));
}

/** Shorter ones may be words of the report, too. */
const MIN_WORDS = 3;
/** Reports that cut the subject off leave so much of it. */
const MIN_CHARACTERS = 40;

/** The text without this subject, or the part of it that is left where it was cut off; white space is single spaces. */
export function withoutSubject(text: string, subject: string): string {
  const whole = subject.replace(/\s+/g, ' ').trim();
  const start = whole.slice(0, MIN_CHARACTERS);
  if (start.split(' ').length < MIN_WORDS) return text;
  const [before, ...behind] = text.split(start);
  return [before, ...behind.map((rest) => rest.slice(agreement(rest, whole.slice(start.length))))].join(' ');
}

function agreement(one: string, other: string): number {
  let length = 0;
  while (length < other.length && one[length] === other[length]) length++;
  return length;
}

/** Prefixes before the subject of the returned message (Exchange, Notes and others, in many languages). */
const BEFORE_A_SUBJECT =
  /^(\s*(?:undeliverable|undelivered|not delivered|unzustellbar|non remis|non distribu[ée]|no se puede entregar|no entregado|non recapitabile|onbestelbaar|n[ãa]o entregue|n[ãa]o pode ser entregue|olevererbart|kan ikke leveres|ei voida toimittaa|niedostarczalne|nedoru[čc]iteln[ée]|teslim edilemedi|недоставлено|не удается доставить|配信不能|未傳遞的主旨|无法送达|無法傳遞|배달되지 않음)\s*[:：]).*$/i;

/** The subject of a report, without that of the message. */
export function ownSubject(subject: string): string {
  return subject.replace(BEFORE_A_SUBJECT, '$1');
}

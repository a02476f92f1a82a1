// Tells what programs answer for people from reports and from people: RFC 3834, the fields that
// came before it, and the subjects of those that set none. Challenges of address books that want
// to know the sender, and receipts (RFC 8098), are of the same kind: they say nothing of delivery.
import type { Header } from './header-block.ts';
import type { ReadMail } from './mail-parts.ts';

const REPLY_FIELDS = [
  'x-autoreply',
  'x-autorespond',
  'x-autoresponder',
  'x-auto-reply',
  'x-autoreply-from',
  'x-mail-autoreply',
  'x-autoreply-to',
  'x-auto-response-suppress',
  'x-vacation',
  'x-ms-exchange-inbox-rules-loop',
  'x-boxbe-autoreply',
];

const SUBJECTS = [
  String.raw`^\s*(?:re:\s*)?auto(?:matic|mated|matisch\w*)?[- _]?(?:re(?:ply|spon[sd]e?)|answer|response|reponse|antwort|matic response)\b`,
  String.raw`^\s*auto:`,
  String.raw`\(auto(?:matic|mated)?[- ]?(?:re(?:ply|sponse))\)`,
  'auto(?:[- ]?reply|[- ]?respon(?:se|der)|antwort)|automatic(?:ally generated)? (?:reply|response)|automated (?:reply|response)',
  String.raw`out of (?:the )?office|out-of-office|\booo\b|away from (?:the |my )?(?:office|desk|mail|e-?mail)|\bon (?:vacation|holiday|annual leave|maternity leave|leave)\b|^\s*(?:away|vacation|holiday)\b`,
  "i(?:'m| am) (?:away|on leave|on holiday|on vacation|out of)",
  'vacation (?:message|notice|reply|response)',
  'abwesenheit|abwesend|nicht im (?:b(?:ü|ue)ro|haus)|automatische antwort',
  String.raw`absen(?:ce|t)\b.{0,20}(?:bureau|message|notification)|r[ée]ponse automatique|absence du bureau`,
  'respuesta autom[áa]tica|fuera de (?:la )?oficina|ausente|resposta autom[áa]tica|fora do escrit[óo]rio|aus[êe]ncia',
  'risposta automatica|fuori (?:sede|ufficio)|assenza',
  'automatisch antwoord|afwezig|niet op kantoor|autosvar|automatiskt svar|fr[åa]nvaro|poissaoloviesti|automaattinen vastaus|fravær|frav[æe]r',
  'odpowied[zź] automatyczna|poza biurem|automatick[áa] odpov[eě][dď]|automatikus v[áa]lasz|automata v[áa]lasz|automatiska atbilde|automatinis atsakymas',
  'автоответ|автоматический ответ|нет на месте|отсутств|自動(?:返信|応答)|不在(?:通知|の)|自动(?:回复|答复)|자동 ?(?:회신|응답)|부재중',
];
const SUBJECT = new RegExp(SUBJECTS.join('|'), 'i');

const CHALLENGES = [
  'please (?:confirm|verify) (?:your (?:message|e-?mail|identity)|that you)|confirm(?:ation)? (?:required|needed|your message|you are (?:human|a person))|verification required|verify your (?:message|e-?mail)',
  String.raw`sender (?:verification|authentication|authorization)|challenge[- ]response|spam ?arrest|boxbe|choicemail|spamblocker|mailblocks|knowspam|uol antispam|antispam uol|tmda\b|0spam|qurb|vanquish|bluebottle`,
  'your (?:message|e-?mail|mail) .{0,60}(?:is being held|has been held|awaits|is waiting|requires (?:confirmation|verification|approval))',
  'one[- ]time (?:verification|confirmation|authorization)|not (?:yet )?(?:on|in) my (?:allowed|approved|white) ?list',
];
const CHALLENGE = new RegExp(CHALLENGES.join('|'), 'i');

const ABSENCE =
  /\b(?:i|we) (?:am|are|will be|'m|'ll be) (?:currently |now )?(?:away|out of (?:the )?office|on (?:vacation|leave|holiday|maternity)|travel|not in the office|unable to read)|i'm (?:away|out of)|out of (?:the )?office (?:until|from|today|and)|this is an auto(?:mated|matic) (?:reply|response)|ich bin .{0,40}(?:nicht im b(?:ü|ue)ro|abwesend|im urlaub)|je suis (?:actuellement )?(?:absent|en cong)/i;

/** One sentence that says what shows it, or null. */
export function autoReplyEvidence({ header, contentType }: ReadMail, text: string): string | null {
  if (contentType.parameters.get('report-type')?.toLowerCase() === 'disposition-notification') {
    return 'it is a receipt (RFC 8098)';
  }
  const byField = evidenceInFields(header);
  if (byField !== null) return byField;
  const subject = header.text('subject');
  if (SUBJECT.test(subject)) return 'its subject is that of an automatic reply';
  const opening = text.slice(0, 2_000);
  if (CHALLENGE.test(subject) || CHALLENGE.test(opening)) return 'it asks the sender to prove who he is';
  if (ABSENCE.test(opening)) return 'its text says that somebody is away';
  return null;
}

function evidenceInFields(header: Header): string | null {
  // RFC 3834 section 5; with parameters and comments.
  const submitted = /^[\w-]+/.exec(header.raw('auto-submitted')?.trim().toLowerCase() ?? '')?.[0] ?? 'no';
  if (submitted !== 'no') return `it says Auto-Submitted: ${submitted}`;
  const field = REPLY_FIELDS.find((name) => header.has(name) && header.raw(name)!.toLowerCase() !== 'no');
  if (field) return `it has the field ${field}`;
  const precedence = header.raw('precedence')?.trim().toLowerCase() ?? '';
  if (/^auto[-_]?reply/.test(precedence)) return 'it says Precedence: auto_reply';
  if (/vacation|autorespond|auto-?reply/i.test(`${header.text('x-mailer')} ${header.text('x-loop')}`)) {
    return 'a program for automatic replies wrote it';
  }
  return null;
}

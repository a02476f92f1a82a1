// Distinguishes automatic replies from reports and people's mail: RFC 3834, older fields, and the subjects of programs
// that set none. Challenges of address books that verify senders, and receipts (RFC 8098), count as automatic replies:
// they say nothing about delivery.
import type { Header } from './header-block.ts';
import type { ReadMail } from './mail-parts.ts';
import { withoutNames } from './names-in-text.ts';

const REPLY_FIELDS = [
  'x-autoreply',
  'x-autorespond',
  'x-autoresponder',
  'x-auto-reply',
  'x-autoreply-from',
  'x-mail-autoreply',
  'x-autoreply-to',
  'x-vacation',
  'x-ms-exchange-inbox-rules-loop',
  'x-boxbe-autoreply',
];
/** Automatic replies of Exchange have it, but so does what people write with Outlook. */
const SUPPRESS_FIELD = 'x-auto-response-suppress';

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
  String.raw`otomatik (?:yan[ıi]t|cevap)|ofis d[ıi][şs][ıi]|αυτόματη απάντηση|εκτός γραφείου|r[ăa]spuns automat|automatisk svar|automatiskt? (?:svar|meddelande)|frav[æa]rsmelding|ute av kontoret|lomalla|poissa toimistolta|samodejni odgovor|automatski odgovor|отговор автоматично|автоматичн\S{1,4} (?:відповідь|отговор)|תשובה אוטומטית|ر[دّ]{1,2} تلقائي|自動回覆|trả lời tự động|balasan otomatis|ตอบกลับอัตโนมัติ`,
  'автоответ|автоматический ответ|нет на месте|отсутств|自動(?:返信|応答|回覆)|不在(?:通知|の)|休暇(?:中|の|を)|自动(?:回复|答复)|休假|자동 ?(?:회신|응답)|부재중|휴가',
];
const SUBJECT = new RegExp(SUBJECTS.join('|'), 'i');
const BEFORE_A_SUBJECT = /^(?:\s*re\s?[:：])?[^:：]{1,80}[:：]/i;

/** `Automatic reply: …` continues with the subject of the answered mail, whose words are not the writer's. */
export function withoutAnsweredSubject(subject: string): string {
  const prefix = BEFORE_A_SUBJECT.exec(subject)?.[0];
  return prefix !== undefined && SUBJECT.test(prefix) ? prefix : subject;
}

const CHALLENGES = [
  'please (?:confirm|verify) (?:your (?:message|e-?mail|identity)|that you)|confirm(?:ation)? (?:required|needed|your message|you are (?:human|a person))|verification required|verify your (?:message|e-?mail)',
  'protecting (?:myself|my mailbox|itself) from (?:receiving )?(?:junk|spam)|just this once,? click|(?:was|been) waitlisted|add yourself to my (?:guest|contact|approved) ?list',
  String.raw`sender (?:verification|authentication|authorization)|challenge[- ]response|spam ?arrest|boxbe|choicemail|spamblocker|mailblocks|knowspam|uol antispam|antispam uol|tmda\b|0spam|qurb|vanquish|bluebottle`,
  'your (?:message|e-?mail|mail) .{0,60}(?:is being held|has been held|awaits|is waiting|requires (?:confirmation|verification|approval))',
  'one[- ]time (?:verification|confirmation|authorization)|not (?:yet )?(?:on|in) my (?:allowed|approved|white) ?list',
];
const CHALLENGE = new RegExp(CHALLENGES.join('|'), 'i');

/** Of programs that write receipts as text (Outlook, Notes). */
const RECEIPT_SUBJECT =
  /^\s*(?:(?:not |un)?read|gelesen|ungelesen|lu|non lu|le[íi]do|lett[oa]|lid[oa]|gelezen|l[æe]st|läst|прочитано|已读|開封済み|return receipt|read receipt|lesebest[äa]tigung|empfangsbest[äa]tigung|accus[ée] de (?:lecture|r[ée]ception)|confirmaci[óo]n de lectura|conferma di lettura)\b/i;
const RECEIPT =
  /(?:was|has been|been) (?:read|displayed|opened|received|deleted)\b|return receipt|gelesen|angezeigt|a [ée]t[ée] (?:lu|ouvert|affich)|le[íi]do|lett[oa]|lid[ao]|gelezen/i;

const ABSENCE =
  /\b(?:i|we) (?:am|are|will be|'m|'ll be) (?:currently |now )?(?:away|out of (?:the )?office|on (?:vacation|holiday|maternity|(?:annual |sick |parental |paternity |maternity )?leave)|travel|not in the office|unable to read)|i'm (?:away|out of)|out of (?:the )?office (?:until|from|today|and)|this is an auto(?:mated|matic) (?:reply|response)|ich bin .{0,40}(?:nicht im b(?:ü|ue)ro|abwesend|im urlaub)|je suis (?:actuellement )?(?:absent|en (?:cong|vacances))|(?:estoy|estar[ée]|estou|estarei) .{0,30}(?:fuera de la oficina|de vacaciones|fora do escrit|de f[ée]rias|ausente)|(?:sono|sarò) .{0,20}(?:fuori ufficio|in ferie|assente)|ik ben .{0,30}(?:afwezig|niet op kantoor|met vakantie)|ben ik .{0,40}(?:afwezig|niet (?:op kantoor|aanwezig)|(?:op|met) vakantie)|jag (?:är|ar) .{0,20}(?:på semester|inte på kontoret)|jeg er .{0,20}(?:på ferie|ikke på kontoret)|jestem .{0,20}(?:poza biurem|na urlopie)|nieobecn\S{1,4} .{0,20}w biurze|olen .{0,20}(?:lomalla|poissa)|休暇(?:中|を|です)|不在にして|休假|正在度假|휴가 ?중|izindeyim|ofiste değilim|(?:na|čerpám) dovolen|szabadságon|λείπω|sunt în concediu|на відпустці|меня (?:сейчас )?нет на (?:месте|работе)|я (?:в отпуске|отсутству)|(?:this is an? (?:automated|automatic)|automatically generated) (?:e-?mail |mail )?(?:message|response|reply|acknowledg\w+)[^.]{0,80}(?:received|not (?:monitored|read)|ticket|enquiry|inquiry|request)|(?:no longer|not) (?:work(?:s|ing)? (?:for|at|with)|employed (?:by|at)|with the company)[^.]{0,80}\.[^.]{0,120}(?:not monitored|please (?:contact|direct|write|forward|e-?mail|update)|instead)/i;

/** One sentence with the sign that shows it, or null. */
export function autoReplyEvidence(mail: ReadMail, text: string): string | null {
  return replyEvidence(mail, text) ?? submittedEvidence(mail.header);
}

/** RFC 3834 section 5; with parameters and comments. Reports have the field, too. */
export function submittedEvidence(header: Header): string | null {
  const submitted = /^[\w-]+/.exec(header.raw('auto-submitted')?.trim().toLowerCase() ?? '')?.[0] ?? 'no';
  return submitted === 'no' ? null : `it says Auto-Submitted: ${submitted}`;
}

/** What the header itself says, without any words for people. */
export function declaredReply(header: Header): string | null {
  return evidenceInFields(header, REPLY_FIELDS) ?? submittedEvidence(header);
}

/** Signs that reports don't have. */
export function replyEvidence({ header, contentType, parts }: ReadMail, text: string): string | null {
  if (contentType.parameters.get('report-type')?.toLowerCase() === 'disposition-notification') {
    return 'it is a receipt (RFC 8098)';
  }
  if (parts.some(({ type }) => type === 'message/disposition-notification')) return 'it is a receipt (RFC 8098)';
  const byField = evidenceInFields(header, [...REPLY_FIELDS, SUPPRESS_FIELD]);
  if (byField !== null) return byField;
  const subject = withoutNames(header.text('subject'));
  if (SUBJECT.test(subject)) return 'its subject is that of an automatic reply';
  const opening = withoutNames(text.slice(0, 2_000));
  if (RECEIPT_SUBJECT.test(subject) && RECEIPT.test(opening)) return 'it says that a mail was read';
  if (CHALLENGE.test(subject) || CHALLENGE.test(opening)) return 'it asks the sender to prove who he is';
  if (ABSENCE.test(opening)) return 'its text says that somebody is away';
  return null;
}

function evidenceInFields(header: Header, names: readonly string[]): string | null {
  const field = names.find((name) => header.has(name) && header.raw(name)!.toLowerCase() !== 'no');
  if (field) return `it has the field ${field}`;
  const precedence = header.raw('precedence')?.trim().toLowerCase() ?? '';
  if (/^auto[-_]?reply/.test(precedence)) return 'it says Precedence: auto_reply';
  if (/vacation|autorespond|auto-?reply/i.test(withoutNames(`${header.text('x-mailer')} ${header.text('x-loop')}`))) {
    return 'a program for automatic replies wrote it';
  }
  return null;
}

// Signs that a mail without RFC 3464 fields is a delivery report, and of which action. A single sign may be chance: a
// person can write `undeliverable` into a subject, too.
import { withoutAnsweredSubject } from './auto-reply.ts';
import type { Header } from './header-block.ts';
import type { ReportedAction } from './inbound-mail.ts';
import { withoutNames } from './names-in-text.ts';
import { ownSubject } from './quoted-subject.ts';

const DAEMON =
  /(?:mailer[-_. ]?daemon|post[-_.]?master\b|mail[-_. ]?delivery|mail deliver\w* (?:sub)?system|mdaemon|delivery[-_. ]?subsystem|system administrator|^\s*<>\s*$|smtp_mail_service|virus_for_smtp|interscan|scanmail|^\s*uucp\b|\bimss?@|mailmarshal|mimesweeper|mailscanner|mailenable|complaints@|\bmailer@|\bdaemon@|mta-|microsoftexchange[\da-f]{16}|content[- ]filter|mail[- ]?(?:filter|gateway|firewall|security)|anti-?virus|virus[- ]?scan|[-+](?:bounces|owner|request|help)@|^(?:majordomo|sympa|listserv|mailman)\b|[<\s](?:majordomo|sympa|listserv|mailman)@|system ?administrator|systemadministrat|administrat(?:eur|or) syst[eè]m|administrador (?:del|do|de) sistema|amministratore (?:di |del )?sistema|systeembeheerder|systemansvarig|administrator systemu|системный администратор|系[统統]管理[员員]|システム管理者|시스템 관리자|\blyris\b|listmanager)/i;

/** A delay, in other languages than English. */
const DELAYS = [
  'zustellung verz(?:ö|oe)gert|verz(?:ö|oe)gerte zustellung|remise (?:diff[ée]r[ée]e|retard[ée]e)',
  'entrega (?:retrasada|atrasada|demorada)|consegna ritardata|vertraagde (?:bezorging|aflevering)|доставка (?:отложена|задерж)',
  '配信(?:の|が)?遅(?:延|れ)|投[递遞](?:已)?延[迟遲]|延[迟遲]投[递遞]|(?:배달|전송|전달)(?:이|가)? ?지연',
];

const SUBJECTS = [
  'undeliver(?:able|ed)',
  'non[- ]?deliver(?:y|able)',
  'returned (?:mail|message|to sender|e-?mail)',
  'return(?:ing|ed) (?:message )?to (?:the )?sender',
  String.raw`deliver(?:y|e)?\b.{0,40}\b(?:fail\w*|problem|error|report|status|notification|delayed|unsuccessful|impossible)`,
  String.raw`(?:fail\w*|error|problem)\b.{0,40}\bdeliver`,
  String.raw`(?:mail|message|e-?mail)\b.{0,60}\b(?:fail(?:ed|ure)?|error|not (?:be )?(?:yet )?(?:been )?(?:delivered|sent)|undelivered|delayed|returned|rejected|blocked)\b`,
  String.raw`fail(?:ure|ed)?\s+(?:notice|delivery|mail|notification)`,
  "could(?: not|n't) (?:be )?(?:deliver|sen[dt])",
  '(?:can ?not|unable to) (?:be )?deliver',
  'automatically rejected|rejected (?:mail|message|post)|^rejected:|(?:message|mail|post) rejected|^banned contents?|^considered unsolicited|^virus (?:in|found)|returned post',
  'not deliver(?:ed|able)',
  String.raw`\bpost to \S{1,200} (?:was )?denied\b`,
  String.raw`virus\b.{0,20} (?:found|detected|gefunden|entdeckt|erkannt|rilevat|d[ée]tect[ée]|encontrad)`,
  String.raw`delay(?:ed)?\b.{0,20}\b(?:mail|message)`,
  String.raw`warning: .{0,40}\b(?:message|mail)`,
  'error sending (?:your )?(?:mail|message)',
  'mail system error',
  String.raw`\bnot (?:a )?member\b|not allowed to post|post(?:ing)? (?:was |has been )?(?:rejected|denied)`,
  'user unknown|unknown (?:user|recipient)|invalid (?:recipient|address)|mailbox (?:is )?full|over quota',
  'status notification',
  '^(?:delivered|relayed|expanded):|successful (?:mail )?delivery',
  // The same in other languages.
  ...DELAYS,
  'unzustellbar|nicht zustellbar|zustellung fehlgeschlagen|nicht zugestellt|unzustellbarkeit|zustell(?:ungs)?fehler',
  "non (?:remis|distribu|livr|d[ée]livr)|[ée]chec de (?:la )?(?:remise|distribution|livraison|l'envoi)|notification d'[ée]chec|retour [àa] l'exp[ée]diteur",
  'no se (?:puede|pudo|ha podido) entregar|no entregad|devuelt[oa]|correo no entregado|error (?:de|en la) entrega|fallo (?:de|en la) entrega|imposible entregar',
  'n[ãa]o (?:foi )?(?:entregue|p[oô]de ser entregue)|falha (?:na|de) entrega|(?:n[ãa]o [eé]|im)poss[ií]vel (?:de )?entregar|mensagem devolvida|erro (?:na|de) entrega',
  'mancata consegna|mancato recapito|non (?:recapitat|recapitabil|consegnat|consegnabil)|impossibile (?:recapitare|consegnare)|errore di consegna',
  'onbestelbaar|niet (?:bezorgd|afgeleverd|bestelbaar)|bezorging (?:is )?mislukt|kan inte levereras|ej levererat|kunne ikke leveres|kan ikke leveres|leveringsfejl|leveringsfeil|toimitus ep[äa]onnistui|ei voitu toimittaa',
  'niedostarcz|nie (?:mo[żz]na|uda[łl]o si[ęe]) dostarczy[ćc]|nie dostarczon|nedoru[čc]iteln|nelze doru[čc]it|k[ée]zbes[ií]thetetlen|nem k[ée]zbes[ií]thet|teslim edilemedi|iletilemedi|imposibil de livrat|nelivrat|δεν (?:είναι δυνατή|παραδόθηκε)|αδυναμία παράδοσης',
  'недоставлен|не доставлен|не удалось доставить|невозможно доставить|ошибка доставки|сообщение не доставлено',
  '配信(?:不能|エラー|できません|に失敗)|送信(?:エラー|できません|失敗)|返送|退信|退回|配送(?:エラー|不能|できません|に失敗)|未(?:送[达達]|[传傳][递遞])|无法(?:投递|送达|传递|传送)|無法(?:投遞|傳遞|傳送|遞送)|投递失败|邮件.{0,4}失败|メールを送信|届けられ|발송 ?실패|배달(?:되지| ?못| ?실패)|전송 ?실패|반송',
];
const SUBJECT = new RegExp(SUBJECTS.join('|'), 'i');

const OPENINGS = [
  'this (?:message|is an? (?:message|mail|e-?mail)) (?:was |is )?(?:created|generated) automatically by (?:the )?(?:mail|smtp)',
  'this is an automatically generated delivery status',
  'this is the (?:mail system|postfix|qmail|mail delivery agent|mailer-daemon|dragonfly)',
  '(?:delivery|sending) of (?:the|this|your) (?:e-?mail|message) (?:was|has been) (?:stopped|blocked)',
  'automatically rejected|rejected automatically|(?:returning|returned) it to you|(?:message|mail|attachment).{0,80} (?:was|has been|were) (?:automatically )?(?:rejected|refused|blocked|stopped)|has (?:blocked|deleted|removed) an attachment|attachment.{0,60} matched the file blocking|(?:not|no longer) (?:allowed|permitted|authori[sz]ed) to (?:post|send (?:this )?(?:message|mail|e-?mail))',
  '(?:could|was|can|has|have) ?not (?:yet )?(?:be(?:en)? )?(?:able to )?deliver',
  String.raw`(?:mail|message|nachricht|mensaje|mensagem|messaggio|courriel)\b[^.]{0,80} (?:a [ée]t[ée] (?:rejet|refus|bloqu)|wurde (?:abgelehnt|zur(?:ü|ue)ckgewiesen|blockiert)|(?:ha sido|fue) (?:rechazad|bloquead)|foi (?:rejeitad|bloquead)|[èe]'? stato (?:rifiutat|respint|bloccat))`,
  'unable to (?:be )?deliver|(?:message|mail)[^.]{0,80} was not accepted|配[送信]できません|automatisch (?:abgewiesen|zur(?:ü|ue)ckgewiesen|abgelehnt)',
  'unable to contact (?:machine|host|system)',
  'did not reach the following',
  String.raw`(?:permanent|fatal|delivery) (?:fatal )?(?:delivery )?errors?\b`,
  'addresses? had (?:permanent|fatal|transient|delivery)',
  String.raw`deliver(?:y|ing)\b.{0,60}\bfailed`,
  'transcript of session',
  'error message below',
  'message could not be delivered to (?:mobile|some)',
  'rejected by (?:a|the) remote',
  'undeliverable',
  'returned to (?:the )?sender',
  '(?:message|mail) (?:was|has been) discarded',
  String.raw`you are not (?:a )?member of this mailing list|are not member\b`,
  'failed (?:recipients|addresses)',
  'successfully (?:delivered|relayed) to',
  '(?:konnte|wurde|wird) nicht zugestellt|nicht zugestellt werden',
];
const OPENING = new RegExp(OPENINGS.join('|'), 'i');

export interface Signs {
  header: Header;
  /** Of the report itself, without the original. */
  text: string;
  /** Its type says that it is a report, although the fields are missing (Sympa). */
  isDeclared: boolean;
  /** It contains an original message. */
  hasOriginal: boolean;
  /** The text names a recipient in a form that reports use. */
  namesRecipient: boolean;
  /** It came to a return path without a sender, as no person sends. */
  cameAsReport: boolean;
}

/** `550 5.1.1`, in any language; quoted text has a sign before it. */
const QUOTED_REPLY = /^(?![>|])[^\n]{0,300}(?<![\d.])[45]\d\d[ -]#?[45]\.\d{1,3}\.\d{1,3}(?![.\d])/m;
/** Prefixes of replies and forwarded mail, in the languages of mail programs. */
const BY_A_PERSON =
  /^\s*(?:re|fwd?|fw|aw|wg|tr|rv|sv|vs|vb|vl|antw|doorst|enc|i|r|odp|pd|ynt|转发|回复|答复|轉寄)\s*(?:\[\d{1,3}\])?\s*[:：]/i;

/** Whether a mail without report fields is a report nevertheless. */
export function isDeliveryReport(all: Signs): boolean {
  const { header, text, isDeclared, hasOriginal, namesRecipient, cameAsReport } = all;
  if (header.has('x-failed-recipients') || header.has('x-mailer-daemon-recipients')) return true;
  const isByDaemon = isFromDaemon(header);
  // People complain about deliveries in the same words.
  if (!isByDaemon && !hasOriginal && !namesRecipient && !cameAsReport) return false;
  if (!isByDaemon && isAnswer(header)) return false;
  // A server may be called `undeliverable`, a mailbox `returned`.
  const [subject, words] = [withoutNames(withoutAnsweredSubject(header.text('subject'))), withoutNames(text)];
  const signs = [
    isByDaemon,
    cameAsReport,
    isDeclared,
    SUBJECT.test(subject),
    OPENING.test(words),
    namesRecipient && QUOTED_REPLY.test(words),
    hasOriginal && (header.raw('return-path') ?? '').trim() === '<>',
  ];
  return signs.filter(Boolean).length >= 2;
}

/** Whether the subject is that of a reply or a forwarded mail. */
export function isAnswer(header: Header): boolean {
  return BY_A_PERSON.test(withoutNames(header.text('subject')));
}

export function isFromDaemon(header: Header): boolean {
  // The sender's name counts, but not its host.
  return (
    DAEMON.test(withoutNames(header.text('from').replace(/@[^\s<>,;()]+/g, '@'))) ||
    /mailer-daemon/i.test(header.raw('return-path') ?? '')
  );
}

const DELAY = new RegExp(
  [
    String.raw`\bdelay(?:ed)?\b[^.]{0,60}\b(?:mail|message|\d{1,4} hours?)|message delayed|\(delay\)|has been delayed`,
    'delivery (?:is )?(?:being )?delayed|this is (?:a|just a) warning|warning: (?:could not send|message)',
    ...DELAYS,
  ].join('|'),
  'i',
);
/** Says that a final reply, if there is one, was not the end. */
const STILL_TRYING = new RegExp(
  [
    String.raw`(?:has|have|was)(?: not|n't) (?:yet been delivered|been delivered (?:[^.]{0,80} )?yet\b)|not yet been delivered|could not be delivered yet`,
    'warning message only|still being retried|unable to contact [^.]{1,80} since you queued|delivery attempts will (?:continue|be made)',
    'will be retried|(?:will|shall) (?:keep trying|continue (?:trying|to (?:be )?(?:try|attempt)))|will try again|retrying for',
    'temporarily deferred and will|do(?:es)? not need to (?:resend|do anything)|(?:noch|bisher|bislang) nicht (?:zugestellt|ausgeliefert)',
    'pas encore (?:pu )?(?:[êe]tre |[ée]t[ée] )?(?:remis|livr|distribu|d[ée]livr)|ainda n[ãa]o (?:foi|p[ôo]de)',
    String.raw`(?:a[úu]n|todav[íi]a) no (?:se )?ha|no (?:se )?ha (?:podido |sido )?entrega\S{0,5} (?:a[úu]n|todav[íi]a)`,
    "non (?:[èe]'? |ha )?(?:stat[oa] )?ancora (?:stat[oa] |potuto )?(?:possibile |essere )?(?:consegn|recapit)",
    String.raw`nog niet (?:bezorgd|afgeleverd)|(?:[äa]nnu inte|endnu ikke|enn[åa] ikke) (?:kunn\w{2} )?lever|jeszcze (?:nie )?(?:zosta[łl]\S? )?dostarcz`,
    '(?:ещ[её]|пока) не (?:доставлен|удалось доставить)|아직 (?:배달|전송|전달)',
    '(?:まだ|未だ)(?:配[信送]|送信|届)|(?:尚|[还還仍])未(?:送[达達]|投[递遞]|[传傳][递遞])',
  ].join('|'),
  'i',
);
const GIVEN_UP =
  /giv(?:en|ing) up|has (?:stopped|blocked|deleted|quarantined) the following|permanent(?:ly)? (?:error|fail)|not going to try again|has been removed from|could not be delivered (?:in|within)/i;
const SUCCESS =
  /success(?:ful|fully)?\b[^.]{0,40}\b(?:deliver|relay|mail)|deliver\w* (?:status notification )?\(?success|(?:was|been) (?:successfully )?(?:delivered|relayed) (?:to|successfully)|return receipt|^delivered:/i;

/** Reports of success mention failures and further reports that may follow. */
const ABOUT_NOTIFICATIONS =
  /(?:you may still receive|you will receive|(?:the|but) (?:requested )?delivery)[^.]{0,80}notifications?\b[^.]{0,120}|no further notifications?/gi;

/** The action of a report without fields. By default it is a failure; `isRefused`: a reply says so of the recipient. */
export function actionInText(subject: string, lines: readonly string[], isRefused: boolean): ReportedAction {
  const opening = withoutNames(`${ownSubject(subject)}\n${lines.join(' ').slice(0, 3_000)}`);
  const claims = opening.replace(ABOUT_NOTIFICATIONS, ' ').slice(0, 600);
  if (SUCCESS.test(opening) && !/\bnot\b|fail|error/i.test(claims)) return 'delivered';
  const isDelayed = STILL_TRYING.test(opening) || (!isRefused && DELAY.test(opening));
  return isDelayed && !GIVEN_UP.test(opening) ? 'delayed' : 'failed';
}

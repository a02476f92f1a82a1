// What shows that a mail without RFC 3464 fields is a delivery report, and of which action. Each
// sign alone may be chance: a person can write `undeliverable` into a subject too.
import type { Header } from './header-block.ts';
import type { ReportedAction } from './inbound-mail.ts';

const DAEMON =
  /(?:mailer[-_. ]?daemon|post[-_.]?master\b|mail[-_. ]?delivery|mail deliver\w* (?:sub)?system|mdaemon|delivery[-_. ]?subsystem|system administrator|^\s*<>\s*$|smtp_mail_service|virus_for_smtp|interscan|imss?@|mailmarshal|mailscanner|mailenable|complaints@|mta-)/i;

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
  '(?:can ?not|unable to) deliver',
  'not delivered',
  String.raw`delay(?:ed)?\b.{0,20}\b(?:mail|message)`,
  String.raw`warning: .{0,40}\b(?:message|mail)`,
  'error sending (?:your )?(?:mail|message)',
  'mail system error',
  String.raw`\bare not (?:a )?member\b|not allowed to post|post(?:ing)? (?:was |has been )?(?:rejected|denied)`,
  'user unknown|unknown (?:user|recipient)|invalid (?:recipient|address)|mailbox (?:is )?full|over quota',
  'status notification',
  'unzustellbar|nicht zustellbar|zustellung fehlgeschlagen|nicht zugestellt|unzustellbarkeit',
  "non (?:remis|distribu)|[ée]chec de (?:la )?(?:remise|distribution|livraison)|notification d'[ée]chec",
  'no se (?:puede|pudo|ha podido) entregar|no entregad|devuelto|correo no entregado',
  'n[ãa]o (?:foi )?(?:entregue|p[oô]de ser entregue)|falha na entrega',
  'mancata consegna|non recapitat|impossibile recapitare|onbestelbaar|недоставлен|не доставлен|не удалось доставить',
  '配信(?:不能|エラー|できません)|送信(?:エラー|できません|失敗)|返送|退信|无法(?:投递|送达)|メールを送信',
];
const SUBJECT = new RegExp(SUBJECTS.join('|'), 'i');

const OPENINGS = [
  'this (?:message|is an? (?:message|mail|e-?mail)) (?:was |is )?(?:created|generated) automatically by (?:the )?(?:mail|smtp)',
  'this is an automatically generated delivery status',
  'this is the (?:mail system|postfix|qmail|mail delivery agent|mailer-daemon|dragonfly)',
  '(?:could|was|can|has|have) ?not (?:yet )?(?:be(?:en)? )?(?:able to )?deliver',
  'unable to deliver',
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
  String.raw`you are not (?:a )?member of this mailing list|are not member\b`,
  'failed (?:recipients|addresses)',
];
const OPENING = new RegExp(OPENINGS.join('|'), 'i');

export interface Signs {
  header: Header;
  /** Of the report itself, without the original. */
  text: string;
  /** An original came back with it. */
  hasOriginal: boolean;
  /** The text names a recipient in one of the ways of reports. */
  namesRecipient: boolean;
}

/** Whether a mail that has no fields of a report is one all the same. */
export function isDeliveryReport({ header, text, hasOriginal, namesRecipient }: Signs): boolean {
  if (header.has('x-failed-recipients') || header.has('x-mailer-daemon-recipients')) return true;
  const isByDaemon = isFromDaemon(header);
  // People complain of deliveries in the same words.
  if (!isByDaemon && !hasOriginal && !namesRecipient) return false;
  const signs = [
    isByDaemon,
    SUBJECT.test(header.text('subject')),
    OPENING.test(text),
    hasOriginal && (header.raw('return-path') ?? '').trim() === '<>',
  ];
  return signs.filter(Boolean).length >= 2;
}

export function isFromDaemon(header: Header): boolean {
  return DAEMON.test(header.text('from')) || /mailer-daemon/i.test(header.raw('return-path') ?? '');
}

const DELAY =
  /\bdelay(?:ed)?\b[^.]{0,60}\b(?:mail|message|\d{1,4} hours?)|message delayed|\(delay\)|has been delayed|(?:has|have|was) not (?:yet )?been delivered (?:yet|to|because|after)|not yet been delivered|warning message only|this is (?:a|just a) warning|warning: (?:could not send|message)|still being retried|delivery attempts will (?:continue|be made)|will be retried|(?:will|shall) (?:keep trying|continue (?:to try|trying|to attempt))|will try again|retrying for|do(?:es)? not need to (?:resend|do anything)|delivery (?:is )?(?:being )?delayed|temporarily deferred and will/i;
const GIVEN_UP =
  /giv(?:en|ing) up|permanent(?:ly)? (?:error|fail)|not going to try again|has been removed from|could not be delivered (?:in|within)/i;
const SUCCESS =
  /success(?:ful|fully)?\b[^.]{0,40}\b(?:deliver|relay|mail)|deliver\w* (?:status notification )?\(?success|(?:was|been) (?:successfully )?(?:delivered|relayed) (?:to|successfully)|return receipt|^delivered:/i;

/** Of a report without fields. Where nothing speaks for more, it failed. */
export function actionInText(subject: string, lines: readonly string[]): ReportedAction {
  const opening = `${subject}\n${lines.join(' ').slice(0, 3_000)}`;
  if (SUCCESS.test(opening) && !/\bnot\b|fail|error/i.test(opening.slice(0, 600))) return 'delivered';
  return DELAY.test(opening) && !GIVEN_UP.test(opening) ? 'delayed' : 'failed';
}

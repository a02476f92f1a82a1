// What a mail that came in means: each recipient of a report by the same rules as the replies that
// servers give at once, the mail as a whole by its first recipient. A report speaks with several
// voices (the code, the diagnostic, the transcript, the text for people); the first whose words a
// rule knows is believed, then the code, then the words of the whole text.
import { unreachable } from '../base/errors.ts';
import type { BounceType, SmtpStage } from '../base/outcome.ts';
import type { InboundMail, ReportedAction, ReportedRecipient } from '../protocol/mail/inbound/inbound-mail.ts';
import { withoutNames } from '../protocol/mail/inbound/names-in-text.ts';
import type { BounceRule } from './bounce-rule.ts';
import { type BounceRules, type Classification, classifyReply, type SaidReply } from './classify-reply.ts';
import type { Label } from './labels.ts';
import { type FoundReply, findReply } from './reply-in-text.ts';

export type InboundKind = BounceType | 'auto_reply' | 'complaint' | 'delivered_notice' | 'unknown';

export interface JudgedRecipient {
  recipient: string | null;
  /** Before forwarding, where the report tells. */
  originalRecipient: string | null;
  kind: BounceType | 'delivered_notice';
  action: ReportedAction;
  /** RFC 3463; null: the report has none. */
  status: string | null;
  smtpCode: number | null;
  /** Null where nothing was refused. */
  label: Label | null;
  rule: string | null;
  /** One sentence for people. */
  reason: string;
  remoteMta: string | null;
  diagnostic: string | null;
}

export interface JudgedMail {
  kind: InboundKind;
  reason: string;
  /** Empty where the mail is no delivery report. */
  recipients: readonly JudgedRecipient[];
}

/** Facts that do not come from the mail. */
export interface KnownFacts {
  /** The MX group to which the message was sent; null: unknown, and rules about one provider do not fit. */
  mx: string | null;
}

export function judgeInboundMail(mail: InboundMail, rules: BounceRules, facts: KnownFacts): JudgedMail {
  switch (mail.kind) {
    case 'report': {
      const recipients = mail.recipients.map((recipient) => judgeRecipient(recipient, rules, facts));
      return { kind: recipients[0]!.kind, reason: recipients[0]!.reason, recipients };
    }
    case 'complaint':
      return { kind: 'complaint', reason: `a complaint of type ${mail.feedbackType}`, recipients: [] };
    case 'auto_reply':
      return { kind: 'auto_reply', reason: mail.evidence, recipients: [] };
    case 'human':
      return { kind: 'unknown', reason: 'nothing shows that a mail system wrote it', recipients: [] };
    case 'unreadable':
      return { kind: 'unknown', reason: mail.reason, recipients: [] };
    default:
      return unreachable(mail);
  }
}

const GOOD_NEWS: ReadonlySet<ReportedAction> = new Set(['delivered', 'relayed', 'expanded']);

function judgeRecipient(recipient: ReportedRecipient, rules: BounceRules, facts: KnownFacts): JudgedRecipient {
  const { address, originalAddress, action, remoteMta, diagnostics } = recipient;
  const found = diagnostics.map(findReply);
  const smtpCode = found.find((reply) => reply.smtpCode !== null)?.smtpCode ?? null;
  const common = {
    recipient: address,
    originalRecipient: originalAddress,
    action,
    remoteMta,
    smtpCode,
    diagnostic: diagnostics[0] ?? null,
  };
  const status = statusOf(
    recipient.status,
    found.map(({ enhancedCode }) => enhancedCode),
  );
  if (GOOD_NEWS.has(action)) {
    return {
      ...common,
      kind: 'delivered_notice',
      status,
      label: null,
      rule: null,
      reason: `the message was ${action}`,
    };
  }
  const verdict = verdictOf({ ...recipient, status }, rules, facts);
  const { label, rule, reason } = verdict;
  // Whatever the servers said on the way: it is still being tried.
  const kind = action === 'delayed' ? 'soft' : verdict.class;
  return { ...common, kind, status, label, rule, reason };
}

/** The more telling one: a status that ends in zeros says less than the code in the reply. */
function statusOf(reported: string | null, inReplies: readonly (string | null)[]): string | null {
  const said = inReplies.find((code) => code !== null) ?? null;
  if (reported === null || said === null) return reported ?? said;
  const isVague = /\.0$/.test(reported) && !/\.0$/.test(said);
  return isVague && reported[0] === said[0] ? said : reported;
}

/** What the rules make of one text of a report. */
interface Voice {
  verdict: Classification;
  rule: BounceRule;
  /** Its code ends in zero, so that any words say more; of policy and content even such a code says enough. */
  isVague: boolean;
}

function verdictOf(recipient: ReportedRecipient, rules: BounceRules, { mx }: KnownFacts): Classification {
  const { action, status } = recipient;
  // The names of hosts and mailboxes must not decide anything, neither by words nor by numbers in them.
  const diagnostics = recipient.diagnostics.map(withoutNames);
  const context = recipient.context === null ? null : withoutNames(recipient.context);
  const quoted = (diagnostics.length > 0 ? diagnostics : ['']).map((text) => ({ text, reply: findReply(text) }));
  // One of them may tell at which command it was, and another the reply itself.
  const stage = quoted.find(({ reply }) => reply.stage !== null)?.reply.stage ?? null;
  const circumstances = { status, action, stage, mx };
  const hear = remembered((text) => {
    const said = saidIn(withoutFrame(text), circumstances);
    const verdict = classifyReply(said, rules);
    const isVague = /^\d\.[0-5]\.0$/.test(said.enhancedCode ?? '');
    return { verdict, rule: rules.all.find(({ id }) => id === verdict.rule)!, isVague };
  });
  // Who quotes no code may still be introducing the one who does.
  const [coded, others] = [quoted.filter(({ reply }) => hasCode(reply)), quoted.filter(({ reply }) => !hasCode(reply))];
  const spoken = [...coded, ...others].map(divide);
  const own = spoken.map((each) => each.own);
  const around = spoken.flatMap((each) => each.around);
  const whole = context === null ? [] : [withoutReplies(context, coded)];
  // Mostly the first reply says it all: what comes later is heard only when nothing before it has decided.
  const first = (texts: readonly string[], decides: (voice: Voice) => boolean) => {
    const text = texts.find((each) => decides(hear(each)));
    return text === undefined ? undefined : hear(text);
  };
  const voice =
    first(own, isTelling) ??
    first(own, ({ rule, isVague }) => rule.enhanced.length > 0 && !isVague) ??
    first(own.slice(0, coded.length), ({ rule }) => rule.text.length > 0 && rule.class === 'block') ??
    first([...around, ...whole], isTelling) ??
    first([...own, ...around], ({ rule }) => rule.text.length > 0) ??
    hear(own[0]!);
  return voice.verdict;
}

/** Where it was said tells as much as words do. */
function isTelling({ rule }: Voice): boolean {
  return (rule.text.length > 0 || rule.stages.length > 0) && !rule.isGeneral;
}

function remembered(hear: (text: string) => Voice): (text: string) => Voice {
  const heard = new Map<string, Voice>();
  return (text) => {
    const known = heard.get(text) ?? hear(text);
    heard.set(text, known);
    return known;
  };
}

/** The reply by itself first: what the writer of the report says around it has words of its own. */
function divide({ text, reply }: Quoted): { own: string; around: string[] } {
  const own = text.slice(reply.start);
  if (reply.start === 0 || !saysSomething(own)) return { own: text, around: [] };
  return { own, around: [text.slice(0, reply.start)] };
}

interface Quoted {
  text: string;
  reply: FoundReply;
}

/** Of a reply that has been heard, words must not join with those around it: `address … Client not known`. */
function withoutReplies(context: string, coded: readonly Quoted[]): string {
  const replies = coded.map(({ text, reply }) => text.slice(reply.start)).filter(saysSomething);
  return replies.reduce((rest, reply) => rest.split(reply).join(' '), context);
}

/** The sign that a name was replaced by. */
const HOST = '\ue002';
/** What servers write around each reply that they pass on, whatever it says: its words are about nothing. */
const FRAMES: readonly string[] = [
  String.raw`SMTP error from remote (?:mail ?server|mailer|server) (?:after|for) (?:RCPT TO|end of data|DATA|RCPT|TEXT|MAIL FROM|initial connection)(?: command)?\b`,
  String.raw`\b(?:remote )?(?:host|server) (?:${HOST} ?\[[^\]]{0,60}\]|[\w.-]{1,255} ?\[[\da-f.:]{3,45}\])(?: said)?:?|\b(?:remote )?(?:host|server) ${HOST}(?: said)?:|\b(?:remote )?(?:host|server) ${HOST} said\b|\bhost: ${HOST}(?: \([\d.]{1,20}\))?`,
  String.raw`\bfailed, id=\S{1,80}, from MTA ?\(\S{1,80}\):?`,
  String.raw`\bdns; ?[\w.\ue002-]{1,255}(?: \(TCP\|[^)]{1,200}\))?`,
  String.raw`does not like recipient\.?|remote host said|giving up on \S{1,100}`,
  String.raw`\(in reply to [\w ]{1,40} command\)|\(error following [\w ]{1,40} command\)\.?`,
  String.raw`\b55[04] (?:5\.0\.0 )?service unavailable$`,
  'a message that you sent could not be delivered to (?:one or more of its recipients|all of its recipients)',
  String.raw`the following address(?:es|\(es\))? (?:failed|had [\w ]{1,40}(?:errors|problems))`,
  'google tried to deliver your message, but it was rejected by (?:the server for )?the recipient domain',
  'we recommend contacting the other email provider[^.]{0,100}|the error that the other server returned was|\\berror message:',
  String.raw`technical details of (?:permanent|temporary) failure|(?:PERM|TEMP)_FAILURE:|SMTP error \(state \d{1,3}\)`,
  'your message was not delivered because the destination computer refused to accept it[^)]{0,80}',
  'this type of error is usually due to a mis-?configured account[^.]{0,400}too large',
  String.raw`remote server \([\w.:]{1,60}\) issued an error|error type: smtp\b|\w{1,40} sent: RCPT TO:<[^>]{0,300}>|remote (?:smtp )?server (?:replied|returned)`,
  'SMTP server <[^>]{1,255}> rejected recipient <[^>]{1,300}>|it responded as follows',
  'reason: remote SMTP server has rejected address|- other mail system problem',
  'the number and frequency of delivery attempts are determined by local configuration parameters',
  String.raw`\bthis is the [\w-]{1,40} (?:mail (?:server|system|agent)|program)(?: v[\w.]{1,20})? at (?:host )?\S{1,255}`,
  String.raw`\[(?:RCPT_TO|MAIL_FROM|DATA|CONNECT)\]|this is a permanent error; i.?ve given up`,
  '(?:please )?(?:check|correct|verify) [^.]{0,80} (?:try|send)[^.]{0,20} again',
  'the following data may contain sections which represent BASE64[^]{0,200}?(?:RFC822 format message|without MIME aware tools)[^]{0,120}?(?:RFC822 format message|$)',
  // Boilerplate in the delay notices of Exim and OpenSMTPD.
  'no action is required on your part[^]{0,120}?delivery attempts will continue[^]{0,300}?returned to you',
  'please note that this is only a temporary failure report[^]{0,160}?(?:to these recipients|for up to [^.]{1,40})',
  'a message is delayed for more than [^.]{1,60} list of recipients:',
  String.raw`a message that you sent has not yet been delivered[^.]{0,120} on the queue on \S{1,255}`,
];
const FRAME = new RegExp(FRAMES.join('|'), 'gi');

function withoutFrame(text: string): string {
  return text.slice(0, MAX_TEXT_CHARACTERS).replace(FRAME, ' ');
}

const MAX_TEXT_CHARACTERS = 4_000;
const MAX_LOOKED_AT = 400;

/** Words behind the code; `(#5.1.1)` has none, for what it is about stands before it. */
function saysSomething(reply: string): boolean {
  const words = reply.slice(0, MAX_LOOKED_AT).match(/[a-z]{2,}|[^\x20-\x7e]{2,}/gi) ?? [];
  // Where no blanks are written, a sentence is one word.
  return words.length >= 2 || /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{3}/.test(words[0] ?? '');
}

function hasCode({ smtpCode, enhancedCode }: FoundReply): boolean {
  return smtpCode !== null || enhancedCode !== null;
}

interface Circumstances {
  status: string | null;
  action: ReportedAction;
  stage: SmtpStage | null;
  mx: string | null;
}

/** The text as a reply. A report that gives no code at all still says whether it is for good. */
function saidIn(text: string, { status, action, stage, mx }: Circumstances): SaidReply {
  const { smtpCode, enhancedCode } = findReply(text);
  const said = { response: text, mx, ...(stage && { stage }) };
  if (action === 'delayed' && String(smtpCode ?? enhancedCode ?? '4')[0] !== '4') {
    return { ...said, smtpCode: null, enhancedCode: '4.0.0' };
  }
  const assumed = action === 'delayed' ? '4.0.0' : '5.0.0';
  return { ...said, smtpCode, enhancedCode: enhancedCode ?? status ?? (smtpCode === null ? assumed : null) };
}

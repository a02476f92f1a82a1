// What an inbound mail means: each recipient of a report is judged by the same rules as SMTP replies, the
// mail by its first recipient. A report has several texts (code, diagnostic, transcript, text for people):
// the first with a phrase of a rule decides, then the code, then the words of the whole text.
import { unreachable } from '../base/errors.ts';
import type { BounceType, SmtpStage } from '../base/outcome.ts';
import type {
  DeliveryReport,
  InboundMail,
  ReportedAction,
  ReportedRecipient,
} from '../protocol/mail/inbound/inbound-mail.ts';
import { withoutNames } from '../protocol/mail/inbound/names-in-text.ts';
import { withoutSubject } from '../protocol/mail/inbound/quoted-subject.ts';
import { withoutBoilerplate } from './boilerplate.ts';
import type { BounceRule } from './bounce-rule.ts';
import { type BounceRules, type Classification, classifyReply, type ServerReply } from './classify-reply.ts';
import type { Label } from './labels.ts';
import { namingSender } from './own-names.ts';
import { type FoundReply, findReply } from './reply-in-text.ts';

export type InboundKind = BounceType | 'auto_reply' | 'complaint' | 'delivered_notice' | 'unknown';

export interface JudgedRecipient {
  recipient: string | null;
  /** The address before forwarding, if the report names it. */
  originalRecipient: string | null;
  kind: BounceType | 'delivered_notice';
  action: ReportedAction;
  /** RFC 3463; null: the report has none. */
  status: string | null;
  smtpCode: number | null;
  /** Null if nothing was refused. */
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
  /** Empty if the mail is not a delivery report. */
  recipients: readonly JudgedRecipient[];
}

/** Facts that do not come from the mail. */
export interface KnownFacts {
  /** The MX group that the message was sent to; null: unknown, and no rule about one provider matches. */
  mx: string | null;
  /** The message that the report is about, as it was sent; null: unknown. */
  sent: SentFacts | null;
}

export interface SentFacts {
  /** Addresses, and domains whose addresses are all ours. */
  senders: readonly string[];
  recipient: string;
  subject: string;
}

export function judgeInboundMail(mail: InboundMail, rules: BounceRules, facts: KnownFacts): JudgedMail {
  switch (mail.kind) {
    case 'report': {
      const about = messageOf(mail, facts);
      const recipients = mail.recipients.map((recipient) => judgeRecipient(recipient, rules, about));
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

/** What is known about the message of a report. */
interface MessageFacts extends Pick<KnownFacts, 'mx'> {
  senders: readonly string[];
  /** To whom it was sent, if that is known: a report may name another one, or none. */
  sentTo: string | null;
  subjects: readonly string[];
}

/** From the returned header, which many reports leave out, and from what was sent. */
function messageOf({ original }: DeliveryReport, { mx, sent }: KnownFacts): MessageFacts {
  const returned = original
    ? [{ senders: [...original.returnPaths, ...original.from], subject: original.subject }]
    : [];
  const known = sent ? [...returned, sent] : returned;
  const senders = known.flatMap((one) => one.senders);
  return { mx, sentTo: sent?.recipient ?? null, senders, subjects: known.map(({ subject }) => subject) };
}

const SUCCESS_ACTIONS: ReadonlySet<ReportedAction> = new Set(['delivered', 'relayed', 'expanded']);

function judgeRecipient(recipient: ReportedRecipient, rules: BounceRules, facts: MessageFacts): JudgedRecipient {
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
  if (SUCCESS_ACTIONS.has(action)) {
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
  // The reporting server is still trying, whatever replies it got so far.
  const kind = action === 'delayed' ? 'soft' : verdict.class;
  return { ...common, kind, status, label, rule, reason };
}

/** The more specific of the two: a status that ends in zero says less than the code in the reply. */
function statusOf(reported: string | null, inReplies: readonly (string | null)[]): string | null {
  const said = inReplies.find((code) => code !== null) ?? null;
  if (reported === null || said === null) return reported ?? said;
  const isVague = /\.0$/.test(reported) && !/\.0$/.test(said);
  return isVague && reported[0] === said[0] ? said : reported;
}

/** What the rules say about one text of a report. */
interface JudgedText {
  verdict: Classification;
  rule: BounceRule;
  /** Its code ends in zero, so any words say more; for policy and content (x.6, x.7) such a code is specific enough. */
  isVague: boolean;
}

function verdictOf(reported: ReportedRecipient, rules: BounceRules, facts: MessageFacts): Classification {
  const unquoted = (text: string) => facts.subjects.reduce(withoutSubject, text);
  const recipient = {
    ...reported,
    diagnostics: reported.diagnostics.map(unquoted),
    context: reported.context && unquoted(reported.context),
  };
  const verdict = verdictOnTexts(recipient, rules, facts);
  if (verdict.class !== 'hard') return verdict;
  const named = [recipient.address, recipient.originalAddress, facts.sentTo];
  const recipients = named.filter((address) => address !== null);
  const parties = { senders: facts.senders, recipients };
  const diagnostics = recipient.diagnostics.map((text) => {
    // Only of a reply: before and without one, the report has words of its own.
    const reply = findReply(text);
    return hasCode(reply) ? text.slice(0, reply.start) + namingSender(text.slice(reply.start), parties) : text;
  });
  const namesSender = diagnostics.some((text, place) => text !== recipient.diagnostics[place]);
  return namesSender ? verdictOnTexts({ ...recipient, diagnostics }, rules, facts) : verdict;
}

function verdictOnTexts(recipient: ReportedRecipient, rules: BounceRules, { mx }: MessageFacts): Classification {
  const { action, status } = recipient;
  // Names of hosts and mailboxes must not decide anything, by words or by numbers in them.
  const diagnostics = recipient.diagnostics.map(withoutNames);
  const context = recipient.context === null ? null : withoutNames(recipient.context);
  const quoted = (diagnostics.length > 0 ? diagnostics : ['']).map((text) => ({ text, reply: findReply(text) }));
  // One text may name the command, and another the reply.
  const stage = quoted.find(({ reply }) => reply.stage !== null)?.reply.stage ?? null;
  const circumstances = { status, action, stage, mx };
  const judgeText = memoized((text) => {
    const said = replyIn(withoutBoilerplate(text), circumstances);
    const verdict = classifyReply(said, rules);
    const isVague = /^\d\.[0-5]\.0$/.test(said.enhancedCode ?? '');
    return { verdict, rule: rules.all.find(({ id }) => id === verdict.rule)!, isVague };
  });
  // A text without a code often introduces one with a code.
  const [coded, others] = [quoted.filter(({ reply }) => hasCode(reply)), quoted.filter(({ reply }) => !hasCode(reply))];
  const split = [...coded, ...others].map(splitAtReply);
  const own = split.map((each) => each.own);
  const around = split.flatMap((each) => each.around);
  const whole = context === null ? [] : [withoutReplies(context, coded)];
  // Mostly the first reply is enough: later texts are classified only if nothing before them has decided.
  const first = (texts: readonly string[], decides: (judged: JudgedText) => boolean) => {
    const text = texts.find((each) => decides(judgeText(each)));
    return text === undefined ? undefined : judgeText(text);
  };
  const judged =
    first(own, isSpecific) ??
    first(own, ({ rule, isVague }) => rule.enhanced.length > 0 && !isVague) ??
    first(own.slice(0, coded.length), ({ rule }) => rule.text.length > 0 && rule.class === 'block') ??
    first([...around, ...whole], isSpecific) ??
    first([...own, ...around], ({ rule }) => rule.text.length > 0) ??
    judgeText(own[0]!);
  return judged.verdict;
}

/** The stage of a reply says as much as words do. */
function isSpecific({ rule }: JudgedText): boolean {
  return (rule.text.length > 0 || rule.stages.length > 0) && !rule.isGeneral;
}

function memoized(judgeText: (text: string) => JudgedText): (text: string) => JudgedText {
  const judged = new Map<string, JudgedText>();
  return (text) => {
    const known = judged.get(text) ?? judgeText(text);
    judged.set(text, known);
    return known;
  };
}

/** Separates the reply from the text before it: the report's introduction has words of its own. */
function splitAtReply({ text, reply }: Quoted): { own: string; around: string[] } {
  const own = text.slice(reply.start);
  if (reply.start === 0 || !hasWords(own)) return { own: text, around: [] };
  return { own, around: [text.slice(0, reply.start)] };
}

interface Quoted {
  text: string;
  reply: FoundReply;
}

/** Replies are classified separately; their words must not join with those around them: `address … Client not known`. */
function withoutReplies(context: string, coded: readonly Quoted[]): string {
  const replies = coded.map(({ text, reply }) => text.slice(reply.start)).filter(hasWords);
  return replies.reduce((rest, reply) => rest.split(reply).join(' '), context);
}

const MAX_SEARCHED_CHARACTERS = 400;

/** Whether words follow the code; `(#5.1.1)` has none, because its cause is before it. */
function hasWords(reply: string): boolean {
  const words = reply.slice(0, MAX_SEARCHED_CHARACTERS).match(/[a-z]{2,}|[^\x20-\x7e]{2,}/gi) ?? [];
  // In scripts without spaces, a sentence is one word.
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

/** The text as a reply. A report without any code still says whether the failure is permanent. */
function replyIn(text: string, { status, action, stage, mx }: Circumstances): ServerReply {
  const { smtpCode, enhancedCode } = findReply(text);
  const said = { response: text, mx, ...(stage && { stage }) };
  if (action === 'delayed' && String(smtpCode ?? enhancedCode ?? '4')[0] !== '4') {
    return { ...said, smtpCode: null, enhancedCode: '4.0.0' };
  }
  const assumed = action === 'delayed' ? '4.0.0' : '5.0.0';
  return { ...said, smtpCode, enhancedCode: enhancedCode ?? status ?? (smtpCode === null ? assumed : null) };
}

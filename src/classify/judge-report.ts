// What a mail that came in means: each recipient of a report by the same rules as the replies that
// servers give at once, the mail as a whole by its first recipient. A report speaks with several
// voices (the code, the diagnostic, the transcript, the text for people); the first whose words a
// rule knows is believed, then the code, then the words of the whole text.
import { unreachable } from '../base/errors.ts';
import type { BounceType, SmtpStage } from '../base/outcome.ts';
import type { InboundMail, ReportedAction, ReportedRecipient } from '../protocol/mail/inbound/inbound-mail.ts';
import type { BounceRule } from './bounce-rule.ts';
import { type BounceRules, type Classification, classifyReply, type SaidReply } from './classify-reply.ts';
import type { Label } from './labels.ts';
import { type FoundReply, findReply } from './reply-in-text.ts';

export type InboundKind = BounceType | 'auto_reply' | 'complaint' | 'delivered_notice' | 'unknown';

export interface JudgedRecipient {
  recipient: string | null;
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

export function judgeInboundMail(mail: InboundMail, rules: BounceRules): JudgedMail {
  switch (mail.kind) {
    case 'report': {
      const recipients = mail.recipients.map((recipient) => judgeRecipient(recipient, rules));
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

export function judgeRecipient(recipient: ReportedRecipient, rules: BounceRules): JudgedRecipient {
  const { address, action, remoteMta, diagnostics } = recipient;
  const found = diagnostics.map(findReply);
  const smtpCode = found.find((reply) => reply.smtpCode !== null)?.smtpCode ?? null;
  const common = { recipient: address, action, remoteMta, diagnostic: diagnostics[0] ?? null, smtpCode };
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
  const verdict = verdictOf(recipient, status, rules);
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

interface Voice {
  verdict: Classification;
  rule: BounceRule;
}

function verdictOf(recipient: ReportedRecipient, status: string | null, rules: BounceRules): Classification {
  const { action, diagnostics, context, remoteMta } = recipient;
  const quoted = (diagnostics.length > 0 ? diagnostics : ['']).map((text) => ({ text, reply: findReply(text) }));
  // One of them may tell at which command it was, and by whom, and another the reply itself.
  const stage = quoted.find(({ reply }) => reply.stage !== null)?.reply.stage ?? null;
  const host = quoted.find(({ reply }) => reply.host !== null)?.reply.host ?? null;
  const circumstances = { status, action, stage, mx: host ?? remoteMta };
  const listen = (text: string): Voice => {
    const verdict = classifyReply(saidIn(text, circumstances), rules);
    return { verdict, rule: rules.all.find(({ id }) => id === verdict.rule)! };
  };
  // Who quotes no code may still be introducing the one who does.
  const [coded, others] = [quoted.filter(({ reply }) => hasCode(reply)), quoted.filter(({ reply }) => !hasCode(reply))];
  const spoken = [...coded, ...others].map(({ text, reply }) => {
    // The reply by itself first: what the writer of the report says around it has words of its own.
    const alone = text.slice(reply.start);
    const isAll = reply.start === 0 || !saysSomething(alone);
    return isAll
      ? { reply: listen(withoutFrame(text)), around: [] }
      : { reply: listen(withoutFrame(alone)), around: [listen(withoutFrame(text))] };
  });
  const own = spoken.map(({ reply }) => reply);
  const around = spoken.flatMap((each) => each.around);
  const whole = context === null ? [] : [listen(withoutFrame(context))];
  const telling = ({ rule }: Voice) => rule.text.length > 0 && !rule.isGeneral;
  const voice =
    own.find(telling) ??
    own.find(({ rule }) => rule.enhanced.length > 0) ??
    [...around, ...whole].find(telling) ??
    [...own, ...around].find(({ rule }) => rule.text.length > 0) ??
    own[0]!;
  return voice.verdict;
}

/** What servers write before each reply that they pass on, whatever it says: its words are about nothing. */
const FRAME =
  /SMTP error from remote (?:mail ?server|mailer|server) after (?:RCPT TO|end of data|DATA|RCPT|initial connection)\b|\b(?:remote )?(?:host|server) [\w.-]{1,255}(?: ?\[[^\]]{0,60}\])?(?: said)?:|does not like recipient\.?|remote host said|giving up on \S{1,100}|\(in reply to [\w ]{1,40} command\)|\b55[04] (?:5\.0\.0 )?service unavailable$|a message that you sent could not be delivered to (?:one or more of its recipients|all of its recipients)|the following address(?:es|\(es\))? (?:failed|had [\w ]{1,40}(?:errors|problems))/gi;

function withoutFrame(text: string): string {
  return text.slice(0, MAX_TEXT_CHARACTERS).replace(FRAME, ' ');
}

const MAX_TEXT_CHARACTERS = 4_000;
const MAX_LOOKED_AT = 400;

/** Words behind the code; `(#5.1.1)` has none, for what it is about stands before it. */
function saysSomething(reply: string): boolean {
  const words = reply.slice(0, MAX_LOOKED_AT).match(/[a-z]{2,}|[^\x20-\x7e]{2,}/gi) ?? [];
  return words.length >= 2;
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

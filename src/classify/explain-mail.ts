// Explains an inbound mail in one flat record, which the command line prints and programs parse: its
// field names are part of that interface, in snake_case.
import type { BounceType } from '../base/outcome.ts';
import type { ReportedAction } from '../protocol/mail/inbound/inbound-mail.ts';
import { readInboundMail } from '../protocol/mail/inbound/read-inbound-mail.ts';
import type { BounceRules } from './classify-reply.ts';
import { type InboundKind, type JudgedRecipient, judgeInboundMail } from './judge-report.ts';
import type { Label } from './labels.ts';

export interface ExplainedRecipient {
  recipient: string | null;
  /** The address before forwarding; null: the report doesn't say. */
  original_recipient: string | null;
  kind: BounceType | 'delivered_notice' | 'complaint' | 'auto_reply';
  action: ReportedAction | null;
  status: string | null;
  smtp_code: number | null;
  label: Label | null;
  rule: string | null;
  reason: string;
  remote_mta: string | null;
  diagnostic: string | null;
}

/** The fields of the first recipient, and those of the whole mail. */
export interface ExplainedMail extends Omit<ExplainedRecipient, 'kind'> {
  kind: InboundKind;
  reporting_mta: string | null;
  original_message_id: string | null;
  /** RFC 5965; null: not a complaint. */
  feedback_type: string | null;
  recipients: ExplainedRecipient[];
}

/** `mx`: the MX host or group to which the message was sent, where it is known. */
export function explainMail(bytes: Buffer, rules: BounceRules, mx: string | null = null): ExplainedMail {
  const mail = readInboundMail(bytes);
  const { kind, reason, recipients: judged } = judgeInboundMail(mail, rules, { mx, sent: null });
  const recipients = judged.map(explainRecipient);
  const named =
    mail.kind === 'complaint' ? mail.recipients : mail.kind === 'auto_reply' && mail.from ? [mail.from] : [];
  const quiet = named.map((address) => withoutRefusal(address, mail.kind as 'complaint' | 'auto_reply', reason));
  const all: ExplainedRecipient[] = [...recipients, ...quiet];
  const first = all[0] ?? withoutRefusal(null, 'auto_reply', reason);
  const hasOriginal = mail.kind === 'report' || mail.kind === 'complaint';
  return {
    ...first,
    kind,
    reason,
    reporting_mta: hasOriginal ? mail.reportingMta : null,
    original_message_id: hasOriginal ? (mail.original?.messageId ?? null) : null,
    feedback_type: mail.kind === 'complaint' ? mail.feedbackType : null,
    recipients: all,
  };
}

function explainRecipient(judged: JudgedRecipient): ExplainedRecipient {
  const { recipient, originalRecipient, kind, action, status, smtpCode, label, rule, reason } = judged;
  return {
    recipient,
    original_recipient: originalRecipient,
    kind,
    action,
    status,
    smtp_code: smtpCode,
    label,
    rule,
    reason,
    remote_mta: judged.remoteMta,
    diagnostic: judged.diagnostic,
  };
}

function withoutRefusal(
  recipient: string | null,
  kind: 'complaint' | 'auto_reply',
  reason: string,
): ExplainedRecipient {
  const nothing = { action: null, status: null, smtp_code: null, label: null, rule: null };
  return { recipient, original_recipient: null, kind, ...nothing, reason, remote_mta: null, diagnostic: null };
}

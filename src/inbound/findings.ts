// The summary of a mail that is stored for people: short, bounded, without its body. And the digest that
// identifies a repeated report.
import { createHash } from 'node:crypto';
import { oneLine } from '../base/text/one-line.ts';
import type { JudgedRecipient } from '../classify/judge-report.ts';
import type { Complaint, DeliveryReport } from '../protocol/mail/inbound/inbound-mail.ts';

const MAX_RECIPIENTS = 20;
const MAX_TEXT_CHARACTERS = 500;
const DIGEST_BYTES = 16;

export function reportFinding(report: DeliveryReport, recipients: readonly JudgedRecipient[]): Record<string, unknown> {
  return {
    reporting_mta: short(report.reportingMta),
    ...(report.unrecognised && {
      from: short(report.unrecognised.from),
      subject: short(report.unrecognised.subject),
    }),
    recipients: recipients.slice(0, MAX_RECIPIENTS).map((judged) => ({
      address: short(judged.recipient),
      kind: judged.kind,
      action: judged.action,
      status: judged.status,
      label: judged.label,
      rule: judged.rule,
      remote_mta: short(judged.remoteMta),
      diagnostic: short(judged.diagnostic),
    })),
  };
}

export function complaintFinding(complaint: Complaint, proof: string | null): Record<string, unknown> {
  return {
    feedback_type: short(complaint.feedbackType),
    proof,
    recipients: complaint.recipients.slice(0, MAX_RECIPIENTS).map((address) => short(address)),
    user_agent: short(complaint.userAgent),
    arrival_date: short(complaint.arrivalDate),
    reported_domain: short(complaint.reportedDomain),
    source_ip: short(complaint.sourceIp),
    original_message_id: short(complaint.original?.messageId ?? null),
  };
}

/** A digest of the report's content, not of its bytes: a second copy has other Received fields. */
export function digestOf(finding: Record<string, unknown>): Buffer {
  return createHash('sha256').update(JSON.stringify(finding)).digest().subarray(0, DIGEST_BYTES);
}

/** Any text of a stranger, for people and for events. */
export function short(text: string | null, maxCharacters = MAX_TEXT_CHARACTERS): string | null {
  return text === null ? null : oneLine(text, maxCharacters);
}

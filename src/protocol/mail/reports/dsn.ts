// Writes delivery status notifications: RFC 3464, for one recipient. The capture server of
// the sandbox sends them. `relayed`, `expanded` and `delivered` reports are left out.
import { composeReport, type ReportFields, rfc5322Date, typedAddress } from './report.ts';

export interface DsnInput {
  /** Host name of the server that reports. */
  reportingMta: string;
  from: string;
  /** The return path of the message; the report itself is sent with an empty one. */
  to: string;
  /** ENVID of the original transaction (RFC 3461 section 4.4). */
  originalEnvelopeId?: string;
  finalRecipient: string;
  action: 'failed' | 'delayed';
  /** RFC 3463, for example `5.1.1`. */
  status: string;
  /** The SMTP reply, for example `550 5.1.1 No such user`. */
  diagnostic: string;
  /** The host that gave the reply, when it was not the reporting one. */
  remoteMta?: string;
  /** The header of the original, without its body. */
  originalHeaders: Buffer;
  date: Date;
}

/** In the text for people; Diagnostic-Code has the whole reply. */
const MAX_REASON_CHARS = 300;

export function composeDsn(input: DsnInput): Buffer {
  const failed = input.action === 'failed';
  const text = [
    failed ? 'This message could not be delivered.' : 'This message is delayed; delivery is still being tried.',
    '',
    `  Recipient: ${input.finalRecipient}`,
    `  Reason: ${input.diagnostic.replace(/\p{Cc}/gu, ' ').slice(0, MAX_REASON_CHARS)}`,
    '',
  ].join('\r\n');
  return composeReport({
    reportType: 'delivery-status',
    from: input.from,
    to: input.to,
    subject: failed ? 'Undelivered mail' : 'Delayed mail',
    date: input.date,
    host: input.reportingMta,
    text,
    fields: { contentType: 'message/delivery-status', blocks: [messageFields(input), recipientFields(input)] },
    original: { contentType: 'text/rfc822-headers', content: input.originalHeaders },
  });
}

/** RFC 3464 section 2.2. */
function messageFields(input: DsnInput): ReportFields {
  return [
    ['Original-Envelope-Id', input.originalEnvelopeId],
    ['Reporting-MTA', `dns; ${input.reportingMta}`],
    ['Arrival-Date', rfc5322Date(input.date)],
  ];
}

/** RFC 3464 section 2.3. */
function recipientFields(input: DsnInput): ReportFields {
  return [
    ['Final-Recipient', typedAddress(input.finalRecipient)],
    ['Action', input.action],
    ['Status', input.status],
    ['Remote-MTA', input.remoteMta === undefined ? undefined : `dns; ${input.remoteMta}`],
    ['Diagnostic-Code', `smtp; ${input.diagnostic}`],
    ['Last-Attempt-Date', rfc5322Date(input.date)],
  ];
}

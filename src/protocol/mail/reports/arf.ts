// Writes complaint reports in the Abuse Reporting Format: RFC 5965, for one message. The
// capture server of the sandbox sends them. The original is embedded whole, so that the
// receiver can check its signature and its CFBL-Feedback-ID (RFC 9477 section 3.3).
import { composeReport, rfc5322Date, typedAddress } from './report.ts';

export interface ArfInput {
  /** RFC 5965 section 7.3: `abuse`, `fraud`, `virus`, `not-spam`, `other`. */
  feedbackType: string;
  from: string;
  /** The address of the CFBL-Address header. */
  to: string;
  originalMessage: Buffer;
  /** The source of the original. */
  sourceIp: string;
  arrivalDate: Date;
  reportedDomain: string;
  originalMailFrom?: string;
  originalRcptTo?: string;
  /** Host name of the server that reports. */
  reportingMta: string;
  date: Date;
}

const USER_AGENT = 'Postrider-Sandbox/1';

export function composeArf(input: ArfInput): Buffer {
  const text = [
    `This is a report of type "${input.feedbackType}" about a message that`,
    `came from ${input.sourceIp} on ${rfc5322Date(input.arrivalDate)}.`,
    '',
  ].join('\r\n');
  const fields: [string, string | undefined][] = [
    // RFC 5965 section 3.1: these three are required, once each.
    ['Feedback-Type', input.feedbackType],
    ['User-Agent', USER_AGENT],
    ['Version', '1'],
    ['Original-Mail-From', angled(input.originalMailFrom)],
    ['Original-Rcpt-To', angled(input.originalRcptTo)],
    ['Arrival-Date', rfc5322Date(input.arrivalDate)],
    ['Reporting-MTA', `dns; ${input.reportingMta}`],
    ['Source-IP', input.sourceIp],
    ['Reported-Domain', input.reportedDomain],
  ];
  return composeReport({
    reportType: 'feedback-report',
    from: input.from,
    to: input.to,
    subject: 'Complaint about a message',
    date: input.date,
    host: input.reportingMta,
    text,
    fields: { contentType: 'message/feedback-report', blocks: [fields] },
    original: { contentType: 'message/rfc822', content: input.originalMessage },
  });
}

/** The fields of a report are ASCII: an address that is not is written as in RFC 6533 section 3. */
function angled(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  return `<${typedAddress(address).replace(/^[^;]*; /, '')}>`;
}

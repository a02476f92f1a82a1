// The mail that comes back for a captured one: a delivery report to its envelope sender
// (RFC 3464), or a complaint to the address that its CFBL-Address names (RFC 9477 section 3.2).

import { isAscii } from 'node:buffer';
import type { CapturedMail } from '../portal/captured-mails.ts';
import { composeArf } from '../protocol/mail/reports/arf.ts';
import { composeDsn } from '../protocol/mail/reports/dsn.ts';
import type { ReportKind } from './magic-recipient.ts';

export interface ReportMail {
  rcptTo: string;
  message: Buffer;
  needsEightBit: boolean;
}

export interface ReportRequest {
  kind: ReportKind;
  mail: CapturedMail;
  raw: Buffer;
  recipient: string;
  /** Who reports. */
  host: string;
  date: Date;
}

/** Null when nobody may be told: a null sender gets no delivery report (RFC 3464 section 2, RFC 5321 section 4.5.5). */
export function composeReportMail(request: ReportRequest): ReportMail | null {
  const to = request.kind === 'later-bounce' ? request.mail.mailFrom : complaintAddress(request.raw);
  if (!to) return null;
  const message = request.kind === 'later-bounce' ? deliveryReport(request, to) : complaint(request, to);
  return { rcptTo: to, message, needsEightBit: !isAscii(message) };
}

function deliveryReport({ raw, recipient, host, date }: ReportRequest, to: string): Buffer {
  return composeDsn({
    reportingMta: host,
    from: `Mail Delivery System <mailer-daemon@${host}>`,
    to,
    finalRecipient: recipient,
    action: 'failed',
    status: '5.1.1',
    diagnostic: '550 5.1.1 The mailbox does not exist; the message had been accepted by a relay',
    originalHeaders: raw.subarray(0, headerEnd(raw)),
    date,
  });
}

function complaint({ mail, raw, recipient, host, date }: ReportRequest, to: string): Buffer {
  return composeArf({
    feedbackType: 'abuse',
    from: `Complaints <complaints@${host}>`,
    to,
    originalMessage: raw,
    sourceIp: mail.remoteIp,
    arrivalDate: new Date(mail.receivedAt),
    reportedDomain: domainOf(headerValue(raw, 'From') ?? mail.mailFrom),
    originalMailFrom: mail.mailFrom,
    originalRcptTo: recipient,
    reportingMta: host,
    date,
  });
}

/** `fbl@example.com; report=arf`: the address without the parameters. */
function complaintAddress(raw: Buffer): string | null {
  const [address = ''] = (headerValue(raw, 'CFBL-Address') ?? '').split(';', 1);
  return /^[\x21-\x7e]+@[\x21-\x7e]+$/.test(address.trim()) ? address.trim() : null;
}

/** The first field of this name, unfolded (RFC 5322 section 2.2.3). */
function headerValue(raw: Buffer, name: string): string | null {
  const header = raw.toString('utf8', 0, headerEnd(raw)).replace(/\r\n(?=[ \t])/g, '');
  const prefix = `${name.toLowerCase()}:`;
  const field = header.split('\r\n').find((line) => line.toLowerCase().startsWith(prefix));
  return field === undefined ? null : field.slice(prefix.length).trim();
}

/** Where the header ends, its last line end included. */
function headerEnd(raw: Buffer): number {
  const blankLine = raw.indexOf('\r\n\r\n');
  return blankLine < 0 ? raw.length : blankLine + 2;
}

function domainOf(mailbox: string): string {
  return mailbox.slice(mailbox.lastIndexOf('@') + 1).replace(/>.*$/s, '');
}

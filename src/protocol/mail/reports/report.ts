// The common frame of delivery reports (RFC 3464) and complaint reports (RFC 5965): a multipart/report (RFC 6522) of a
// text for people, fields for machines, and the original or its header. Pure: the boundary and the Message-ID are
// derived from the content.

import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { foldField, textField, valueField } from '../header-field.ts';

export interface ReportFrame {
  /** RFC 6522 section 3: `delivery-status` or `feedback-report`. */
  reportType: string;
  /** A bare address or `Name <address>`, in ASCII. */
  from: string;
  to: string;
  subject: string;
  date: Date;
  /** The right side of Message-ID. */
  host: string;
  /** For people. */
  text: string;
  /** Content type and content of the second part. */
  fields: { contentType: string; blocks: readonly ReportFields[] };
  /** Content type and content of the third part. */
  original: { contentType: 'message/rfc822' | 'text/rfc822-headers'; content: Buffer };
}

/** Undefined values are left out. */
export type ReportFields = readonly (readonly [name: string, value: string | undefined])[];

export function composeReport(frame: ReportFrame): Buffer {
  const original = withCrlf(frame.original.content);
  const text = withCrlf(Buffer.from(frame.text));
  const fields = Buffer.from(frame.fields.blocks.map(fieldBlock).join('\r\n'));
  const digest = createHash('sha256').update(text).update(fields).update(original).digest('hex').slice(0, 32);
  // No part can contain its own hash.
  const boundary = `=_${digest}`;
  const part = (headers: string[], content: Buffer): Buffer[] => [
    Buffer.from(`--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ];
  return Buffer.concat([
    Buffer.from(frameHeader(frame, { digest, boundary, encoding: encodingOf(Buffer.concat([text, original])) })),
    ...part(['Content-Type: text/plain; charset=utf-8', `Content-Transfer-Encoding: ${encodingOf(text)}`], text),
    ...part([`Content-Type: ${frame.fields.contentType}`], fields),
    ...part(
      [`Content-Type: ${frame.original.contentType}`, `Content-Transfer-Encoding: ${encodingOf(original)}`],
      original,
    ),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}

function frameHeader(frame: ReportFrame, made: { digest: string; boundary: string; encoding: string }): string {
  const contentType = `multipart/report; report-type=${frame.reportType}; boundary="${made.boundary}"`;
  return [
    valueField('From', frame.from),
    valueField('To', frame.to),
    textField('Subject', frame.subject),
    foldField('Date', rfc5322Date(frame.date)),
    foldField('Message-ID', `<${made.digest}@${frame.host}>`),
    // RFC 3834 section 5: programs must not reply to a reply.
    foldField('Auto-Submitted', 'auto-replied'),
    foldField('MIME-Version', '1.0'),
    foldField('Content-Type', contentType),
    foldField('Content-Transfer-Encoding', made.encoding),
    '\r\n',
  ].join('');
}

export function rfc5322Date(date: Date): string {
  return date.toUTCString().replace('GMT', '+0000');
}

/** An address for the fields of a report, which are ASCII: with its type, non-ASCII as `\x{…}` (RFC 6533 section 3). */
export function typedAddress(address: string): string {
  const ascii = address.replace(/[^\x00-\x7f]/gu, (char) => `\\x{${char.codePointAt(0)!.toString(16).toUpperCase()}}`);
  return `${ascii === address ? 'rfc822' : 'utf-8'}; ${ascii}`;
}

function fieldBlock(block: ReportFields): string {
  return block.map(([name, value]) => (value === undefined ? '' : valueField(name, value))).join('');
}

/** RFC 2046 section 5.2.1: an embedded message is not encoded, only labelled as what it is. */
function encodingOf(content: Buffer): string {
  return isAscii(content) ? '7bit' : '8bit';
}

/** RFC 5322 section 2.3: CR and LF only together. Other octets stay as they are. */
function withCrlf(content: Buffer): Buffer {
  return Buffer.from(content.toString('latin1').replace(/\r\n?|\n/g, '\r\n'), 'latin1');
}

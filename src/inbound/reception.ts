// Receives the data of one mail, within limits on its size and on the memory of all mails being
// received; the listener's timeouts limit its time.
import type { SMTPServerDataStream } from 'smtp-server';
import { bareLineEndAt, lineAt } from '../smtp-listener/line-ends.ts';
import type { SmtpReply } from '../smtp-listener/smtp-reply.ts';
import type { MailLimit } from './size-limits.ts';

export type Received =
  /** `content` is shorter than `sizeBytes` where the mail was cut. */
  | { kind: 'mail'; content: Buffer; sizeBytes: number }
  | { kind: 'refused'; why: Refusal; reply: SmtpReply; sizeBytes: number; hangUp: boolean };

export type Refusal = 'bare_line_end' | 'too_large' | 'no_room';

export interface ReceptionLimits extends MailLimit {
  take(bytes: number): boolean;
}

export const NO_ROOM: SmtpReply = { code: 452, text: '4.3.1 No storage for mail at the moment; try again later' };
const CRLF = Buffer.from('\r\n');

/**
 * Rejects when the connection is lost. What exceeds `maxBytes` is read and dropped, because only a reply after the final
 * dot is final: a sender whose connection is cut retries for days. Beyond `maxReadBytes` it is cut off all the same.
 */
export async function receive(
  stream: SMTPServerDataStream,
  { maxBytes, maxReadBytes, isCut, reply, take }: ReceptionLimits,
): Promise<Received> {
  const chunks: Buffer[] = [];
  let [sizeBytes, kept] = [0, 0];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxReadBytes) return { kind: 'refused', why: 'too_large', reply, sizeBytes, hangUp: true };
    if (sizeBytes > maxBytes && !isCut) {
      take(-kept);
      kept = 0;
      chunks.length = 0;
      continue;
    }
    const part = chunk.subarray(0, maxBytes - kept);
    if (part.length === 0) continue;
    if (!take(part.length)) return { kind: 'refused', why: 'no_room', reply: NO_ROOM, sizeBytes, hangUp: true };
    kept += part.length;
    chunks.push(part);
  }
  if (sizeBytes > maxBytes && !isCut) return { kind: 'refused', why: 'too_large', reply, sizeBytes, hangUp: false };
  return check(Buffer.concat(chunks, kept), sizeBytes);
}

/** Dropped bytes are not checked: nothing reads them, and only CR LF dot CR LF has ended them. */
function check(start: Buffer, sizeBytes: number): Received {
  const content = start.length < sizeBytes ? wholeLines(start) : start;
  const bareAt = bareLineEndAt(content);
  if (bareAt < 0) return { kind: 'mail', content, sizeBytes };
  const text = `5.6.11 Line ${lineAt(content, bareAt)} of the mail has a bare CR or LF; lines must end with CR LF (RFC 5321 section 2.3.8)`;
  return { kind: 'refused', why: 'bare_line_end', reply: { code: 554, text }, sizeBytes, hangUp: false };
}

function wholeLines(start: Buffer): Buffer {
  const at = start.lastIndexOf(CRLF);
  return start.subarray(0, at < 0 ? 0 : at + CRLF.length);
}

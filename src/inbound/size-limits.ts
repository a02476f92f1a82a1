// Limits on mail and stored content by recipient: stricter for addresses that anyone can write to than for
// returned mail. That is limited, too, because every recipient of a message knows its return path. A report that returns
// a large original is cut, not refused: what matters comes before the original, and a refused report is lost.
import type { SmtpReply } from '../smtp-listener/smtp-reply.ts';
import type { ContentQuota } from '../store/inbound.ts';
import { type InboundRecipient, isBoundToMessage } from './recipients.ts';

export interface SizeLimits {
  /** What is kept of one mail. */
  maxBytes: number;
  /** What is read of one mail to a return path; what exceeds `maxBytes` is dropped. */
  maxReadBytes: number;
  /** Size of one mail to a role, which anyone can write to. */
  maxRoleBytes: number;
  /** Stored content of all mails that belong to no message. */
  maxUnaskedBytes: number;
  /** Stored content of all mails that were returned for messages. */
  maxReturnedBytes: number;
}

/** Of one mail to the address for DMARC reports. The largest receivers' are smaller, and many mail servers accept no more. */
const MAX_DMARC_BYTES = 10 * 1024 * 1024;
/** A message has one recipient: honest servers send one bounce and some delay notices. */
const MAILS_PER_MESSAGE_AND_DAY = 20;
const BYTES_PER_MESSAGE_AND_DAY = 20 * 1024 * 1024;
/** For mails beyond that, until they are processed; those of other messages never wait for them. */
const WAITING_BYTES = 64 * 1024 * 1024;

export interface MailLimit {
  /** What is kept. */
  maxBytes: number;
  /** What is read: a mail that goes on is cut off with `reply`. */
  maxReadBytes: number;
  /** Whether the first part of a larger mail is kept; otherwise the mail is refused with `reply`. */
  isCut: boolean;
  reply: SmtpReply;
}

/** Only a mail that nobody but return paths gets is cut: a person would not notice that the rest is missing. */
export function limitOfMail(
  recipients: readonly InboundRecipient[],
  { maxBytes, maxRoleBytes, maxReadBytes }: SizeLimits,
): MailLimit {
  if (recipients.every(({ kind }) => kind === 'return_path')) {
    return { maxBytes, maxReadBytes, isCut: true, reply: tooLarge('A report', maxReadBytes) };
  }
  const has = (wanted: InboundRecipient['kind']) => recipients.some(({ kind }) => kind === wanted);
  const refusedBeyond = (limit: number, what: string): MailLimit => {
    return { maxBytes: limit, maxReadBytes: maxBytes, isCut: false, reply: tooLarge(what, limit) };
  };
  const maxDmarcBytes = Math.max(MAX_DMARC_BYTES, maxRoleBytes);
  if (maxRoleBytes < maxBytes && has('role')) return refusedBeyond(maxRoleBytes, 'A mail to postmaster, abuse or fbl');
  if (maxDmarcBytes < maxBytes && has('dmarc')) return refusedBeyond(maxDmarcBytes, 'A mail with a DMARC report');
  return refusedBeyond(maxBytes, 'A mail');
}

/** The largest size that may be announced for it (RFC 1870). */
export function mostAnnounced({ maxBytes, maxReadBytes, isCut }: MailLimit): number {
  return isCut ? maxReadBytes : maxBytes;
}

function tooLarge(what: string, maxBytes: number): SmtpReply {
  return { code: 552, text: `5.3.4 ${what} is limited to ${maxBytes} bytes` };
}

/** Where a mail's content counts: everything stored has a limit. */
export function quotaOf(
  recipients: readonly InboundRecipient[],
  { maxBytes, maxUnaskedBytes, maxReturnedBytes }: SizeLimits,
): ContentQuota {
  const bound = recipients.find(isBoundToMessage);
  if (bound === undefined) return { of: 'unasked', maxBytes: maxUnaskedBytes };
  return {
    of: 'returned',
    messageId: bound.messageId,
    maxBytes: maxReturnedBytes,
    mailsPerDay: MAILS_PER_MESSAGE_AND_DAY,
    // The first bounce is kept at any permitted size.
    bytesPerDay: Math.max(BYTES_PER_MESSAGE_AND_DAY, maxBytes),
    waitingBytes: Math.max(WAITING_BYTES, maxBytes),
  };
}

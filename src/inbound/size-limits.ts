// Limits on mail and stored content by recipient: stricter for addresses that anyone can write to than for
// returned mail. That is limited, too, because every recipient of a message knows its return path.
import type { ContentQuota } from '../store/inbound.ts';
import type { SmtpReply } from './reception.ts';
import { type InboundRecipient, isBoundToMessage } from './recipients.ts';

export interface SizeLimits {
  /** Size of one mail. */
  maxBytes: number;
  /** Size of one mail to a role, which anyone can write to. */
  maxRoleBytes: number;
  /** Stored content of all mails that belong to no message. */
  maxUnaskedBytes: number;
  /** Stored content of all mails that were returned for messages. */
  maxReturnedBytes: number;
}

/** A message has one recipient: honest servers send one bounce and some delay notices. */
const MAILS_PER_MESSAGE_AND_DAY = 20;
const BYTES_PER_MESSAGE_AND_DAY = 20 * 1024 * 1024;
/** For mails beyond that, until they are processed; those of other messages never wait for them. */
const WAITING_BYTES = 64 * 1024 * 1024;

/** `reply` is for a larger mail. */
export function limitOfMail(
  recipients: readonly InboundRecipient[],
  { maxBytes, maxRoleBytes }: SizeLimits,
): { maxBytes: number; reply: SmtpReply } {
  const isToRole = maxRoleBytes < maxBytes && recipients.some(({ kind }) => kind === 'role');
  return isToRole
    ? { maxBytes: maxRoleBytes, reply: tooLarge('A mail to postmaster, abuse or fbl', maxRoleBytes) }
    : { maxBytes, reply: tooLarge('A mail', maxBytes) };
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

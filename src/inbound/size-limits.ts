// How large a mail may be, and where its content counts, by whom it is for: what anybody can send is bounded more
// tightly than what comes back for a message of ours. That is bounded, too: whoever got a mail knows its return path.
import type { ContentQuota } from '../store/inbound.ts';
import type { SmtpReply } from './reception.ts';
import { type InboundRecipient, isBoundToMessage } from './recipients.ts';

export interface SizeLimits {
  /** Of one mail. */
  maxOctets: number;
  /** Of one mail to a role, which anybody can write to. */
  maxRoleOctets: number;
  /** Of the contents of all mails that prove no message. */
  maxUnaskedOctets: number;
  /** Of the contents of all mails that came back for messages. */
  maxReturnedOctets: number;
}

/** One message has one recipient: a bounce and some notices of delay are all that honest servers send. */
const MAILS_PER_MESSAGE_AND_DAY = 20;
const OCTETS_PER_MESSAGE_AND_DAY = 20 * 1024 * 1024;
/** Of mails beyond that, until they are acted on; those of other messages never wait for these to go. */
const WAITING_OCTETS = 64 * 1024 * 1024;

/** `reply` is for a mail that is larger. */
export function limitOfMail(
  recipients: readonly InboundRecipient[],
  { maxOctets, maxRoleOctets }: SizeLimits,
): { maxOctets: number; reply: SmtpReply } {
  const isToRole = maxRoleOctets < maxOctets && recipients.some(({ kind }) => kind === 'role');
  return isToRole
    ? { maxOctets: maxRoleOctets, reply: tooLarge('A mail to postmaster, abuse or fbl', maxRoleOctets) }
    : { maxOctets, reply: tooLarge('A mail', maxOctets) };
}

function tooLarge(what: string, maxOctets: number): SmtpReply {
  return { code: 552, text: `5.3.4 ${what} is limited to ${maxOctets} bytes` };
}

/** Nothing is kept without a bound. */
export function storeOf(
  recipients: readonly InboundRecipient[],
  { maxOctets, maxUnaskedOctets, maxReturnedOctets }: SizeLimits,
): ContentQuota {
  const bound = recipients.find(isBoundToMessage);
  if (bound === undefined) return { of: 'unasked', maxBytes: maxUnaskedOctets };
  return {
    of: 'returned',
    messageId: bound.messageId,
    maxBytes: maxReturnedOctets,
    mailsPerDay: MAILS_PER_MESSAGE_AND_DAY,
    // The first bounce is kept, however large a mail may be.
    bytesPerDay: Math.max(OCTETS_PER_MESSAGE_AND_DAY, maxOctets),
    waitingBytes: Math.max(WAITING_OCTETS, maxOctets),
  };
}

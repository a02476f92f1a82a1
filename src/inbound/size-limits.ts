// How large a mail may be, by whom it is for: what anybody can send is bounded more tightly than what comes
// back for a message of ours.
import type { SmtpReply } from './reception.ts';
import { type InboundRecipient, isBoundToMessage } from './recipients.ts';

export interface SizeLimits {
  /** Of one mail. */
  maxOctets: number;
  /** Of one mail to a role, which anybody can write to. */
  maxRoleOctets: number;
  /** Of the contents of all mails that prove no message. */
  maxUnaskedOctets: number;
}

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
  return { code: 552, text: `5.3.4 ${what} may have ${maxOctets} octets at most` };
}

/** Of mails that prove no message: their contents share a bounded room. Undefined: it proves one. */
export function roomOfUnasked(
  recipients: readonly InboundRecipient[],
  { maxUnaskedOctets }: SizeLimits,
): { maxBytes: number } | undefined {
  return recipients.some(isBoundToMessage) ? undefined : { maxBytes: maxUnaskedOctets };
}

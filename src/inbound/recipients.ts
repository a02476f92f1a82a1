// The addresses that accept mail: return paths with a valid HMAC, unsubscribe addresses, the roles of every
// mail domain (RFC 2142), two of which the EHLO name has as well, and the address for DMARC reports. All
// others are refused; nothing is relayed.
import { parseAddress } from '../protocol/mail/addresses/address.ts';
import type { KeyLookup } from '../protocol/mail/addresses/message-token.ts';
import { readReturnPath } from '../protocol/mail/addresses/return-path.ts';
import { readUnsubscribeAddress } from '../protocol/mail/addresses/unsubscribe-address.ts';

export type Role = 'postmaster' | 'abuse' | 'fbl';

export type InboundRecipient =
  /** `isOurDomain` false: only valid at the bounce domain of the message's own tenant. */
  | { kind: 'return_path'; messageId: string; domain: string; isOurDomain: boolean }
  | { kind: 'role'; role: Role }
  | { kind: 'dmarc' }
  | { kind: 'unsubscribe'; messageId: string }
  | { kind: 'unknown' };

export interface RecipientBook {
  bouncesDomain: string;
  /** The daemon's EHLO name: people with a question about that host write to its postmaster. */
  ehloName: string;
  /** The report address in tenants' DMARC records. */
  dmarcReportAddress: string;
  tokenKeys: KeyLookup;
}

const ROLES: readonly string[] = ['postmaster', 'abuse', 'fbl'] satisfies Role[];
const UNKNOWN: InboundRecipient = { kind: 'unknown' };

export function recognise(text: string, book: RecipientBook): InboundRecipient {
  // RFC 5321 section 4.5.1: `RCPT TO:<postmaster>` is our own postmaster.
  if (text.toLowerCase() === 'postmaster') return { kind: 'role', role: 'postmaster' };
  const parsed = parseAddress(text);
  if (!parsed.ok) return UNKNOWN;
  const { local, asciiDomain: domain } = parsed.address;
  const isOurDomain = domain === book.bouncesDomain;
  const messageId = readReturnPath(local, book.tokenKeys);
  if (messageId !== null) return { kind: 'return_path', messageId, domain, isOurDomain };
  const name = local.toLowerCase();
  if (`${name}@${domain}` === book.dmarcReportAddress.toLowerCase()) return { kind: 'dmarc' };
  // RFC 5321 section 4.5.1 and RFC 2142 require these two at every name of a mail server.
  const isOfHost = domain === book.ehloName.toLowerCase() && (name === 'postmaster' || name === 'abuse');
  if (isOfHost) return { kind: 'role', role: name };
  if (!isOurDomain) return UNKNOWN;
  const unsubscribed = readUnsubscribeAddress(local, book.tokenKeys);
  if (unsubscribed !== null) return { kind: 'unsubscribe', messageId: unsubscribed };
  if (name === 'dmarc') return { kind: 'dmarc' };
  return ROLES.includes(name) ? { kind: 'role', role: name as Role } : UNKNOWN;
}

/** Whether it acts on one message: a mail may have only one such recipient, so that it has one effect. */
export function isBoundToMessage(
  recipient: InboundRecipient,
): recipient is Extract<InboundRecipient, { kind: 'return_path' | 'unsubscribe' }> {
  return recipient.kind === 'return_path' || recipient.kind === 'unsubscribe';
}

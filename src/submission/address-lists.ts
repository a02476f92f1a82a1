// The addresses of a send request: who gets a message, and what the messages show of each other. A call with cc or bcc
// is one letter of which every recipient gets a copy; without them each message shows its own recipient alone.
import { isRefusal, type Refusal } from '../base/refusals.ts';
import { type Address, policyRefusal, recipientKey, suppressionKey } from '../protocol/mail/addresses/address.ts';
import { parseMailbox } from '../protocol/mail/addresses/mailbox.ts';
import type { CopyKind, HeaderLists, Mailbox } from '../store/submissions.ts';
import { invalid } from './invalid.ts';

/** As the schema lets them through: one entry or several. */
export interface AddressLists {
  to: string | string[];
  cc?: string | string[];
  bcc?: string | string[];
  reply_to?: string | string[];
  /** Several in `to` are one letter, as with cc. Not a field of our API: where a caller knows it no other way. */
  isLetter?: boolean;
}

export interface Correspondent {
  /** As written, without the display name. */
  address: string;
  name: string | null;
  /** ASCII, lower case. */
  domain: string;
}

export interface SendRecipient extends Correspondent {
  suppressionKey: string;
  copy?: CopyKind;
}

export interface Addressed {
  /** Distinct, in order of first mention: to, cc, bcc. */
  recipients: SendRecipient[];
  lists: HeaderLists | null;
}

export interface NamedAddress {
  name: string;
  address: Address;
}

const MAX_RECIPIENTS = 50;

/** One message per distinct recipient: duplicates are merged, and the first list and display name win. */
export function readAddressLists({
  to,
  cc = [],
  bcc = [],
  reply_to: answerTo = [],
  isLetter = false,
}: AddressLists): Addressed | Refusal {
  const total = [to, cc, bcc].flat().length;
  if (total > MAX_RECIPIENTS) {
    return invalid('to', `to, cc and bcc must have at most ${MAX_RECIPIENTS} entries in all, not ${total}.`);
  }
  const known = new Map<string, SendRecipient>();
  for (const [field, given] of [
    ['to', to],
    ['cc', cc],
    ['bcc', bcc],
  ] as const) {
    const problem = addRecipients(known, field, given);
    if (problem) return problem;
  }
  const replyTo = readEntries('reply_to', answerTo);
  if (isRefusal(replyTo)) return replyTo;
  const recipients = [...known.values()];
  const isOne = [cc, bcc].flat().length > 0 || (isLetter && recipients.length > 1);
  const letter = isOne ? letterOf(recipients) : null;
  const lists = letter || replyTo.length > 0 ? { letter, replyTo: replyTo.map(correspondent).map(shownAs) } : null;
  return { recipients, lists };
}

function addRecipients(
  known: Map<string, SendRecipient>,
  field: 'to' | CopyKind,
  given: string | string[],
): Refusal | null {
  const mailboxes = readEntries(field, given);
  if (isRefusal(mailboxes)) return mailboxes;
  for (const mailbox of mailboxes) {
    const key = recipientKey(mailbox.address);
    if (known.has(key)) continue;
    const recipient = { ...correspondent(mailbox), suppressionKey: suppressionKey(mailbox.address) };
    known.set(key, field === 'to' ? recipient : { ...recipient, copy: field });
  }
  return null;
}

/** Suppressed recipients are shown as well: whether somebody is suppressed is nothing that others should see. */
function letterOf(recipients: readonly SendRecipient[]): HeaderLists['letter'] {
  const shown = (copy?: CopyKind) => recipients.filter((recipient) => recipient.copy === copy).map(shownAs);
  return { to: shown(), cc: shown('cc') };
}

function shownAs({ name, address }: Correspondent): Mailbox {
  return { name, address };
}

function readEntries(field: string, given: string | string[]): NamedAddress[] | Refusal {
  const mailboxes: NamedAddress[] = [];
  for (const [index, entry] of [given].flat().entries()) {
    const place = typeof given === 'string' ? field : `${field}[${index}]`;
    const mailbox = readMailbox(place, entry);
    if (isRefusal(mailbox)) return holdsSeveral(entry) ? invalid(place, SEVERAL) : mailbox;
    mailboxes.push(mailbox);
  }
  return mailboxes;
}

export function readMailbox(field: string, text: string): NamedAddress | Refusal {
  const parsed = parseMailbox(text);
  if (!parsed.ok) return invalid(field, parsed.reason);
  const againstPolicy = policyRefusal(parsed.mailbox.address);
  return againstPolicy === null ? parsed.mailbox : invalid(field, againstPolicy);
}

const SEVERAL = 'must hold one address per entry; pass several as an array: ["a@example.com", "b@example.com"].';
/** More than one entry for each recipient that a call may have. */
const MAX_SEVERAL_CHARS = 20_000;

/** Several addresses in one string, separated as in a mail client. */
function holdsSeveral(entry: string): boolean {
  const parts = entry.length > MAX_SEVERAL_CHARS ? [] : entry.split(/[,;]/).filter((part) => part.trim() !== '');
  return parts.length > 1 && parts.every((part) => parseMailbox(part.trim()).ok);
}

export function correspondent({ name, address }: NamedAddress): Correspondent {
  return { address: `${address.local}@${address.domain}`, name: name || null, domain: address.asciiDomain };
}

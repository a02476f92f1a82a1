// The entry point of this folder: takes the bytes of a mail and returns its finding. Pure and bounded: no input makes
// it throw or take long. The order matters: fields for programs have priority over words for people, and reports are
// recognized before automatic replies, since reports are Auto-Submitted, too.
import { addressesIn, sameAddress } from './addresses-in-text.ts';
import { readAmazonNotification } from './amazon-notification.ts';
import { autoReplyEvidence, replyEvidence, submittedEvidence } from './auto-reply.ts';
import { type DeliveryStatus, readDeliveryStatus, STATUS_PARTS } from './delivery-status.ts';
import { expansionsIn } from './expansions-in-text.ts';
import { readComplaint } from './feedback-report.ts';
import type { Header } from './header-block.ts';
import type { DeliveryReport, InboundMail, KnownEnvelope, ReportedRecipient } from './inbound-mail.ts';
import { contentOf, type MailPart, type ReadMail, readMail, textOf } from './mail-parts.ts';
import { isOriginal, originalIn } from './original-message.ts';
import { type NamedRecipients, recipientsIn } from './recipients-in-text.ts';
import { hasFinalReply, isReplyLine } from './reply-lines.ts';
import { actionInText, isAnswer, isDeliveryReport, isFromDaemon } from './report-signs.ts';
import { divideReport, plainTextOf, type ReportText } from './report-text.ts';
import { reasonOfSieve } from './sieve-reason.ts';
import { evidenceIn, statusOfMailer } from './text-evidence.ts';

/** For a mail in a file. */
const NOTHING_KNOWN: KnownEnvelope = { hasNullSender: false, returnPath: null };

export function readInboundMail(octets: Buffer, envelope = NOTHING_KNOWN): InboundMail {
  const mail = unwrapped(readMail(octets));
  const recipient = envelope.returnPath?.recipient ?? null;
  const cameAsReport = envelope.hasNullSender && envelope.returnPath !== null;
  if (!cameAsReport && octets.length === 0) return { kind: 'unreadable', reason: 'there is nothing in it' };
  if (!cameAsReport && mail.header.fields.length === 0) {
    return { kind: 'unreadable', reason: 'it has no header, so it is no mail' };
  }
  const divided = divideReport(textForPeople(mail.parts));
  return (
    readComplaint(mail, divided.lines.join('\n')) ??
    readAmazonNotification(divided.whole) ??
    readReport(mail, divided, { recipient, cameAsReport: false }) ??
    (cameAsReport ? readAnswerOfProgram(mail, divided, recipient) : readOther(mail, divided))
  );
}

/** Some gateways forward reports inside their own mail, alone or with a few words. */
function unwrapped(mail: ReadMail): ReadMail {
  const part = mail.parts.find(({ type }) => type === 'message/rfc822');
  if (!part || mail.parts.some(({ type }) => STATUS_PARTS.has(type))) return mail;
  const isFirst = part === mail.parts[0];
  // An outer report that names its own recipient is about the inner report.
  if (!isFirst && !(isFromDaemon(mail.header) && addressesIn(textForPeople(mail.parts)).length === 0)) return mail;
  const inner = readMail(contentOf(part));
  return inner.parts.some(({ type }) => STATUS_PARTS.has(type)) ? inner : mail;
}

function readOther(mail: ReadMail, { lines }: ReportText): InboundMail {
  const subject = mail.header.text('subject');
  const evidence = autoReplyEvidence(mail, lines.join('\n'));
  const from = mail.header.text('from');
  if (evidence !== null) return { kind: 'auto_reply', evidence, from: addressesIn(from)[0] ?? null, subject };
  return { kind: 'human', from, subject };
}

/**
 * Mail to a return path without a sender is never a person's: it is a report, or an automatic reply of the recipient.
 * If it looks like a reply it counts as one, since a reply misread as a report would end a message.
 */
function readAnswerOfProgram(mail: ReadMail, divided: ReportText, recipient: string | null): InboundMail {
  const { header } = mail;
  const subject = header.text('subject');
  const from = addressesIn(header.text('from'))[0] ?? null;
  const autoReply = (evidence: string): InboundMail => ({ kind: 'auto_reply', evidence, from, subject });
  const evidence = replyEvidence(mail, divided.lines.join('\n'));
  if (evidence !== null) return autoReply(evidence);
  if (sameMailbox(from, recipient)) return autoReply("it has no sender, and is from the message's recipient");
  const submitted = submittedEvidence(header);
  if (submitted !== null && !tellsOfDelivery(header, divided, recipient)) return autoReply(submitted);
  const report = readReport(mail, divided, { recipient, cameAsReport: true });
  if (report !== null) return report;
  if (isAnswer(header)) return autoReply('it has no sender, and the subject of an answer');
  // RFC 3834 section 3.1.5 requires it of automatic replies.
  if (header.has('in-reply-to')) return autoReply('it has no sender, and names the message that it answers');
  const nothing = { originalAddress: null, status: null, diagnostics: [], context: null, remoteMta: null };
  const action = actionInText(subject, divided.lines, false);
  const unrecognised = { from: header.text('from'), subject };
  return {
    kind: 'report',
    recipients: [{ address: recipient, action, ...nothing }],
    reportingMta: null,
    original: originalIn(mail.parts, divided.original),
    expansions: [],
    unrecognised,
  };
}

/** Reports are Auto-Submitted, too (RFC 3834 section 5), but name a recipient. */
function tellsOfDelivery(header: Header, { lines }: ReportText, recipient: string | null): boolean {
  const { named, areOnlyMentioned } = recipientsIn(lines);
  if (areOnlyMentioned) return false;
  const sender = senderOf(header);
  if (isFromDaemon(header)) return named.some(({ address }) => !sameAddress(address, sender));
  return named.some(({ address, reason }) => sameMailbox(address, recipient) && isReplyLine(reason));
}

/** Programs reply to mail for `jo+shop@` as `jo@`. */
function sameMailbox(one: string | null, other: string | null): boolean {
  const plain = (address: string | null) => address?.replace(/\+[^@]*@/, '@') ?? null;
  return sameAddress(plain(one), plain(other));
}

const MAX_TEXT_PARTS = 10;

/** The text for people; HTML only if there is nothing else. */
function textForPeople(parts: readonly MailPart[]): string {
  const original = parts.findIndex(isOriginal);
  const before = original < 0 ? parts : parts.slice(0, original);
  const texts = before.filter(({ type }) => type === 'text/plain').slice(0, MAX_TEXT_PARTS);
  const plain = texts.map(textOf).join('\n');
  if (plain.trim() !== '') return plain;
  const html = before.find(({ type }) => type === 'text/html');
  return html ? plainTextOf(textOf(html)) : '';
}

interface Reception {
  /** Of the message whose return path it came to. */
  recipient: string | null;
  cameAsReport: boolean;
}

function readReport(mail: ReadMail, divided: ReportText, known: Reception): DeliveryReport | null {
  const statusPart = mail.parts.find(({ type }) => STATUS_PARTS.has(type));
  const text = divided.lines.join('\n');
  // Fields outside their part, or within the text (Amazon WorkMail), count as well.
  const status =
    (statusPart ? readDeliveryStatus(textOf(statusPart)) : attachedStatus(mail.parts)) ?? statusInText(text);
  const original = originalIn(mail.parts, divided.original);
  const found = recipientsIn(divided.lines);
  // A report that names only its own addressee is not about a message (fake warnings of full storage).
  const sender = senderOf(mail.header);
  const namesRecipient = !found.areOnlyMentioned && found.named.some(({ address }) => !sameAddress(address, sender));
  const isDeclared = mail.contentType.parameters.get('report-type')?.toLowerCase() === 'delivery-status';
  const { cameAsReport, recipient } = known;
  const hasOriginal = original !== null;
  const signs = { header: mail.header, text, isDeclared, hasOriginal, namesRecipient, cameAsReport };
  // Its words may be those of the message that it answers.
  const isAnswerOfRecipient = sameMailbox(addressesIn(mail.header.text('from'))[0] ?? null, recipient);
  if (!status && !statusPart && (isAnswerOfRecipient || !isDeliveryReport(signs))) return null;
  const recipients = status
    ? withTexts(status, divided, found)
    : fromText(mail, divided, { found, original: original?.to ?? [], recipient });
  const reportingMta = status?.reportingMta ?? null;
  return { kind: 'report', recipients, reportingMta, original, expansions: expansionsIn(divided.lines) };
}

const FIELDS_IN_TEXT = /^(?:final-recipient|original-recipient)[ \t]*:/im;

function statusInText(text: string): DeliveryStatus | null {
  return FIELDS_IN_TEXT.test(text) ? readDeliveryStatus(text) : null;
}

const MAX_ATTACHMENTS = 5;

/** Gateways that do not know the type forward the fields as a file. A returned message may have fields of its own. */
function attachedStatus(parts: readonly MailPart[]): DeliveryStatus | null {
  const files = parts.filter(
    (part) => !isOriginal(part) && /^application\/octet-stream|^text\/(?!html)/.test(part.type),
  );
  const own = files.slice(0, MAX_ATTACHMENTS).map((part) => divideReport(textOf(part)).whole);
  const fields = own.find((text) => FIELDS_IN_TEXT.test(text) && /^(?:action|status)[ \t]*:/im.test(text));
  return fields === undefined ? null : readDeliveryStatus(fields);
}

/** The recipients of the fields, with the text about each. */
function withTexts(status: DeliveryStatus, { lines }: ReportText, { named }: NamedRecipients): ReportedRecipient[] {
  const isAlone = status.recipients.length === 1;
  const only = isAlone && named.length <= 1;
  const rejection = isAlone ? reasonOfSieve(lines) : null;
  const evidence = evidenceIn(lines, { named, only });
  return status.recipients.map((recipient) => {
    const address = recipient.address ?? (isAlone ? (named[0]?.address ?? null) : null);
    if (rejection !== null) return { ...recipient, address, diagnostics: [rejection], context: null };
    const texts = evidence(only ? (named[0]?.address ?? address) : address);
    const diagnostics = [...new Set([...recipient.diagnostics, ...texts])];
    return { ...recipient, address, diagnostics, context: only ? contextOf(lines) : null };
  });
}

const MAX_CONTEXT_CHARACTERS = 4_000;

function contextOf(lines: readonly string[]): string | null {
  const text = lines.join(' ').replace(/\s+/g, ' ').trim().slice(0, MAX_CONTEXT_CHARACTERS);
  return text === '' ? null : text;
}

interface Known {
  found: NamedRecipients;
  /** The recipients of the original. */
  original: readonly string[];
  /** Of the message whose return path the report came to: the last resort, since it may have been forwarded. */
  recipient: string | null;
}

function fromText(mail: ReadMail, { lines }: ReportText, { found, original, recipient }: Known): ReportedRecipient[] {
  // The report's addressee is sometimes named next to the recipient, and is not another recipient.
  const sender = senderOf(mail.header);
  const concerned = found.named.filter(({ address }) => !LIST_OFFICE.test(address));
  const strangers = concerned.filter(({ address }) => !sameAddress(address, sender));
  const named = strangers.length > 0 ? strangers : concerned;
  const subject = mail.header.text('subject');
  const [action, ifRefused] = [actionInText(subject, lines, false), actionInText(subject, lines, true)];
  const rejection = named.length <= 1 ? reasonOfSieve(lines) : null;
  const evidence = rejection === null ? evidenceIn(lines, { named, only: named.length <= 1 }) : () => [rejection];
  const status = named.length <= 1 ? statusOfMailer(lines) : null;
  const context = named.length <= 1 && rejection === null ? contextOf(lines) : null;
  return addressesOf(mail, { found, original, recipient }).map((address) => {
    const diagnostics = evidence(address);
    return {
      address,
      originalAddress: null,
      action: diagnostics.some(hasFinalReply) ? ifRefused : action,
      status,
      diagnostics,
      context,
      remoteMta: null,
    };
  });
}

/** Contact addresses of a list: named next to it, and never the list itself. */
const LIST_OFFICE = /[-+](?:request|owner|subscribe|unsubscribe|help|admin)@|^(?:join|leave|owner)-/i;

function listOfOffice(address: string): string {
  return address.replace(LIST_OFFICE, (office) => (office.endsWith('@') ? '@' : ''));
}

/** The sender of the original message, who gets the report. */
function senderOf(header: Header): string | null {
  return addressesIn(header.raw('to') ?? '')[0] ?? null;
}

/** The best source that names recipients; the report's addressee and sender have the lowest priority. */
function addressesOf({ header }: ReadMail, { found, original, recipient }: Known): (string | null)[] {
  const failed = addressesIn(
    `${header.raw('x-failed-recipients') ?? ''} ${header.raw('x-mailer-daemon-recipients') ?? ''}`,
  );
  const inText = found.named.map(({ address }) => address);
  const sender = senderOf(header);
  const writer = addressesIn(header.raw('from') ?? '')[0] ?? null;
  const others = inText.filter((address) => !sameAddress(address, writer) && !LIST_OFFICE.test(address));
  const strangers = others.filter((address) => !sameAddress(address, sender));
  // If both sources name them, other addresses in the text are not recipients.
  const confirmed = inText.filter((address) => failed.some((one) => sameAddress(one, address)));
  if (confirmed.length > 0) return confirmed;
  const list = listOf(header);
  if (list !== null) return [list];
  const sources = found.areOnlyMentioned
    ? [failed, strangers, original]
    : [strangers, others, failed, original, inText.map(listOfOffice)];
  return sources.find((addresses) => addresses.length > 0)?.slice() ?? [recipient];
}

/** The list of an automatic reply: `talk-bounces@` speaks for `talk@` (Mailman, ezmlm). */
function listOf(header: Header): string | null {
  const named = addressesIn(
    `${header.raw('x-beenthere') ?? ''} ${header.raw('list-post')?.replace('mailto:', '') ?? ''}`,
  );
  const list = addressesIn(header.raw('from') ?? '')[0]?.replace(/-(?:bounces|owner|request|help)@/i, '@') ?? null;
  return named.find((address) => sameAddress(address, list)) ?? null;
}

// One message as it will be signed and sent: RFC 5322 header, RFC 2045 body. header-field.ts writes the header,
// lean-body.ts the body of common messages, nodemailer all others, attached-body.ts puts attachments around either. The same
// input gives the same bytes, so that a retry sends the same message; and the body is the same for all recipients of a
// submission.
import { isAscii } from 'node:buffer';
import { domainToASCII } from 'node:url';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import MimeNode from 'nodemailer/lib/mime-node/index.js';
import { Fault } from '../../../base/errors.ts';
import { isUuid } from '../../../base/ids.ts';
import { type Address, envelopeForm, isAsciiText, parseAddress } from '../addresses/address.ts';
import {
  fitsLines,
  foldField,
  mailboxField,
  mailboxListField,
  phraseField,
  textField,
  valueField,
} from '../header-field.ts';
import { rfc5322Date } from '../reports/report.ts';
import { composeAttachedBody } from './attached-body.ts';
import { type BodyInput, chooseComposer, composeLeanBody, type MimeBody, withCrlf } from './lean-body.ts';

export interface ComposeInput {
  /** The UUID that is also the left side of Message-ID. */
  messageId: string;
  from: { name: string; address: string };
  /** The envelope's recipient; also the field To, unless the message is a copy of a letter. */
  to: { name: string; address: string };
  lists?: ComposedLists | null;
  subject: string;
  /** The tenant's headers, already validated. */
  headers: readonly (readonly [name: string, value: string])[];
  /** Ours: CFBL-Address, Feedback-ID, List-Unsubscribe, … */
  serviceHeaders: readonly (readonly [name: string, value: string])[];
  date: Date;
}

/** Fields that all messages of a call have alike. */
export interface ComposedLists {
  /** What its copies show instead of their own recipient. */
  letter: { to: readonly NamedAddress[]; cc: readonly NamedAddress[] } | null;
  replyTo: readonly NamedAddress[];
}

interface NamedAddress {
  name: string | null;
  address: string;
}

export interface Composed {
  /** With the empty line at its end; every line ends with CRLF, also in the body. */
  header: Buffer;
  body: Buffer;
  envelopeTo: string;
  /** What the receiving server must offer (RFC 6531, RFC 6152). */
  needs: { smtputf8: boolean; eightBit: boolean };
}

export function compose(input: ComposeInput, body: MimeBody): Composed {
  if (!isUuid(input.messageId)) throw new TypeError('the message id is not a UUID');
  if (Number.isNaN(input.date.getTime())) throw new TypeError('the date of the message is not valid');
  const from = acceptedAddress(input.from.address);
  const to = acceptedAddress(input.to.address);
  const header = Buffer.from(`${headerFields(input, from, to)}${body.fields}\r\n`);
  const smtputf8 = from.nonAsciiLocal || to.nonAsciiLocal || !isAscii(header);
  const eightBit = !isAscii(header) || !isAscii(body.content);
  return { header, body: body.content, envelopeTo: envelopeForm(to), needs: { smtputf8, eightBit } };
}

/** It was checked when its message was accepted. */
export function acceptedAddress(text: string): Address {
  const result = parseAddress(text);
  if (!result.ok) throw new Fault('an address of the message is invalid', { permanence: 'permanent', detail: text });
  return result.address;
}

function headerFields(input: ComposeInput, from: Address, to: Address): string {
  const service = withoutOverridden(input);
  return [
    mailboxField('From', input.from.name, from),
    ...addressFields(input, to),
    textField('Subject', input.subject),
    ...input.headers.map(([name, value]) => customField(name, value)),
    ...service.map(([name, value]) => valueField(name, value)),
    // Always on one line, which is long enough: some readers fail on a folded Message-ID.
    `Message-ID: <${input.messageId}@${from.asciiDomain}>\r\n`,
    foldField('Date', rfc5322Date(input.date)),
  ].join('');
}

function addressFields({ to, lists }: ComposeInput, parsedTo: Address): string[] {
  const { letter = null, replyTo = [] } = lists ?? {};
  return [
    letter ? listField('To', letter.to) : mailboxField('To', to.name, parsedTo),
    letter && letter.cc.length > 0 ? listField('Cc', letter.cc) : '',
    replyTo.length > 0 ? listField('Reply-To', replyTo) : '',
  ];
}

function listField(field: string, list: readonly NamedAddress[]): string {
  return mailboxListField(
    field,
    list.map(({ name, address }) => ({ name: name ?? '', address: acceptedAddress(address) })),
  );
}

/** A tenant's own List-Unsubscribe pair replaces ours: a mix of both would be invalid (RFC 8058 section 3.1). */
function withoutOverridden({ headers, serviceHeaders }: ComposeInput): ComposeInput['serviceHeaders'] {
  const isUnsubscribe = ([name]: readonly [string, string]) => /^list-unsubscribe(-post)?$/i.test(name);
  return headers.some(isUnsubscribe) ? serviceHeaders.filter((header) => !isUnsubscribe(header)) : serviceHeaders;
}

/** Lists of mailboxes: RFC 5322, RFC 8098, and what mail programs use besides. */
const ADDRESS_FIELDS = new Set([
  ...['cc', 'reply-to', 'resent-from', 'resent-sender', 'resent-to', 'resent-cc', 'resent-reply-to'],
  ...['disposition-notification-to', 'return-receipt-to', 'errors-to', 'mail-followup-to', 'mail-reply-to'],
]);

function customField(name: string, value: string): string {
  const key = name.toLowerCase();
  if (isAsciiText(value)) return valueField(name, value);
  if (key === 'list-id') return listIdField(name, value) ?? valueField(name, value);
  return (ADDRESS_FIELDS.has(key) ? addressField(name, value) : null) ?? valueField(name, value);
}

/** Readers answer to them: an address outside ASCII is shown as it is, though servers without SMTPUTF8 refuse that. */
const ANSWERED_FIELDS = new Set(['cc', 'reply-to']);

/** Names in an address list must be encoded one by one, so that its addresses stay readable. Null: it is no such list. */
function addressField(name: string, value: string): string | null {
  const list = MimeNode.encodeHeaderValue('Reply-To', value.toWellFormed());
  if (!list.includes('@') || !fitsLines(list) || /\p{Cc}/u.test(list)) return null;
  return isAsciiText(list) || ANSWERED_FIELDS.has(name.toLowerCase()) ? foldField(name, list) : null;
}

/** RFC 2919 section 3: a phrase and the identifier, which looks like a domain. Null: it is not one. */
function listIdField(name: string, value: string): string | null {
  const [, phrase = '', id = ''] = /^(.*)<([^<>]*)>\s*$/s.exec(value) ?? [];
  const identifier = /^[!-~]*$/.test(id) ? id : domainToASCII(id);
  return identifier !== '' && fitsLines(`<${identifier}>`) ? phraseField(name, phrase.trim(), `<${identifier}>`) : null;
}

/** The part of a message that does not depend on its recipient. */
export async function composeBody(input: BodyInput): Promise<MimeBody> {
  // It becomes part of a header field.
  if (!isUuid(input.boundarySeed)) throw new TypeError('the seed of the boundary is not a UUID');
  return input.attachments?.length ? composeAttachedBody(input, composeText) : composeText(input);
}

async function composeText(input: BodyInput): Promise<MimeBody> {
  return chooseComposer(input).decision === 'lean' ? composeLeanBody(input) : composeByMailComposer(input);
}

const MIME_FIELD = /^(MIME-Version|Content-[a-z-]+):/i;

async function composeByMailComposer({ text, html, boundarySeed }: BodyInput): Promise<MimeBody> {
  const composer = new MailComposer({
    // The composer would let a lone CR through.
    text: text === null ? undefined : withCrlf(text),
    html: html === null ? undefined : withCrlf(html),
    // Not random, so that a retry is the same message; and no body can know the ID of its submission.
    baseBoundary: boundarySeed,
    boundaryPrefix: '=_',
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const entity = await composer.compile().build();
  const headerEnd = entity.indexOf('\r\n\r\n');
  const fields = entity.toString('latin1', 0, headerEnd).split(/\r\n(?![ \t])/);
  return {
    // Without the Date and Message-ID that the composer generates.
    fields: fields.flatMap((field) => (MIME_FIELD.test(field) ? [`${field}\r\n`] : [])).join(''),
    content: entity.subarray(headerEnd + 4),
  };
}

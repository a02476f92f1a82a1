// One message as it will be signed and sent: RFC 5322 header, RFC 2045 body. The header is
// written by header-field.ts, the MIME structure and its encodings by nodemailer. The same
// input gives the same bytes, so that a retry sends the same message. Attachments are left out.
import { isAscii } from 'node:buffer';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import MimeNode from 'nodemailer/lib/mime-node/index.js';
import { Fault } from '../../base/errors.ts';
import { isUuid } from '../../base/ids.ts';
import { type Address, envelopeForm, isAsciiText, parseAddress } from './address.ts';
import { fitsLines, foldField, mailboxField, textField, valueField } from './header-field.ts';

export interface ComposeInput {
  /** The UUID that is also the left side of Message-ID. */
  messageId: string;
  from: { name: string; address: string };
  to: { name: string; address: string };
  subject: string;
  html: string | null;
  text: string | null;
  /** The tenant's, already validated. */
  headers: readonly (readonly [name: string, value: string])[];
  /** Ours: CFBL-Address, Feedback-ID, List-Unsubscribe, … */
  serviceHeaders: readonly (readonly [name: string, value: string])[];
  date: Date;
}

export interface Composed {
  /** Header and body, every line ended by CRLF. */
  raw: Buffer;
  envelopeTo: string;
  /** What the receiving server must offer (RFC 6531, RFC 6152). */
  needs: { smtputf8: boolean; eightBit: boolean };
}

export async function compose(input: ComposeInput): Promise<Composed> {
  if (!isUuid(input.messageId)) throw new TypeError('the message id is not a UUID');
  // The composer would write "Date: Invalid Date".
  if (Number.isNaN(input.date.getTime())) throw new TypeError('the date of the message is none');
  const from = parsed(input.from.address);
  const to = parsed(input.to.address);
  const header = Buffer.from(headerFields(input, from, to));
  const raw = Buffer.concat([header, await mimeEntity(input, from)]);
  const smtputf8 = from.nonAsciiLocal || to.nonAsciiLocal || !isAscii(header);
  return { raw, envelopeTo: envelopeForm(to), needs: { smtputf8, eightBit: !isAscii(raw) } };
}

function parsed(text: string): Address {
  const result = parseAddress(text);
  // It was checked when it was accepted: a message without it must not go out.
  if (!result.ok) throw new Fault('an address of the message is invalid', { permanence: 'permanent', detail: text });
  return result.address;
}

function headerFields(input: ComposeInput, from: Address, to: Address): string {
  const service = withoutOverridden(input);
  return [
    mailboxField('From', input.from.name, from),
    mailboxField('To', input.to.name, to),
    textField('Subject', input.subject),
    ...input.headers.map(([name, value]) => customField(name, value)),
    ...service.map(([name, value]) => valueField(name, value)),
  ].join('');
}

/** A tenant's own List-Unsubscribe pair replaces ours: half of each would be a broken one (RFC 8058 section 3.1). */
function withoutOverridden({ headers, serviceHeaders }: ComposeInput): ComposeInput['serviceHeaders'] {
  const isUnsubscribe = ([name]: readonly [string, string]) => /^list-unsubscribe(-post)?$/i.test(name);
  return headers.some(isUnsubscribe) ? serviceHeaders.filter((header) => !isUnsubscribe(header)) : serviceHeaders;
}

const ADDRESS_FIELDS = new Set(['reply-to', 'cc']);

/** Names in an address list have to be encoded one by one, so that its addresses stay readable. */
function customField(name: string, value: string): string {
  if (ADDRESS_FIELDS.has(name.toLowerCase()) && !isAsciiText(value)) {
    const list = MimeNode.encodeHeaderValue(name, value.toWellFormed());
    if (list.includes('@') && fitsLines(list) && !/\p{Cc}/u.test(list)) return foldField(name, list);
  }
  return valueField(name, value);
}

/** Date, Message-ID, MIME-Version, Content-*, an empty line and the body. */
function mimeEntity(input: ComposeInput, from: Address): Promise<Buffer> {
  const composer = new MailComposer({
    text: withCrlf(input.text),
    html: withCrlf(input.html),
    date: input.date,
    // Prepared, so that it stays on one line: some readers stumble over a folded Message-ID.
    headers: [{ key: 'Message-ID', value: { prepared: true, value: `<${input.messageId}@${from.asciiDomain}>` } }],
    // Not random, so that a retry is the same message; no body knows the id of its message.
    baseBoundary: input.messageId,
    boundaryPrefix: '=_',
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return composer.compile().build();
}

/** RFC 5322 section 2.3: CR and LF only together. The composer would let a lone CR through. */
function withCrlf(body: string | null): string | undefined {
  return body === null || body === '' ? undefined : body.replace(/\r\n?|\n/g, '\r\n');
}

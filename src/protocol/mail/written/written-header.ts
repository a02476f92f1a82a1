// The header of a written mail, a mail as an application wrote it: what we have to know, and the header that it leaves
// with. Fields keep their order and octets; ours and the hidden ones go, missing ones are put in front (RFC 6409
// section 8). Our own service fields and signatures come later.
import { foldField } from '../header-field.ts';
import { rfc5322Date } from '../reports/report.ts';
import { type Control, readControl } from './control-headers.ts';
import { type Entity, readEntity } from './entity.ts';
import { readFrom, type WrittenFrom } from './from-mailbox.ts';
import { type HeaderProblem, shownName, splitHeader, type WrittenField } from './header-fields.ts';
import { readableText } from './header-text.ts';

export interface WrittenHeader {
  from: WrittenFrom;
  /** Decoded, one line; empty when there is none. */
  subject: string;
  /** That it leaves with, without the brackets. */
  messageId: string;
  control: Control;
  /** What it says of the content. */
  entity: Entity;
  /** What goes out, without the empty line at its end. */
  leaving: Buffer;
  /** Of the header as it came, with the empty line. */
  lines: number;
}

/** For what the application left out. */
export interface AddedFields {
  date: Date;
  /** The left side of the Message-ID. */
  id: string;
}

/** RFC 5322 section 3.6: at most one of each. */
const ONLY_ONCE = new Set(['from', 'sender', 'reply-to', 'to', 'cc', 'subject', 'date', 'message-id']);
/** Hidden from recipients, or written by us. */
const REMOVED = new Set([
  'bcc',
  'resent-bcc',
  'return-path',
  'feedback-id',
  'authentication-results',
  'idempotency-key',
  'resend-idempotency-key',
]);
const REMOVED_PREFIXES = ['x-postrider-', 'cfbl-'];

const MESSAGE_ID = /^<([^<>\s\p{Cc}]+)>$/u;

/** The octets up to the empty line and with it. Of bounded length: that is up to the caller. */
export function readWrittenHeader(header: Buffer, added: AddedFields): WrittenHeader | HeaderProblem {
  const split = splitHeader(header);
  if ('problem' in split) return split;
  const { fields, lines } = split;
  const repeated = firstRepeated(fields);
  if (repeated !== null) return { problem: `${repeated}: This header is given twice.` };
  const fromValue = firstValue('from', fields);
  if (fromValue === null) return { problem: 'From: This header is missing.' };
  const from = readFrom(fromValue);
  if ('problem' in from) return from;
  const writtenId = firstValue('message-id', fields);
  const messageId = writtenId === null ? `${added.id}@${from.domain}` : idIn(writtenId);
  if (messageId === null) return { problem: NOT_AN_ID };
  const control = readControl(fields);
  if ('problem' in control) return control;
  const subject = readableText(firstValue('subject', fields) ?? '');
  const leaving = leavingHeader(fields, { date: added.date, messageId });
  return { from, subject, messageId, control, entity: readEntity(fields), leaving, lines };
}

function firstRepeated(fields: readonly WrittenField[]): string | null {
  const seen = new Set<string>();
  for (const { name, key } of fields) {
    if (ONLY_ONCE.has(key) && seen.has(key)) return shownName(name);
    seen.add(key);
  }
  return null;
}

function firstValue(key: string, fields: readonly WrittenField[]): string | null {
  return fields.find((field) => field.key === key)?.value ?? null;
}

const NOT_AN_ID = 'Message-ID: must be one ID in angle brackets, like <1234@example.com>.';

function idIn(value: string): string | null {
  return MESSAGE_ID.exec(Buffer.from(value, 'latin1').toString())?.[1] ?? null;
}

function leavingHeader(
  fields: readonly WrittenField[],
  { date, messageId }: { date: Date; messageId: string },
): Buffer {
  const missing = [
    { key: 'date', field: () => foldField('Date', rfc5322Date(date)) },
    // Always on one line: some readers fail on a folded Message-ID.
    { key: 'message-id', field: () => `Message-ID: <${messageId}>\r\n` },
    { key: 'mime-version', field: () => 'MIME-Version: 1.0\r\n' },
  ].filter(({ key }) => firstValue(key, fields) === null);
  const kept = fields.filter(({ key }) => !isRemoved(key)).map(({ raw }) => raw);
  return Buffer.from([...missing.map(({ field }) => field()), ...kept].join(''), 'latin1');
}

function isRemoved(key: string): boolean {
  return REMOVED.has(key) || REMOVED_PREFIXES.some((prefix) => key.startsWith(prefix));
}

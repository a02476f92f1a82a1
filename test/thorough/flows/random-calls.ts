// Calls out of a seed, with everything that POST /emails takes, and what each of their messages must say.
import type { MailAttachment } from '../../../src/protocol/mail/compose/attachment.ts';
import { withCrlf } from '../../../src/protocol/mail/compose/lean-body.ts';
import { randomAttachments } from '../../protocol/mail/random-attachments.ts';
import { randomMessage } from '../../protocol/mail/random-messages.ts';
import { seededRandom } from '../../protocol/mail/sample-messages.ts';

export type Mailbox = [name: string, address: string];

export interface RandomCall {
  body: Record<string, unknown>;
  /** One for each message id, in the order of the ids. */
  expected: ExpectedMail[];
}

export interface ExpectedMail {
  recipient: string;
  subject: string;
  from: Mailbox[];
  to: Mailbox[];
  cc: Mailbox[] | null;
  replyTo: Mailbox[] | null;
  /** Base64, without a line end at the end. */
  parts: string[];
  files: { filename: string; type: string; content: string }[];
  /** Must stand nowhere in it: copies of others. */
  hidden: string[];
}

const MOST_IN_A_LIST = 3;
const MAX_SUBJECT_CHARS = 998;

export function randomCall(seed: number, sender: string): RandomCall {
  const random = seededRandom(seed ^ 0xca11);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const message = randomMessage(seed);
  const subject = asLongAsTaken(message.subject);
  const nameOf = (list: string, index: number) =>
    random() < 0.5 ? '' : randomMessage(seed * 7 + index).to.name || list;
  const listOf = (list: string, count: number): Mailbox[] =>
    Array.from({ length: count }, (_, index) => [nameOf(list, index), addressOf(`${list}${seed}-${index}`, random)]);
  const isLetter = random() < 0.4;
  const to = listOf('to', 1 + upTo(MOST_IN_A_LIST - 1));
  const cc = isLetter ? listOf('cc', upTo(MOST_IN_A_LIST)) : [];
  const bcc = isLetter ? listOf('bcc', upTo(MOST_IN_A_LIST)) : [];
  const isOneLetter = cc.length + bcc.length > 0;
  const replyTo = random() < 0.3 ? listOf('answers', 1 + upTo(2)) : [];
  const files = random() < 0.5 ? randomAttachments(seed).filter(isTaken) : [];
  const headers = Object.fromEntries(message.headers.filter(([name]) => name !== 'Reply-To'));
  const from: Mailbox = [message.from.name, `orders@${sender}`];
  const body = {
    from: written(from),
    to: to.map(written),
    ...(isLetter && { cc: cc.map(written), bcc: bcc.map(written) }),
    ...(replyTo.length > 0 && { reply_to: replyTo.map(written) }),
    ...{ subject, headers },
    ...(message.text !== null && { text: message.text }),
    ...(message.html !== null && { html: message.html }),
    ...(files.length > 0 && { attachments: files.map(given) }),
    ...(random() < 0.3 && { tags: { seed: String(seed) }, metadata: { seed: `${seed} ✓` } }),
  };
  const parts = [message.text, message.html].flatMap((part) => (part ? [encoded(withCrlf(part))] : []));
  const expected = [...to, ...cc, ...bcc].map((mailbox) => ({
    ...{ recipient: mailbox[1], subject, from: [from], parts },
    to: isOneLetter ? to : [mailbox],
    cc: cc.length > 0 ? cc : null,
    replyTo: replyTo.length > 0 ? replyTo : null,
    files: inOrder(files, message.html !== null).map(({ filename, contentType, content }) => ({
      ...{ filename, type: contentType.split(';', 1)[0]!, content: content.toString('base64') },
    })),
    hidden: bcc.map(([, address]) => address).filter((address) => address !== mailbox[1]),
  }));
  return { body, expected };
}

function asLongAsTaken(subject: string): string {
  const chars = [...subject];
  return chars.length > MAX_SUBJECT_CHARS ? chars.slice(0, MAX_SUBJECT_CHARS).join('').trimEnd() : subject;
}

/** Each is in one list only. None has a blank: the receiving server refuses it. */
function addressOf(local: string, random: () => number): string {
  const forms = [local, `${local}+tag`, `o'${local}`, `"${local},x;y"`];
  return `${forms[Math.floor(random() * forms.length)]}@receiver.test`;
}

function written([name, address]: Mailbox): string {
  return name === '' ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`;
}

function given({ filename, contentType, contentId, content }: MailAttachment) {
  const type = contentType.split(';', 1)[0]!;
  return {
    filename,
    content: content.toString('base64'),
    content_type: type,
    ...(contentId && { content_id: contentId }),
  };
}

function isTaken({ filename }: MailAttachment): boolean {
  return !filename.includes('\\') && !/^\.{1,2}$/.test(filename);
}

/** The files for the HTML come first. */
function inOrder(files: readonly MailAttachment[], hasHtml: boolean): MailAttachment[] {
  const isInline = ({ contentId }: MailAttachment) => hasHtml && contentId !== null;
  return [...files.filter(isInline), ...files.filter((file) => !isInline(file))];
}

export function encoded(text: string): string {
  return Buffer.from(text.replace(/\r\n$/, '')).toString('base64');
}

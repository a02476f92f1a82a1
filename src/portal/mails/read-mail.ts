// Takes a mail apart for the viewer, with mailparser. Runs in the reading thread alone (mail-thread.ts): a
// hostile mail may take as long and as much memory as the thread is given.
import { type AddressObject, type ParsedMail, simpleParser } from 'mailparser';
import { MAIL_LIMITS, type ShownMail } from './shown-mail.ts';

/** Nothing is made of text that the mail does not have: no links, no HTML out of text, no text out of HTML. */
const OPTIONS = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: false,
  maxHtmlLengthToParse: MAIL_LIMITS.htmlChars,
  maxInlinedImagesSize: MAIL_LIMITS.pictureOctets,
};

export async function readShownMail(octets: Buffer): Promise<ShownMail> {
  const cuts: string[] = [];
  const looked = octets.subarray(0, MAIL_LIMITS.octets);
  if (looked.length < octets.length) {
    cuts.push('The mail is larger than 10 MiB; only the first 10 MiB are shown.');
  }
  const mail = await simpleParser(looked, OPTIONS);
  return {
    from: addressText(mail.from),
    to: addressText(mail.to),
    cc: addressText(mail.cc),
    subject: short(mail.subject ?? ''),
    date: short(headerOf(mail, 'date')),
    messageId: short(mail.messageId ?? ''),
    headers: headersOf(mail, cuts),
    text: cutText(mail.text, MAIL_LIMITS.textChars, { what: 'The text', cuts }),
    html: cutText(mail.html || undefined, MAIL_LIMITS.htmlChars, { what: 'The HTML', cuts }),
    attachments: attachmentsOf(mail, cuts),
    cuts,
  };
}

function addressText(field: AddressObject | AddressObject[] | undefined): string {
  const all = field === undefined ? [] : Array.isArray(field) ? field : [field];
  return short(all.map(({ text }) => text).join(', '));
}

function headerOf(mail: ParsedMail, name: string): string {
  const line = mail.headerLines.find(({ key }) => key === name)?.line ?? '';
  return fieldValue(line);
}

function fieldValue(line: string): string {
  return line
    .slice(line.indexOf(':') + 1)
    .replace(/\s+/g, ' ')
    .trim();
}

function headersOf({ headerLines }: ParsedMail, cuts: string[]): [string, string][] {
  if (headerLines.length > MAIL_LIMITS.headers) {
    cuts.push(`The header has ${headerLines.length} fields; the first ${MAIL_LIMITS.headers} are shown.`);
  }
  return headerLines.slice(0, MAIL_LIMITS.headers).map(({ line }): [string, string] => {
    return [short(line.slice(0, Math.max(0, line.indexOf(':')))), short(fieldValue(line))];
  });
}

function attachmentsOf({ attachments }: ParsedMail, cuts: string[]): ShownMail['attachments'] {
  if (attachments.length > MAIL_LIMITS.attachments) {
    cuts.push(`The mail has ${attachments.length} attachments; the first ${MAIL_LIMITS.attachments} are listed.`);
  }
  return attachments.slice(0, MAIL_LIMITS.attachments).map(({ filename, contentType, size }) => {
    return { name: short(filename ?? ''), type: short(contentType), octets: size };
  });
}

function cutText(
  text: string | undefined,
  limit: number,
  { what, cuts }: { what: string; cuts: string[] },
): string | null {
  if (text === undefined || text === '') return null;
  if (text.length > limit) cuts.push(`${what} has ${text.length} characters; the first ${limit} are shown.`);
  return text.slice(0, limit).toWellFormed();
}

function short(text: string): string {
  return text.length > MAIL_LIMITS.headerChars ? `${text.slice(0, MAIL_LIMITS.headerChars).toWellFormed()}…` : text;
}

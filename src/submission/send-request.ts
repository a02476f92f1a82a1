// Checks a send request beyond its JSON schema: addresses, header rules, characters. Knows nothing
// of HTTP and reads no database; the shape of the body is checked before.
import { isUuid } from '../base/ids.ts';
import { JsonText } from '../base/json-text.ts';
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import { type Address, policyRefusal, recipientKey, suppressionKey } from '../protocol/mail/address.ts';
import { validateCustomHeaders } from '../protocol/mail/custom-headers.ts';
import { parseMailbox } from '../protocol/mail/mailbox.ts';

/** The body as schema/api/send-email.json validates it, without its nulls. */
export interface SendBody {
  from: string;
  to: string | string[];
  subject: string;
  html?: string;
  text?: string;
  template_id?: string;
  /** A JsonText when the body is large. */
  data?: unknown;
  headers?: Record<string, string | null>;
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
}

export interface SendRequest {
  from: Correspondent;
  /** Distinct, in order of first mention. */
  recipients: SendRecipient[];
  subject: string;
  html: string | null;
  text: string | null;
  /** The template that html and text are rendered from, instead of the request's own. */
  template: { id: string; dataJson: string } | null;
  headers: [name: string, value: string][];
}

export function readSendRequest(body: SendBody): SendRequest | Refusal {
  const from = readMailbox('from', body.from);
  if (isRefusal(from)) return from;
  const recipients = readRecipients(body.to);
  if (isRefusal(recipients)) return recipients;
  const subjectFault = subjectProblem(body.subject);
  if (subjectFault !== null) return invalid('subject', subjectFault);
  const content = readContent(body);
  if (isRefusal(content)) return content;
  const headers = readHeaders(body.headers ?? {});
  if (isRefusal(headers)) return headers;
  return { from: correspondent(from), recipients, subject: body.subject, ...content, headers };
}

interface NamedAddress {
  name: string;
  address: Address;
}

function readMailbox(field: string, text: string): NamedAddress | Refusal {
  const parsed = parseMailbox(text);
  if (!parsed.ok) return invalid(field, parsed.reason);
  const againstPolicy = policyRefusal(parsed.mailbox.address);
  return againstPolicy === null ? parsed.mailbox : invalid(field, againstPolicy);
}

/** One message per distinct recipient: duplicates are merged, and the first display name wins. */
function readRecipients(to: string | string[]): SendRecipient[] | Refusal {
  const entries = typeof to === 'string' ? [to] : to;
  const recipients = new Map<string, SendRecipient>();
  for (const [index, entry] of entries.entries()) {
    const field = typeof to === 'string' ? 'to' : `to[${index}]`;
    const mailbox = readMailbox(field, entry);
    if (isRefusal(mailbox)) return holdsSeveral(entry) ? invalid(field, SEVERAL) : mailbox;
    const key = recipientKey(mailbox.address);
    if (recipients.has(key)) continue;
    recipients.set(key, { ...correspondent(mailbox), suppressionKey: suppressionKey(mailbox.address) });
  }
  return [...recipients.values()];
}

const SEVERAL = 'must hold one address per entry; pass several as an array: ["a@example.com", "b@example.com"].';
/** More than one entry for each recipient that a call may have. */
const MAX_SEVERAL_CHARS = 20_000;

/** Several addresses in one string, separated as in a mail client. */
function holdsSeveral(entry: string): boolean {
  const parts = entry.length > MAX_SEVERAL_CHARS ? [] : entry.split(/[,;]/).filter((part) => part.trim() !== '');
  return parts.length > 1 && parts.every((part) => parseMailbox(part.trim()).ok);
}

function correspondent({ name, address }: NamedAddress): Correspondent {
  return { address: `${address.local}@${address.domain}`, name: name || null, domain: address.asciiDomain };
}

function subjectProblem(subject: string): string | null {
  if (/\p{Cc}/u.test(subject)) return 'must not contain control characters, including tabs and line breaks.';
  return subject.isWellFormed() ? null : NOT_UNICODE;
}

type Content = Pick<SendRequest, 'html' | 'text' | 'template'>;

/** With a template, html and text of the request are ignored; without one, `data` is. */
function readContent(body: SendBody): Content | Refusal {
  const templateId = body.template_id ?? null;
  if (templateId !== null) {
    if (!isUuid(templateId)) return invalid('template_id', 'must be a UUID.');
    const dataJson = readData(body.data ?? {});
    if (isRefusal(dataJson)) return dataJson;
    return { html: null, text: null, template: { id: templateId.toLowerCase(), dataJson } };
  }
  const html = body.html || null;
  const text = body.text || null;
  if (html === null && text === null) return invalid('html', 'at least one of html and text is required.');
  if (html?.isWellFormed() === false) return invalid('html', NOT_UNICODE);
  if (text?.isWellFormed() === false) return invalid('text', NOT_UNICODE);
  return { html, text, template: null };
}

/** As text, which goes to the render thread without being parsed here. */
function readData(data: unknown): string | Refusal {
  if (data instanceof JsonText) return data.text.startsWith('{') ? data.text : invalid('data', 'must be an object.');
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return invalid('data', 'must be an object.');
  try {
    return JSON.stringify(data);
  } catch (error) {
    if (error instanceof RangeError) return invalid('data', 'is nested too deeply.');
    throw error;
  }
}

function readHeaders(given: Record<string, string | null>): [string, string][] | Refusal {
  const headers = Object.entries(given).filter((header): header is [string, string] => header[1] !== null);
  const problem = validateCustomHeaders(Object.fromEntries(headers));
  if (problem !== null) return refuse('validation_failed', `headers: ${problem}`);
  const broken = headers.find(([, value]) => !value.isWellFormed());
  return broken ? invalid(`headers.${broken[0]}`, NOT_UNICODE) : headers;
}

const NOT_UNICODE = 'must be valid Unicode; it contains a lone surrogate.';

function invalid(field: string, problem: string): Refusal {
  return refuse('validation_failed', `${field}: ${problem[0]?.toLowerCase()}${problem.slice(1)}`);
}

// Checks a send request beyond its JSON schema: addresses, header rules, characters. Knows nothing
// of HTTP and reads no database; the shape of the body is checked before.
import { isUuid } from '../base/ids.ts';
import { isRefusal, type Refusal, refuse } from '../base/refusals.ts';
import { JsonText } from '../base/text/json-text.ts';
import type { MailAttachment } from '../protocol/mail/compose/attachment.ts';
import { validateCustomHeaders } from '../protocol/mail/compose/custom-headers.ts';
import type { HeaderLists, Labels, TrackingChoice } from '../store/submissions.ts';
import {
  type Addressed,
  type AddressLists,
  type Correspondent,
  correspondent,
  readAddressLists,
  readMailbox,
} from './address-lists.ts';
import { type AttachmentBody, readAttachments } from './attachments.ts';
import { invalid } from './invalid.ts';
import { type LabelsBody, readLabels } from './labels.ts';
import { readSendAt } from './schedule.ts';

/** The body as schema/api/send-email.json validates it, without its nulls. */
export interface SendBody extends AddressLists, LabelsBody {
  from: string;
  /** Left out: the template has one. */
  subject?: string;
  html?: string;
  text?: string;
  template_id?: string;
  /** A JsonText when the body is large. */
  data?: unknown;
  headers?: Record<string, string | null>;
  attachments?: AttachmentBody[];
  tracking?: { opens?: boolean | null; clicks?: boolean | null };
  send_at?: string;
}

export interface SendRequest extends Addressed {
  from: Correspondent;
  /** Null: that of the template. */
  subject: string | null;
  html: string | null;
  text: string | null;
  /** The template that html and text are rendered from, instead of the request's own. */
  template: { id: string; dataJson: string } | null;
  headers: [name: string, value: string][];
  attachments: MailAttachment[];
  labels: Labels | null;
  tracking: TrackingChoice;
  /** Null: at once. */
  sendAt: number | null;
}

export function readSendRequest(body: SendBody, now: number): SendRequest | Refusal {
  const from = readMailbox('from', body.from);
  if (isRefusal(from)) return from;
  const addressed = readAddressLists(body);
  if (isRefusal(addressed)) return addressed;
  const { subject = null } = body;
  const subjectFault = subject === null ? missingSubject(body) : subjectProblem(subject);
  if (subjectFault !== null) return invalid('subject', subjectFault);
  const content = readContent(body);
  if (isRefusal(content)) return content;
  const headers = readHeaders(body.headers ?? {}, addressed.lists);
  if (isRefusal(headers)) return headers;
  const attachments = readAttachments(body.attachments ?? []);
  if (!Array.isArray(attachments)) return invalid(attachments.field, attachments.problem);
  const labels = readLabels(body);
  if (labels && 'problem' in labels) return invalid(labels.field, labels.problem);
  const sendAt = readSendAt(body.send_at, now);
  if (isRefusal(sendAt)) return sendAt;
  const { opens, clicks } = body.tracking ?? {};
  const tracking = { ...(typeof opens === 'boolean' && { opens }), ...(typeof clicks === 'boolean' && { clicks }) };
  return {
    from: correspondent(from),
    ...addressed,
    subject,
    ...content,
    headers,
    attachments,
    labels,
    tracking,
    sendAt,
  };
}

function missingSubject(body: SendBody): string | null {
  return body.template_id === undefined ? 'this field is required.' : null;
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

function readHeaders(given: Record<string, string | null>, lists: HeaderLists | null): [string, string][] | Refusal {
  const headers = Object.entries(given).filter((header): header is [string, string] => header[1] !== null);
  if (lists && lists.replyTo.length > 0 && headers.some(([name]) => name.toLowerCase() === 'reply-to')) {
    return invalid('headers.Reply-To', 'must be left out when reply_to is given.');
  }
  const problem = validateCustomHeaders(Object.fromEntries(headers));
  if (problem !== null) return refuse('validation_failed', `headers: ${problem}`);
  const broken = headers.find(([, value]) => !value.isWellFormed());
  return broken ? invalid(`headers.${broken[0]}`, NOT_UNICODE) : headers;
}

const NOT_UNICODE = 'must be valid Unicode; it contains a lone surrogate.';

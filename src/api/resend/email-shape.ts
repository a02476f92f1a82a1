// An email as Resend's SDKs send it, translated into the body of our own POST /emails. What needs the clock stays for the
// endpoint. Large bodies are translated in the threads that parse them.
import { isRefusal, type Refusal } from '../../base/refusals.ts';
import { JsonText } from '../../base/text/json-text.ts';
import type { AttachmentBody } from '../../submission/attachments.ts';
import type { SendBody } from '../../submission/send-request.ts';
import { checkEach } from '../batch-shape.ts';
import { type BodyShape, loadBodyShape, MAX_VALUES_OF_BATCH } from '../body-shape.ts';
import type { BodyForm, JsonObject } from '../json-body.ts';
import { invalid } from '../query.ts';
import { readContent } from './attachment-content.ts';

/** As the JSON schema lets it through. */
interface ResendEmail extends Pick<SendBody, 'from' | 'to' | 'cc' | 'bcc' | 'reply_to' | 'subject' | 'html' | 'text'> {
  headers?: Record<string, string | null>;
  attachments?: ResendAttachment[];
  tags?: { name: string; value: string }[];
  /** Variables are a JsonText when the body is large. */
  template?: { id: string; variables?: object | null };
  scheduled_at?: string;
  topic_id?: string;
}

interface ResendAttachment {
  filename?: string | null;
  content?: unknown;
  path?: string | null;
  content_type?: string | null;
  content_id?: string | null;
  /** What content_id was called before. */
  inline_content_id?: string | null;
}

export interface TranslatedEmail {
  /** Without `data`. */
  body: SendBody;
  /** Of a template: text, so that they may be of any size; they are parsed where it is rendered. */
  variables: string | null;
  /** As it was written. */
  scheduledAt: string | null;
}

export interface TranslatedBatch {
  emails: (TranslatedEmail | Refusal)[];
}

const FORM: BodyForm = { listsOfBytes: true, ofAnySize: ['template', 'variables'] };
const FORM_OF_BATCH: BodyForm = {
  listsOfBytes: true,
  listAs: 'emails',
  ofAnySize: [null, 'template', 'variables'],
  maxValues: MAX_VALUES_OF_BATCH,
};

export function loadResendEmail(): BodyShape<TranslatedEmail> {
  const shape = loadBodyShape<ResendEmail>('resend-email', 'resend');
  const translating = (given: JsonObject) => {
    const email = shape(withoutEmpty(given));
    return isRefusal(email) ? email : translate(email);
  };
  return Object.assign(translating, { schemaName: shape.schemaName, form: FORM });
}

export function loadResendBatch(email = loadResendEmail()): BodyShape<TranslatedBatch> {
  const shape = loadBodyShape<{ emails: object[] }>('resend-batch', 'resend');
  const translating = (given: JsonObject) => checkEach(given, shape, email);
  return Object.assign(translating, { schemaName: shape.schemaName, form: FORM_OF_BATCH });
}

export function loadResendUpdate(): BodyShape<{ scheduled_at: string }> {
  return loadBodyShape('resend-update', 'resend');
}

/** The SDK for Go sends fields that were not set as empty texts. */
function withoutEmpty(given: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}

function translate(email: ResendEmail): TranslatedEmail | Refusal {
  const { attachments: given = [], template, scheduled_at, topic_id, ...same } = email;
  if (topic_id !== undefined) return invalid('topic_id', 'topics are not supported; leave it out.');
  const attachments: AttachmentBody[] = [];
  for (const [index, one] of given.entries()) {
    const attachment = translateAttachment(`attachments[${index}]`, one);
    if (isRefusal(attachment)) return attachment;
    attachments.push(attachment);
  }
  const variables = template ? jsonOf(template.variables ?? {}) : null;
  if (isRefusal(variables)) return variables;
  const templated = template && { template_id: template.id };
  return {
    body: { ...same, ...templated, ...(attachments.length > 0 && { attachments }), isLetter: true },
    variables,
    scheduledAt: scheduled_at ?? null,
  };
}

function jsonOf(variables: object): string | Refusal {
  if (variables instanceof JsonText) {
    // The schema has let it through as an object, whatever is in the text.
    return variables.text.startsWith('{') ? variables.text : invalid('template.variables', 'must be an object.');
  }
  try {
    return JSON.stringify(variables);
  } catch (error) {
    if (error instanceof RangeError) return invalid('template.variables', 'is nested too deeply.');
    throw error;
  }
}

function translateAttachment(field: string, attachment: ResendAttachment): AttachmentBody | Refusal {
  const { filename, content, path, content_type } = attachment;
  const content_id = attachment.content_id || attachment.inline_content_id;
  // An SDK may send what was not given as an empty text.
  if (path) {
    return invalid(`${field}.path`, 'files are not fetched from elsewhere; read the file and send it as content.');
  }
  if (typeof filename !== 'string') return invalid(`${field}.filename`, 'this field is required.');
  if (content === undefined || content === null) return invalid(`${field}.content`, 'this field is required.');
  const read = readContent(content);
  if (!read.ok) return invalid(`${field}.content`, read.problem);
  return { filename, content: read.base64, ...(content_type && { content_type }), ...(content_id && { content_id }) };
}

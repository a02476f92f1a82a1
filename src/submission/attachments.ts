// Checks the attachments of a send request beyond its JSON schema, and decodes them. The first problem is returned with the
// index of its attachment. Knows nothing of HTTP; that a call holds 5 MiB at most is checked before.
import { detectMimeType } from 'nodemailer/lib/mime-funcs/mime-types.js';
import { decodeBase64 } from '../base/text/base64.ts';
import type { MailAttachment } from '../protocol/mail/compose/attachment.ts';

/** An attachment as the JSON schema validates it. */
export interface AttachmentBody {
  filename: string;
  /** Base64. */
  content: string;
  content_type?: string | null;
  content_id?: string | null;
}

export interface AttachmentProblem {
  /** Of the attachment in the list. */
  index: number;
  /** The whole path, such as `attachments[3].filename`. */
  field: string;
  /** Follows the field and a colon: `must not contain "/".` */
  problem: string;
}

const MAX_ATTACHMENTS = 50;
const MAX_NAME_CHARS = 255;
const MAX_TYPE_CHARS = 255;
const DEFAULT_TYPE = 'application/octet-stream';

export function readAttachments(given: readonly AttachmentBody[]): MailAttachment[] | AttachmentProblem {
  if (given.length > MAX_ATTACHMENTS) {
    return { index: MAX_ATTACHMENTS, field: 'attachments', problem: `must have at most ${MAX_ATTACHMENTS} entries.` };
  }
  const attachments: MailAttachment[] = [];
  const indexOfId = new Map<string, number>();
  for (const [index, body] of given.entries()) {
    const invalid = (key: keyof AttachmentBody, problem: string): AttachmentProblem => {
      return { index, field: `attachments[${index}].${key}`, problem };
    };
    const nameProblem = filenameProblem(body.filename);
    if (nameProblem !== null) return invalid('filename', nameProblem);
    const type = readType(body.content_type ?? null, body.filename);
    if (!type.ok) return invalid('content_type', type.problem);
    const contentId = body.content_id ?? null;
    const idProblem = contentId === null ? null : contentIdProblem(contentId, indexOfId);
    if (idProblem !== null) return invalid('content_id', idProblem);
    const decoded = decodeBase64(body.content);
    if (!decoded.ok) return invalid('content', `must be base64; it ${decoded.problem}.`);
    if (contentId !== null) indexOfId.set(contentId, index);
    attachments.push({ filename: body.filename, contentType: type.contentType, contentId, content: decoded.bytes });
  }
  return attachments;
}

function filenameProblem(name: string): string | null {
  // No character has more than two UTF-16 units, and a huge name must not be split into characters.
  if (name === '' || name.length > 2 * MAX_NAME_CHARS || [...name].length > MAX_NAME_CHARS) {
    return `must have 1 to ${MAX_NAME_CHARS} characters.`;
  }
  if (!name.isWellFormed()) return 'must be valid Unicode; it contains a lone surrogate.';
  if (/\p{Cc}/u.test(name)) return 'must not contain control characters.';
  const separator = /[/\\]/.exec(name)?.[0];
  if (separator !== undefined) return `must not contain "${separator}"; leave out the path.`;
  return name === '.' || name === '..' ? `must not be "${name}".` : null;
}

// RFC 2045 section 5.1, without escapes in quotes and the extended parameters of RFC 2231.
const TOKEN = "[\\w!#$%&'*+.^`{|}~-]+";
const PARAMETER = `([\\w!#$&+.^\`{|}~-]+)=(?:${TOKEN}|"[^"\\\\\\x00-\\x1f\\x7f-\\uffff]*")`;
const MEDIA_TYPE = new RegExp(`^ *(${TOKEN}/${TOKEN}) *((?:; *${PARAMETER} *)*)$`);
const PARAMETERS = new RegExp(PARAMETER, 'g');

type ReadType = { ok: true; contentType: string } | { ok: false; problem: string };

function readType(given: string | null, filename: string): ReadType {
  if (given === null) return { ok: true, contentType: typeByName(filename) };
  const refused = (problem: string): ReadType => ({ ok: false, problem });
  if (given.length > MAX_TYPE_CHARS) return refused(`must have at most ${MAX_TYPE_CHARS} characters.`);
  const [, type, parameters = ''] = MEDIA_TYPE.exec(given) ?? [];
  if (type === undefined) return refused('must be a media type such as "text/csv; charset=utf-8".');
  if (isComposite(type)) return refused('must not be message/* or multipart/*.');
  const names = new Set<string>();
  for (const [, parameter = ''] of parameters.matchAll(PARAMETERS)) {
    const name = parameter.toLowerCase();
    if (name === 'name') return refused('must not have the parameter "name"; filename is used for it.');
    if (names.has(name)) return refused(`must not have the parameter "${name}" twice.`);
    names.add(name);
  }
  return { ok: true, contentType: given.trim() };
}

/** RFC 2046 section 5: such content is structured itself, and must not be in base64. */
function isComposite(type: string): boolean {
  return /^(message|multipart)\//i.test(type);
}

function typeByName(filename: string): string {
  const type = detectMimeType(filename);
  return isComposite(type) ? DEFAULT_TYPE : type;
}

function contentIdProblem(contentId: string, indexOfId: ReadonlyMap<string, number>): string | null {
  if (!/^[A-Za-z0-9._@-]{1,128}$/.test(contentId)) return 'must be 1 to 128 letters, digits, ".", "_", "@" or "-".';
  const other = indexOfId.get(contentId);
  return other === undefined ? null : `is the same as that of attachments[${other}]; it must be unique.`;
}

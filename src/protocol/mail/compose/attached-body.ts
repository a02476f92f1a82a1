// The body of a message with attachments (RFC 2046, 2387): what the composers make of text and HTML, with the files
// around it. Its size is known before it is written, so that megabytes are encoded into their final place.
//
//   mixed [ alternative [ text, related [ HTML, inline files ] ], other files ], without the levels that have one part
import { setImmediate } from 'node:timers/promises';
import type { MailAttachment } from './attachment.ts';
import { attachmentFields } from './attachment-fields.ts';
import { base64LinesLength, writeBase64Lines } from './base64-lines.ts';
import type { BodyInput, MimeBody } from './lean-body.ts';

/** Makes the body of a message that is text, HTML or both. */
type ComposeText = (input: BodyInput) => Promise<MimeBody>;

/** Encoded in one turn of the event loop, unless a single attachment is larger. */
const TURN_BYTES = 1024 * 1024;

export async function composeAttachedBody(input: BodyInput, composeText: ComposeText): Promise<MimeBody> {
  const { attachments = [], boundarySeed } = input;
  const hasHtml = isThere(input.html);
  const inline = attachments.filter(({ contentId }) => hasHtml && contentId !== null);
  const others = attachments.filter((attachment) => !inline.includes(attachment));
  const message = inline.length > 0 ? await withInline(input, inline, composeText) : await textPart(input, composeText);
  const parts = [...message, ...others.map((attachment) => filePart(attachment, 'attachment'))];
  const whole = others.length > 0 ? multipart('mixed', parts, boundarySeed) : parts[0]!;
  return { fields: `MIME-Version: 1.0\r\n${whole.fields}`, content: await written(whole.pieces) };
}

interface Entity {
  /** Each ended by CRLF, without MIME-Version. */
  fields: string;
  /** The content, in its order. */
  pieces: Piece[];
}

/** Bytes as they are, or a file that is still to be encoded. */
type Piece = Buffer | MailAttachment;

/** The HTML with the files that it refers to, and the text as its alternative. */
async function withInline(input: BodyInput, inline: MailAttachment[], composeText: ComposeText): Promise<Entity[]> {
  const { boundarySeed } = input;
  const html = await textPart({ ...input, text: null }, composeText);
  // Readers show text that is inline as a part of the message, also when the HTML refers to it.
  const files = inline.map((file) => filePart(file, /^text\//i.test(file.contentType) ? 'attachment' : 'inline'));
  const related = multipart('related; type="text/html"', [...html, ...files], boundarySeed);
  const text = await textPart({ ...input, html: null }, composeText);
  return [text.length === 0 ? related : multipart('alternative', [...text, related], boundarySeed)];
}

/** None when there is neither text nor HTML. */
async function textPart({ text, html, boundarySeed }: BodyInput, composeText: ComposeText): Promise<Entity[]> {
  if (!isThere(text) && !isThere(html)) return [];
  const { fields, content } = await composeText({ text, html, boundarySeed });
  const isSingle = !isThere(text) || !isThere(html);
  return [
    {
      fields: fields.replace(/^MIME-Version:.*\r\n/im, ''),
      pieces: [isSingle && !/[\r\n]$/.test(text || html || '') ? withoutEnd(content) : content],
    },
  ];
}

/** Without the CRLF that the composer has added: here the boundary brings one, and a second would be an extra line. */
function withoutEnd(content: Buffer): Buffer {
  return content.subarray(0, content.length - '\r\n'.length);
}

function filePart(attachment: MailAttachment, disposition: 'attachment' | 'inline'): Entity {
  return { fields: attachmentFields(attachment, disposition), pieces: [attachment] };
}

function multipart(type: string, parts: readonly Entity[], boundarySeed: string): Entity {
  const [subtype = ''] = type.split(';');
  // As in lean-body.ts; and none begins with another, since readers compare beginnings (RFC 2046 section 5.1.1).
  const boundary = `=_${subtype}_${boundarySeed.replaceAll('-', '')}`;
  const pieces = parts.flatMap((part, index) => [
    Buffer.from(`${index === 0 ? '' : '\r\n'}--${boundary}\r\n${part.fields}\r\n`),
    ...part.pieces,
  ]);
  return {
    fields: `Content-Type: multipart/${type};\r\n boundary="${boundary}"\r\n`,
    pieces: [...pieces, Buffer.from(`\r\n--${boundary}--\r\n`)],
  };
}

async function written(pieces: readonly Piece[]): Promise<Buffer> {
  const out = Buffer.allocUnsafe(pieces.reduce((sum, piece) => sum + lengthOf(piece), 0));
  let at = 0;
  let inThisTurn = 0;
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) {
      at += piece.copy(out, at);
      continue;
    }
    if (inThisTurn > 0 && inThisTurn + piece.content.length > TURN_BYTES) {
      await setImmediate();
      inThisTurn = 0;
    }
    at = writeBase64Lines(piece.content, out, at);
    inThisTurn += piece.content.length;
  }
  return out;
}

function lengthOf(piece: Piece): number {
  return Buffer.isBuffer(piece) ? piece.length : base64LinesLength(piece.content.length);
}

function isThere(part: string | null): part is string {
  return part !== null && part !== '';
}

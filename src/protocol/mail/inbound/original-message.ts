// The original message in a report: whole (message/rfc822), its header (text/rfc822-headers), or as text. It contains
// our tokens, by which a complaint can be matched to its message even when the reporter hides addresses.
import { addressesIn } from './addresses-in-text.ts';
import { type Header, readHeaderBlock } from './header-block.ts';
import type { OriginalMessage } from './inbound-mail.ts';
import { contentOf, MAX_CHARACTERS_PER_BYTE, type MailPart } from './mail-parts.ts';

/** Fields where relays write the envelope sender. */
const RETURN_PATH_FIELDS = [
  'return-path',
  'x-envelope-from',
  'x-original-mail-from',
  'x-env-sender',
  'envelope-sender',
];
/** A message passes few relays that add such fields. */
const MAX_TOKENS = 20;
/** Enough for a header: RFC 822 headers that are returned as text have no limit of their own. */
const MAX_HEADER_TEXT = 256 * 1024;
/** No signature of a larger message is verified, so it need not be decoded. */
const MAX_CONTENT_BYTES = 1024 * 1024;

const WHOLE = new Set(['message/rfc822', 'message/global', 'message/partial']);
const ONLY_HEADER = new Set([
  'text/rfc822-headers',
  'message/global-headers',
  'message/rfc822-headers',
  'text/rfc822-header',
]);

export function isOriginal({ type }: MailPart): boolean {
  return WHOLE.has(type) || ONLY_HEADER.has(type);
}

export function originalIn(parts: readonly MailPart[], asText: string | null): OriginalMessage | null {
  const part = parts.find(isOriginal);
  if (part) {
    const content = WHOLE.has(part.type) ? wholeContentOf(part) : null;
    const start = content?.subarray(0, MAX_HEADER_TEXT) ?? contentOf(part, MAX_HEADER_TEXT);
    return describe(start.toString('latin1'), content);
  }
  return asText === null ? null : describe(Buffer.from(asText.slice(0, MAX_HEADER_TEXT)).toString('latin1'), null);
}

/** Null: it is too large. */
function wholeContentOf(part: MailPart): Buffer | null {
  if (part.body.length > MAX_CHARACTERS_PER_BYTE * MAX_CONTENT_BYTES) return null;
  const content = contentOf(part);
  return content.length > MAX_CONTENT_BYTES ? null : content;
}

/** Only the header of the original. */
export function originalHeader(parts: readonly MailPart[]): Header | null {
  const part = parts.find(isOriginal);
  return part ? headerOf(contentOf(part, MAX_HEADER_TEXT).toString('latin1')) : null;
}

function headerOf(text: string): Header {
  const start = /^[\s]*/.exec(text)![0].length;
  return readHeaderBlock(text, start, text.length).header;
}

function describe(text: string, content: Buffer | null): OriginalMessage | null {
  const header = headerOf(text);
  if (header.fields.length === 0) return null;
  const valuesOf = (names: readonly string[]) =>
    header.fields.filter(({ name }) => names.includes(name)).map(({ value }) => value);
  const messageId = /<([^<>\s]{1,500})>/.exec(header.raw('message-id') ?? '')?.[1] ?? null;
  return {
    messageId: messageId ?? (header.raw('message-id')?.trim() || null),
    returnPaths: valuesOf(RETURN_PATH_FIELDS).flatMap(addressesIn).slice(0, MAX_TOKENS),
    feedbackIds: valuesOf(['cfbl-feedback-id']).slice(0, MAX_TOKENS),
    from: addressesIn(valuesOf(['from']).join(', ')),
    to: addressesIn(valuesOf(['to']).join(', ')),
    subject: header.text('subject'),
    content,
  };
}

// From bytes to a JSON object: UTF-8 without a byte order mark (RFC 8259 section 8.1), and an
// object at the top. What its fields may be is told by body-shape.ts.
import { type Refusal, refuse } from '../base/refusals.ts';
import type { BodyResult, HttpRequest } from '../http/http.ts';

/** The specification's 5 MiB for every call. */
export const BODY_LIMIT_BYTES = 5 * 1024 * 1024;

export type JsonObject = Readonly<Record<string, unknown>>;

/** Parameters such as charset are ignored: JSON has none, and is always read as UTF-8. */
export function refuseMediaType(contentType: string | undefined): Refusal | null {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase();
  if (mediaType === 'application/json') return null;
  return refuse('unsupported_media_type', 'Send the body with the header "Content-Type: application/json".');
}

export async function readBytes(request: HttpRequest): Promise<Buffer | Refusal> {
  const body: BodyResult = await request.readBody(BODY_LIMIT_BYTES);
  switch (body.kind) {
    case 'body':
      return body.bytes;
    case 'too_large':
      return refuse('request_too_large', 'The body exceeds 5 MiB; send less.');
    case 'broken':
      return refuse('read_body_failed', 'The body broke off before its end; send it again.');
  }
}

/**
 * The object stands in a wrapper: whoever writes the body must not be able to make it look
 * like a refusal of ours.
 */
export type JsonResult = { object: JsonObject } | { refusal: Refusal };

// `ignoreBOM` keeps a byte order mark in the text, where JSON.parse stumbles over it.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function parseJsonObject(bytes: Buffer): JsonResult {
  const text = decode(bytes);
  if (text === null) return { refusal: refuse('invalid_json', 'The body is not valid UTF-8.') };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Only the place: the parser's own words quote the body.
    const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(String(error))?.[0];
    return { refusal: refuse('invalid_json', `The body is not valid JSON${place ? `, ${place}` : ''}.`) };
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { object: value as JsonObject };
  return { refusal: refuse('validation_failed', 'The body must be a JSON object.') };
}

function decode(bytes: Buffer): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

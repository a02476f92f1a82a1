// From bytes to a JSON object: UTF-8 without a byte order mark (RFC 8259 section 8.1), and an
// object at the top. What its fields may be is told by body-shape.ts. The fields that may be of
// any size stay text.

import { type Refusal, refuse } from '../base/refusals.ts';
import { type MemberPath, type Span, scanJson } from '../base/text/json-scan.ts';
import { JsonText } from '../base/text/json-text.ts';
import type { BodyResult, BodyRoom, HttpRequest } from '../http/http.ts';
import { pathInWords, replaceAt } from './field-of-any-size.ts';

/** The specification's 5 MiB for every call. */
export const BODY_LIMIT_BYTES = 5 * 1024 * 1024;

export type JsonObject = Readonly<Record<string, unknown>>;

/** Parameters such as charset are ignored: JSON has none, and is always read as UTF-8. */
export function refuseMediaType(contentType: string | undefined): Refusal | null {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase();
  if (mediaType === 'application/json') return null;
  return refuse('unsupported_media_type', 'Send the body with the header "Content-Type: application/json".');
}

/** Long enough for a body that is on its way to arrive, or to be given up. */
const RETRY_AFTER_SECS = 2;

export async function readBytes(request: HttpRequest, room: BodyRoom): Promise<Buffer | Refusal> {
  const body: BodyResult = await request.readBody(BODY_LIMIT_BYTES, room);
  switch (body.kind) {
    case 'body':
      return body.bytes;
    case 'too_large':
      return refuse('request_too_large', 'The request body exceeds the limit of 5 MiB.');
    case 'no_room': {
      const message = 'Too many large request bodies are being received. Retry later or send fewer at once.';
      return { ...refuse('internal_error', message), retryAfterSecs: RETRY_AFTER_SECS };
    }
    case 'broken':
      return refuse('read_body_failed', 'The request body was incomplete or stalled for 8 s. Send it again.');
  }
}

/**
 * The object stands in a wrapper: whoever writes the body must not be able to make it look
 * like a refusal of ours.
 */
export type JsonResult = { object: JsonObject } | { refusal: Refusal };

// `ignoreBOM` keeps a byte order mark in the text, where JSON.parse stumbles over it.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Up to here JSON.parse is done in a few milliseconds, whatever the body holds. */
const LARGE_CHARS = 64 * 1024;
/** Where most calls have what a template is filled with: all that may hold any number of values. */
const FIELD_OF_ANY_SIZE: MemberPath = ['data'];
/** In the rest of a large body: fifty recipients and fifty headers need about a hundred. */
const MAX_OTHER_VALUES = 10_000;

/** What a body may be besides an object with few values. */
export interface BodyForm {
  /** The body is a list, which becomes this member of an object. */
  listAs?: string;
  /** It may have lists of bytes: numbers in lists don't count as values. */
  listsOfBytes?: boolean;
  /** Where its fields of any size are; left out: `data`. */
  ofAnySize?: MemberPath;
  /** Of a large one, outside the fields of any size. */
  maxValues?: number;
  /** What to say of more, where there is a field that they can only belong to. */
  tooManyValues?: string;
}

/** Where the object has its fields of any size, which differs from where the body has them when that is a list. */
export function fieldsOfAnySize({ listAs, ofAnySize = FIELD_OF_ANY_SIZE }: BodyForm): MemberPath {
  return listAs === undefined ? ofAnySize : [listAs, ...ofAnySize];
}

/** In a large body, fields of any size become a JsonText each. */
export function parseJsonObject(bytes: Uint8Array, form: BodyForm = {}): JsonResult {
  const text = decode(bytes);
  if (text === null) return { refusal: refuse('invalid_json', 'The request body is not valid UTF-8.') };
  return text.length > LARGE_CHARS ? parseLarge(text, form) : parse(text, form);
}

function parse(text: string, { listAs }: BodyForm): JsonResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Only the place: the parser's own words quote the body.
    const place = /at position \d+(?: \(line \d+ column \d+\))?/.exec(String(error))?.[0];
    return { refusal: refuse('invalid_json', `The request body is not valid JSON${place ? `, ${place}` : ''}.`) };
  }
  if (listAs !== undefined) {
    if (Array.isArray(value)) return { object: { [listAs]: value } };
    return { refusal: refuse('validation_failed', 'The request body must be a JSON array.') };
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { object: value as JsonObject };
  return { refusal: refuse('validation_failed', 'The request body must be a JSON object.') };
}

function parseLarge(text: string, form: BodyForm): JsonResult {
  const { listsOfBytes = false, maxValues = MAX_OTHER_VALUES, ofAnySize = FIELD_OF_ANY_SIZE } = form;
  const scan = scanJson(text, ofAnySize, { listsOfBytes });
  if (scan.kind === 'invalid') {
    return { refusal: refuse('invalid_json', `The request body is not valid JSON, at position ${scan.at}.`) };
  }
  if (scan.values > maxValues) {
    const where = pathInWords(ofAnySize);
    const counted = `The request body has ${scan.values} values outside ${where}; the limit is ${maxValues}.`;
    const problem = form.tooManyValues ?? counted;
    return { refusal: refuse('validation_failed', problem) };
  }
  const { spans } = scan;
  const result = parse(numberedSpans(text, spans), form);
  if (!('object' in result) || spans.length === 0) return result;
  replaceAt(result.object, fieldsOfAnySize(form), (number) => {
    const { start, end } = spans[Number(number)] as Span;
    const field = text.slice(start, end);
    return field === 'null' ? null : new JsonText(field);
  });
  return result;
}

/** Each becomes its number, by which it is found again: the parser decides which one of a repeated name counts. */
function numberedSpans(text: string, spans: Span[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const [number, { start, end }] of spans.entries()) {
    pieces.push(text.slice(from, start), String(number));
    from = end;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

function decode(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

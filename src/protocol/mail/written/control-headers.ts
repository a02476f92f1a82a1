// What an application asks for in header fields of a written mail, instead of fields of a send request. Only the shape is
// checked here: the limits of each value are those of a send request.
import { nearest } from '../../../base/text/suggest.ts';
import { decodeWords } from '../inbound/encoded-words.ts';
import { type HeaderProblem, trimBlanks, type WrittenField } from './header-fields.ts';

export interface Control {
  /** With the name of its header. */
  idempotencyKey: { header: string; value: string } | null;
  tags: Record<string, string> | null;
  metadata: Record<string, string> | null;
  /** As written. */
  sendAt: string | null;
  /** Empty: as the tenant has it. */
  tracking: { opens?: boolean; clicks?: boolean };
}

/** Names of one header; other services have the latter two. */
const IDEMPOTENCY_NAMES = ['X-Postrider-Idempotency-Key', 'Idempotency-Key', 'Resend-Idempotency-Key'];
const IDEMPOTENCY_KEYS = new Set(IDEMPOTENCY_NAMES.map((name) => name.toLowerCase()));
const TAG = 'X-Postrider-Tag';
const METADATA = 'X-Postrider-Metadata';
const SEND_AT = 'X-Postrider-Send-At';
const TRACKING = 'X-Postrider-Tracking';
const MAX_TAGS = 10;
const PREFIX = 'X-Postrider-';
const CONTROL_NAMES = [IDEMPOTENCY_NAMES[0]!, TAG, METADATA, SEND_AT, TRACKING];
const CONTROL_WORDS = CONTROL_NAMES.map((name) => name.slice(PREFIX.length));
/** No header of so many characters is misspelt, it is another. */
const MAX_MISSPELT = 80;

export function readControl(fields: readonly WrittenField[]): Control | HeaderProblem {
  const misspelt = firstMisspelt(fields);
  if (misspelt !== null) return { problem: misspelt };
  const idempotencyKey = readIdempotencyKey(fields);
  if (isProblem(idempotencyKey)) return idempotencyKey;
  const tags = readTags(valuesOf(TAG, fields));
  if (isProblem(tags)) return tags;
  const metadata = readOnce(METADATA, fields, readMetadata);
  if (isProblem(metadata)) return metadata;
  const sendAt = readOnce(SEND_AT, fields, (value) => ({ value }));
  if (isProblem(sendAt)) return sendAt;
  const tracking = readOnce(TRACKING, fields, readTracking);
  if (isProblem(tracking)) return tracking;
  return {
    idempotencyKey: idempotencyKey.value,
    tags: tags.value,
    metadata: metadata.value,
    sendAt: sendAt.value,
    tracking: tracking.value ?? {},
  };
}

/** It would be removed like all of its kind, and what it asks for would be lost without a word. */
function firstMisspelt(fields: readonly WrittenField[]): string | null {
  for (const { name, key } of fields) {
    if (!key.startsWith(PREFIX.toLowerCase()) || key.length > MAX_MISSPELT) continue;
    const meant = nearest(key.slice(PREFIX.length), CONTROL_WORDS);
    const isKnown = meant?.toLowerCase() === key.slice(PREFIX.length);
    if (meant !== null && !isKnown) return `${name}: There is no such header; did you mean ${PREFIX}${meant}?`;
  }
  return null;
}

/** In an object, since a value may have a property of any name. */
interface Read<T> {
  value: T;
}

function isProblem(read: Read<unknown> | HeaderProblem): read is HeaderProblem {
  return 'problem' in read;
}

function valuesOf(name: string, fields: readonly WrittenField[]): string[] {
  const key = name.toLowerCase();
  return fields.filter((field) => field.key === key).map(decoded);
}

/** Libraries encode long values, and those with other characters than ASCII, by themselves. */
function decoded({ value }: WrittenField): string {
  return decodeWords(value);
}

function readOnce<T>(
  name: string,
  fields: readonly WrittenField[],
  read: (value: string) => Read<T> | HeaderProblem,
): Read<T | null> | HeaderProblem {
  const [value, ...more] = valuesOf(name, fields);
  if (more.length > 0) return { problem: `${name}: This header is given twice.` };
  return value === undefined ? { value: null } : read(value);
}

function readIdempotencyKey(fields: readonly WrittenField[]): Read<Control['idempotencyKey']> | HeaderProblem {
  const given = fields.filter(({ key }) => IDEMPOTENCY_KEYS.has(key));
  const [first, ...others] = given.map(decoded);
  const other = others.findIndex((value) => value !== first);
  if (other < 0) return { value: first === undefined ? null : { header: nameOfKey(given[0]!.key), value: first } };
  const [one, two] = [given[0]!, given[other + 1]!].map(({ key }) => nameOfKey(key));
  const both = one === two ? `${one}: This header` : `${one} and ${two}: The key`;
  return { problem: `${both} is given twice with different values.` };
}

function nameOfKey(key: string): string {
  return IDEMPOTENCY_NAMES.find((name) => name.toLowerCase() === key)!;
}

function readTags(values: readonly string[]): Read<Record<string, string> | null> | HeaderProblem {
  const tags = new Map<string, string>();
  for (const text of values) {
    const at = text.indexOf('=');
    const [name, value] = [trimBlanks(text.slice(0, at)), trimBlanks(text.slice(at + 1))];
    if (at < 0 || name === '') return { problem: `${TAG}: must be name=value.` };
    if ((tags.get(name) ?? value) !== value) return { problem: `${TAG}: One name is given with different values.` };
    tags.set(name, value);
    if (tags.size > MAX_TAGS) return { problem: `${TAG}: There must be at most ${MAX_TAGS} tags.` };
  }
  return { value: tags.size > 0 ? Object.fromEntries(tags) : null };
}

const NOT_METADATA = `${METADATA}: must be a JSON object whose values are strings, like {"order":"1234"}.`;

function readMetadata(text: string): Read<Record<string, string>> | HeaderProblem {
  const value = parseJson(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !Object.values(value).every((entry) => typeof entry === 'string')) return { problem: NOT_METADATA };
  return { value: value as Record<string, string> };
}

/** Null when it is not JSON, too. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function readTracking(text: string): Read<Control['tracking']> | HeaderProblem {
  const words = text.toLowerCase().split(',').map(trimBlanks);
  const isOff = words.length === 1 && words[0] === 'off';
  if (!isOff && !words.every((word) => word === 'opens' || word === 'clicks')) {
    return { problem: `${TRACKING}: must be off, opens, clicks, or "opens, clicks".` };
  }
  return { value: { opens: words.includes('opens'), clicks: words.includes('clicks') } };
}

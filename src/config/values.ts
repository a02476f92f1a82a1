// From the text in a TOML file or an environment variable to the value that the daemon uses:
// type, range and format of one key. rules.ts checks combinations of keys.
import { formatDuration, parseDuration } from './duration.ts';
import type { CountListKey, DurationKey, DurationListKey, IntListKey, Key, NumberKey, Shape } from './key-types.ts';
import { SHAPES } from './shapes.ts';

/** `problem` continues a sentence that begins with the key's name and a colon. */
export type Reading<T = unknown> = { value: T; problem?: undefined } | { problem: string };

export function readValue(spec: Key, raw: unknown): Reading {
  const reading = readByType(spec, raw);
  if (reading.problem === undefined) return reading;
  // A malformed secret is still a secret.
  const given = spec.type === 'text' && spec.secret ? '' : `, not ${describe(raw)}`;
  return { problem: `must be ${reading.problem}${given}` };
}

/** The value as in a TOML file. Lists are comma-separated; an invalid value stays a string and is rejected. */
export function fromVariable(spec: Key, text: string): unknown {
  switch (spec.type) {
    case 'bool':
      return toBool(text);
    case 'int':
    case 'number':
      return toNumber(text);
    case 'duration-list':
    case 'text-list':
      return splitList(text);
    case 'int-list':
    case 'count-list':
      return splitList(text).map(toNumber);
    case 'networks':
      return typeof toBool(text) === 'boolean' ? toBool(text) : splitList(text);
    default:
      return text;
  }
}

function readByType(spec: Key, raw: unknown): Reading {
  switch (spec.type) {
    case 'text':
      return readText(spec.shape, raw);
    case 'path':
      return typeof raw === 'string' && raw !== '' && !raw.includes('\0') ? { value: raw } : { problem: 'a file path' };
    case 'bool':
      return typeof raw === 'boolean' ? { value: raw } : { problem: 'true or false' };
    case 'int':
    case 'number':
      return readNumber(spec, raw);
    case 'choice':
      return spec.values.includes(raw as string)
        ? { value: raw }
        : { problem: `one of ${spec.values.map((value) => JSON.stringify(value)).join(', ')}` };
    case 'duration':
      return readDuration(spec, raw);
    case 'duration-list':
      return readDurations(spec, raw);
    case 'text-list':
      return readTexts(spec.shape, raw);
    case 'int-list':
      return readInts(spec, raw);
    case 'count-list':
      return readCounts(spec, raw);
    case 'networks': {
      if (typeof raw === 'boolean') return { value: raw };
      const list = readTexts('network', raw);
      return list.problem === undefined ? list : { problem: `false, true or ${list.problem}` };
    }
  }
}

function readText(shape: Shape, raw: unknown): Reading<string> {
  const value = typeof raw === 'string' && raw !== '' ? SHAPES[shape].read(raw) : null;
  return value === null ? { problem: SHAPES[shape].expected } : { value };
}

function readNumber({ type, min, max }: Pick<NumberKey, 'type' | 'min' | 'max'>, raw: unknown): Reading<number> {
  const fits = typeof raw === 'number' && raw >= min && raw <= max && (type === 'number' || Number.isInteger(raw));
  if (fits) return { value: raw };
  return { problem: `${type === 'int' ? 'an integer' : 'a number'} from ${min} to ${max}` };
}

function readDuration({ min, max }: Pick<DurationKey, 'min' | 'max'>, raw: unknown): Reading<number> {
  const ms = typeof raw === 'string' ? parseDuration(raw) : null;
  if (ms !== null && ms >= parseDuration(min)! && ms <= parseDuration(max)!) return { value: ms };
  return {
    problem: `a duration from ${min} to ${max}, such as ${JSON.stringify(formatDuration(parseDuration(max)!))}`,
  };
}

function readDurations(spec: DurationListKey, raw: unknown): Reading<number[]> {
  const steps = readEach(raw, (item) => readDuration(spec, item));
  if (!steps || steps.length === 0) {
    return { problem: `a list of durations from ${spec.min} to ${spec.max}, such as ["1m", "5m", "1h"]` };
  }
  const ascending = steps.every((step, index) => index === 0 || step >= steps[index - 1]!);
  return ascending ? { value: steps } : { problem: 'a list of durations in ascending order' };
}

function readTexts(shape: Shape, raw: unknown): Reading<string[]> {
  const texts = readEach(raw, (item) => readText(shape, item));
  return texts ? { value: texts } : { problem: `a list in which each item is ${SHAPES[shape].expected}` };
}

function readInts(spec: IntListKey, raw: unknown): Reading<number[]> {
  const count = spec.default.length;
  const numbers = readEach(raw, (item) => readNumber({ type: 'int', min: spec.min, max: spec.max }, item));
  if (numbers?.length === count) return { value: numbers };
  return { problem: `a list of ${count} integers from ${spec.min} to ${spec.max}` };
}

function readCounts({ min, max }: CountListKey, raw: unknown): Reading<number[]> {
  const numbers = readEach(raw, (item) => readNumber({ type: 'int', min, max }, item));
  return numbers ? { value: numbers } : { problem: `a list of integers from ${min} to ${max}` };
}

/** Null when it is not a list or one of its items is invalid. */
function readEach<T>(raw: unknown, read: (item: unknown) => Reading<T>): T[] | null {
  if (!Array.isArray(raw)) return null;
  const values: T[] = [];
  for (const item of raw) {
    const reading = read(item);
    if (reading.problem !== undefined) return null;
    values.push(reading.value);
  }
  return values;
}

function toBool(text: string): boolean | string {
  return text === 'true' || text === 'false' ? text === 'true' : text;
}

function toNumber(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function splitList(text: string): string[] {
  return text.trim() === '' ? [] : text.split(',').map((item) => item.trim());
}

/** A URL with credentials is rejected, and the message must not repeat them. */
function withoutPassword(text: string): string {
  return text.replace(/\/\/[^/@\s]*@/g, '//…@');
}

function describe(raw: unknown): string {
  if (raw instanceof Date) return 'a date';
  if (typeof raw === 'object' && raw !== null && !Array.isArray(raw)) return 'a table';
  // TOML has nan and inf, JSON does not.
  const text = typeof raw === 'number' ? String(raw) : withoutPassword(JSON.stringify(raw));
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

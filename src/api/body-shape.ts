// The shape of a request body, as a JSON schema (2020-12) tells it, with sentences that a
// person can act on in place of the validator's own.
import fs from 'node:fs';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { type Refusal, refuse } from '../base/refusals.ts';
import { nearest } from '../base/text/suggest.ts';
import type { ShapeName } from './body/body-job.ts';
import type { BodyForm, JsonObject } from './json-body.ts';

/** The object, free of nulls, or why it is refused. */
export type ShapeCheck<Body> = (given: JsonObject) => Body | Refusal;

/** Known by its name, too, so that another thread can find it. */
export type BodyShape<Body> = ShapeCheck<Body> & { readonly schemaName: ShapeName; readonly form: BodyForm };

/** 100 emails, each with as many recipients, headers, labels and attachments as one may have. */
export const MAX_VALUES_OF_BATCH = 25_000;

/** Where it is not the usual one. */
const FORMS: Partial<Record<ShapeName, BodyForm>> = {
  'send-batch': { ofAnySize: ['emails', null, 'data'], maxValues: MAX_VALUES_OF_BATCH },
  'import-suppressions': {
    maxValues: 20_000,
    tooManyValues: 'addresses: must have at most 10000 entries. Send the rest in further calls.',
  },
};

interface ObjectSchema {
  properties: Record<string, unknown>;
}

/**
 * The schema is read and compiled with the first body: most starts need few of them, and none of them at once. `folder`:
 * those of our own API are in another than the Resend door's.
 */
export function loadBodyShape<Body extends object>(name: ShapeName, folder = 'api'): BodyShape<Body> {
  const file = new URL(`../../schema/${folder}/${name}.json`, import.meta.url);
  let check: ShapeCheck<Body> | undefined;
  const checkOnceCompiled: ShapeCheck<Body> = (given) => {
    check ??= createShapeCheck<Body>(JSON.parse(fs.readFileSync(file, 'utf8')) as ObjectSchema);
    return check(given);
  };
  return Object.assign(checkOnceCompiled, { schemaName: name, form: FORMS[name] ?? {} });
}

const ajv = new Ajv2020({
  strict: true,
  // What is required may depend on other fields: in `then` and `else`, which don't name the properties again.
  strictRequired: false,
  allowUnionTypes: true,
  ownProperties: true,
  verbose: true,
  // A test holds our schemas to the schema of schemas; compiling that would cost every start more than all of ours.
  validateSchema: false,
  meta: false,
});

function createShapeCheck<Body extends object>(schema: ObjectSchema): ShapeCheck<Body> {
  const validate = ajv.compile<Body>(schema);
  const known = Object.keys(schema.properties);

  return (given) => {
    let hasNulls = false;
    for (const name in given) {
      if (given[name] === null) hasNulls = true;
      // Asked name by name, so that a million unknown fields cost no more than one.
      else if (!Object.hasOwn(schema.properties, name)) return invalid(unknownField(name, known));
    }
    const body = hasNulls ? withoutNulls(given, known) : given;
    if (validate(body)) return body;
    const [error] = validate.errors ?? [];
    // The validator would otherwise hold on to the body until its next use.
    validate.errors = null;
    return invalid(error ? sentence(error) : 'The request body does not match the schema.');
  };
}

function withoutNulls(given: JsonObject, known: string[]): Record<string, unknown> {
  const present = known.filter((name) => Object.hasOwn(given, name) && given[name] !== null);
  return Object.fromEntries(present.map((name) => [name, given[name]]));
}

const MAX_SHOWN_CHARS = 60;

function unknownField(name: string, known: string[]): string {
  const suggestion = name.length > MAX_SHOWN_CHARS ? null : nearest(name, known);
  const advice = suggestion === null ? `known fields are ${known.join(', ')}.` : `did you mean ${suggestion}?`;
  return `${shown(name)}: unknown field; ${advice}`;
}

function sentence(error: ErrorObject): string {
  const field = fieldName(error.instancePath);
  if (error.keyword === 'required') {
    const missing = String(error.params.missingProperty);
    return `${field === '' ? missing : `${field}.${missing}`}: this field is required.`;
  }
  return `${field}: ${problem(error)}.`;
}

function problem({ keyword, params, data, message }: ErrorObject): string {
  const limit = Number(params.limit);
  switch (keyword) {
    case 'type':
      return `must be ${typesInWords(params.type)}, not ${kindInWords(data)}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters, not ${countChars(String(data))}`;
    case 'minItems':
      return limit === 1 ? 'must have at least one entry' : `must have at least ${limit} entries`;
    case 'maxItems':
      return `must have at most ${limit} entries, not ${(data as unknown[]).length}`;
    case 'additionalProperties':
      return `has the unknown field ${shown(String(params.additionalProperty))}`;
    case 'enum':
      return `must be one of ${(params.allowedValues as string[]).join(', ')}`;
    default:
      return message ?? 'does not match the schema';
  }
}

/** Without a list of them, which for 5 MiB would take a hundred. */
function countChars(text: string): number {
  let count = 0;
  for (const _char of text) count++;
  return count;
}

function typesInWords(types: string | string[]): string {
  return [types]
    .flat()
    .filter((type) => type !== 'null')
    .map(withArticle)
    .join(' or ');
}

export function kindInWords(value: unknown): string {
  if (value === null) return 'null';
  return withArticle(Array.isArray(value) ? 'array' : typeof value);
}

function withArticle(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

/** `/to/3` is `to[3]`, `/headers/X-Tag` is `headers.X-Tag` (RFC 6901 read backwards). */
function fieldName(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, at) => (at > 0 && /^\d+$/.test(part) ? `[${part}]` : `${at > 0 ? '.' : ''}${shown(part)}`))
    .join('');
}

function shown(name: string): string {
  return name.length > MAX_SHOWN_CHARS ? `${name.slice(0, MAX_SHOWN_CHARS)}…` : name;
}

function invalid(message: string): Refusal {
  return refuse('validation_failed', message);
}

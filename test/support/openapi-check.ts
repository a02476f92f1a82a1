// Holds an answer of the API to schema/openapi.yaml: the operation has the status, the headers
// are those that are described, the body fits its schema and has nothing besides.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describeApi, type JsonValue } from '../../scripts/describe-api.ts';
import { isAtResendDoor } from '../../src/api/resend/door.ts';

export interface AnswerToCheck {
  method: string;
  /** With or without a query. */
  path: string;
  status: number;
  headers: Headers;
  /** Parsed; null when there is none. */
  body: unknown;
}

export interface Operation {
  method: string;
  /** As in the document: `/domains/{id}`. */
  path: string;
  /** Leads to the operation in the document. */
  pointer: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a document of a known shape, held to it by a validator
export type Described = any;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** What the transport adds; everything else is to be described. */
const TRANSPORT_HEADERS = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  // Of every answer over TLS.
  'strict-transport-security',
  'uwebsockets',
]);

export const apiDescription: Described = describeApi();
const ajv = schemasOf(apiDescription);

export const operations: readonly Operation[] = Object.entries(apiDescription.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => Object.hasOwn(item as object, method)).map((method) => ({
    method: method.toUpperCase(),
    path,
    pointer: pointerTo('paths', path, method),
  })),
);

/**
 * The Resend door is not in the document: its calls and answers are Resend's to describe, docs/resend.md says what
 * differs, and Resend's own SDK is held against it.
 */
export function isDescribed(path: string): boolean {
  return !isAtResendDoor(path);
}

/** Throws an error that says what does not fit. */
export function checkAnswer(answer: AnswerToCheck): void {
  if (isDescribed(answer.path.split('?')[0]!)) checkDescribed(answer);
}

function checkDescribed({ method, path, status, headers, body }: AnswerToCheck): void {
  const fail = (problem: string): never => {
    const shown = JSON.stringify(body).slice(0, 1000);
    throw new Error(`by schema/openapi.yaml ${problem}\n${method} ${path} answered ${status} ${shown}`);
  };
  const response = locate(`${responsesPointer(method, path)}/${status}`) ?? fail('there is no such status');
  checkHeaders(response, headers, fail);
  const mediaTypes = Object.keys(response.value.content ?? {});
  if (headers.get('content-type') !== (mediaTypes[0] ?? null)) fail(`the content type is ${mediaTypes[0]}`);
  if (method === 'HEAD' || (mediaTypes.length === 0 && body === null)) return;
  const schema = locate(`${response.pointer}/content/application~1json/schema`) ?? fail('there is no body');
  const problem = misfit(schema.pointer, body);
  if (problem !== null) fail(problem);
}

/** Why a value does not fit the schema, or null. */
export function misfit(schemaPointer: string, value: unknown): string | null {
  const validate = ajv.getSchema(`api${schemaPointer}`) as ValidateFunction | undefined;
  if (!validate) throw new Error(`no schema at ${schemaPointer}`);
  if (validate(value)) return null;
  // Most of what is said about a choice between schemas is that a constant is not that of the others.
  const telling = validate.errors!.filter(({ keyword }) => keyword !== 'const');
  return ajv.errorsText([...telling, ...validate.errors!].slice(0, 3), { dataVar: 'it' });
}

/** What the pointer leads to, references followed, and where that stands; null when there is nothing. */
export function locate(pointer: string): { pointer: string; value: Described } | null {
  let here: { pointer: string; value: Described } = { pointer: '#', value: apiDescription };
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof here.value !== 'object' || !Object.hasOwn(here.value, name)) return null;
    here = { pointer: `${here.pointer}/${part}`, value: here.value[name] };
    const reference = here.value?.$ref;
    if (typeof reference === 'string' && Object.keys(here.value).length === 1) here = locate(reference)!;
  }
  return here;
}

/** The error codes that the body of an answer may have, by its schema. */
export function errorCodesOf(schema: Described): string[] {
  const { enum: several, const: one } = schema.properties?.error ?? {};
  return several ?? (one === undefined ? [] : [one]);
}

export function pointerTo(...names: string[]): string {
  return ['#', ...names.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
}

/** Where the statuses stand that a call can be answered with. */
function responsesPointer(method: string, target: string): string {
  const path = target.split('?')[0]!;
  const atPath = operations.filter((operation) => patternOf(operation.path).test(path));
  const described = method === 'HEAD' ? 'GET' : method;
  const operation = atPath.find((candidate) => candidate.method === described);
  return operation ? `${operation.pointer}/responses` : '#/x-outside-operations';
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function checkHeaders(response: { pointer: string }, headers: Headers, fail: (problem: string) => never): void {
  const described = locate(`${response.pointer}/headers`)?.value ?? {};
  for (const name of Object.keys(described)) {
    const header = locate(`${response.pointer}/headers/${name}`)!;
    const text = headers.get(name);
    if (text === null && header.value.required === true) fail(`the header ${name} is missing`);
    if (text === null) continue;
    const value: JsonValue = header.value.schema.type === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
    const problem = misfit(`${header.pointer}/schema`, value);
    if (problem !== null) fail(`the header ${name} is wrong: ${problem}`);
  }
  const known = new Set(Object.keys(described).map((name) => name.toLowerCase()));
  for (const name of headers.keys()) {
    if (!known.has(name) && !TRANSPORT_HEADERS.has(name)) fail(`there is no header ${name}`);
  }
}

/** Strict, so that a misspelt keyword in a schema is an error. */
function schemasOf(document: Described): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false, strictRequired: false });
  addFormats.default(ajv);
  // The document is no schema itself, and the `oneOf` beside a discriminator decides alone.
  ajv.addVocabulary([...Object.keys(document), 'discriminator']);
  ajv.addSchema(document, 'api', undefined, false);
  return ajv;
}

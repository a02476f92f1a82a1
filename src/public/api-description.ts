// The description of the HTTP API (OpenAPI 3.1) as one self-contained document. References to
// files are replaced by what the files hold, so that the schemas that bodies are checked with
// and those that are described are the same.
import fs from 'node:fs';
import { parse } from 'yaml';

export type JsonValue = null | boolean | number | string | JsonValue[] | { [name: string]: JsonValue };

const SOURCE = new URL('../../schema/openapi.yaml', import.meta.url);

/** Reads files at once and takes its time: see description-thread.ts. */
export function loadApiDescription(): { [name: string]: JsonValue } {
  const document: JsonValue = parse(fs.readFileSync(SOURCE, 'utf8'));
  return withFilesInPlace(document) as { [name: string]: JsonValue };
}

function withFilesInPlace(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withFilesInPlace);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value;
  if (typeof $ref === 'string' && !$ref.startsWith('#')) return readSchema($ref);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withFilesInPlace(inner)]));
}

/** Without `$schema`: inside of OpenAPI 3.1 it is 2020-12 anyway. */
function readSchema(file: string): JsonValue {
  const { $schema, ...schema } = JSON.parse(fs.readFileSync(new URL(file, SOURCE), 'utf8'));
  return schema;
}

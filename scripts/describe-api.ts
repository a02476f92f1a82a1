// The description of the HTTP API (OpenAPI 3.1) as one self-contained document. References to files are replaced by
// what the files hold, so that the schemas that bodies are checked with and those that are described are the same.
// `npm run openapi` writes it to schema/openapi.json, which the daemon serves; a test holds the two together.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export type JsonValue = null | boolean | number | string | JsonValue[] | { [name: string]: JsonValue };

const SOURCE = new URL('../schema/openapi.yaml', import.meta.url);
export const API_DESCRIPTION = fileURLToPath(new URL('../schema/openapi.json', import.meta.url));

export function describeApi(): { [name: string]: JsonValue } {
  const document: JsonValue = parse(fs.readFileSync(SOURCE, 'utf8'));
  return withFilesInPlace(document) as { [name: string]: JsonValue };
}

export function writtenDescription(): string {
  return `${JSON.stringify(describeApi(), null, 1)}\n`;
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

if (process.argv[1] === import.meta.filename) fs.writeFileSync(API_DESCRIPTION, writtenDescription());

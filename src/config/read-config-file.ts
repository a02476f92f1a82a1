// The TOML file: read, parsed, and checked against the known sections and keys. Values are not interpreted
// here.
import { parse, TomlError } from 'smol-toml';
import { describeError } from '../base/errors.ts';
import { readTextFile } from '../base/text/read-text.ts';
import { nearest } from '../base/text/suggest.ts';
import { systemWords } from '../base/text/system-words.ts';
import { ALL_KEYS } from './keys.ts';
import { newNameOf } from './renamed-keys.ts';

const SECTIONS: ReadonlySet<string> = new Set(ALL_KEYS.map(({ section }) => section));
const NAMES: ReadonlySet<string> = new Set(ALL_KEYS.map(({ name }) => name));

export interface ConfigFile {
  /** By key name; null when the file cannot be read or parsed. */
  values: Map<string, unknown> | null;
  problems: string[];
}

export function readConfigFile(file: string): ConfigFile {
  const content = parseFile(file);
  return typeof content === 'string' ? { values: null, problems: [content] } : flatten(content);
}

function flatten(document: Record<string, unknown>): ConfigFile {
  const values = new Map<string, unknown>();
  const problems: string[] = [];
  for (const [section, content] of Object.entries(document)) {
    if (!isTable(content)) problems.push(`${section}: ${misplaced(section)}`);
    else if (!SECTIONS.has(section)) problems.push(`${section}: unknown section${hint(nearest(section, SECTIONS))}`);
    else for (const [key, value] of Object.entries(content)) values.set(`${section}.${key}`, value);
  }
  const unknown = [...values.keys()].filter((name) => !NAMES.has(name));
  for (const name of unknown) {
    const newName = newNameOf(name);
    if (newName !== null) problems.push(`${name}: this key is now called ${newName}`);
    else problems.push(`${name}: unknown key${hint(inOtherSection(name) ?? nearest(name, NAMES))}`);
  }
  return { values, problems };
}

/** A value at the top level of the file, where only sections are allowed. */
function misplaced(name: string): string {
  return SECTIONS.has(name)
    ? `is a section, not a key; write [${name}] above its keys`
    : 'unknown key outside of all sections';
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** A key under the wrong heading, when only one section has a key of that name. */
function inOtherSection(name: string): string | null {
  const matches = ALL_KEYS.filter(({ key }) => name.endsWith(`.${key}`));
  return matches.length === 1 ? matches[0]!.name : null;
}

/** The parsed document, or its problem. */
function parseFile(file: string): Record<string, unknown> | string {
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    return `configuration file ${file}: cannot be read: ${systemWords(error)}`;
  }
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = describeError(error).split('\n')[0]!.replace('Invalid TOML document: ', '');
    return `${file}:${error.line}:${error.column}: not valid TOML: ${reason}`;
  }
}

function hint(suggestion: string | null): string {
  return suggestion === null ? '' : `; did you mean ${suggestion}?`;
}

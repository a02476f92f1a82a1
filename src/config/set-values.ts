// Sets keys in the text of a configuration file. Everything else in it stays, comments included: a key that stands there
// as a commented-out example, or with its default in the documented file, takes that line's place; another one is put below
// its section's heading.
import { isDeepStrictEqual } from 'node:util';
import { parse, TomlError } from 'smol-toml';
import { isDocumentedFile } from './is-set.ts';
import type { KeyName } from './keys.ts';
import { renderDocumentedFile } from './print.ts';

export type NewValue = string | number | boolean | readonly string[];
export type NewValues = ReadonlyMap<KeyName, NewValue>;

type Document = Record<string, Record<string, unknown>>;

/** For a machine that has no file yet: every key with its default and its reason. */
export function newConfigFile(values: NewValues): string {
  return withValues(renderDocumentedFile(), values)!;
}

/** The keys must not be set in it, or only to the documented file's defaults. Null: the text has a form in which they can't be added without a risk. */
export function withValues(text: string, values: NewValues): string | null {
  const end = text.includes('\r\n') ? '\r' : '';
  const lines = text.split('\n');
  // Each goes directly below the heading, so that the first ends on top.
  for (const [name, value] of [...values].reverse()) setLine(lines, name, { value, end });
  const changed = lines.join('\n');
  return hasOnlyAdded(text, changed, values) ? changed : null;
}

function setLine(lines: string[], name: KeyName, { value, end }: { value: NewValue; end: string }): void {
  const [section, key] = name.split('.') as [string, string];
  const line = `${key} = ${JSON.stringify(value)}${end}`;
  const heading = lines.findIndex((each) => new RegExp(`^\\s*\\[\\s*${section}\\s*\\]\\s*(#.*)?$`).test(each));
  if (heading < 0) {
    if (lines.at(-1)?.trim() === '') lines.pop();
    lines.push(...(lines.length > 0 ? [end] : []), `[${section}]${end}`, line, '');
    return;
  }
  const length = lines.slice(heading + 1).findIndex((each) => /^\s*\[/.test(each));
  const next = length < 0 ? lines.length : heading + 1 + length;
  const find = (pattern: RegExp) => lines.findIndex((each, at) => at > heading && at < next && pattern.test(each));
  const places = [find(new RegExp(`^${key}\\s*=`)), find(new RegExp(`^#\\s?${key}\\s*=`))];
  const place = places.find((at) => at >= 0);
  if (place === undefined) lines.splice(heading + 1, 0, line);
  else lines[place] = line;
}

/** What looks like a heading or an example may stand in a string of several lines: only the parser knows. */
function hasOnlyAdded(before: string, after: string, values: NewValues): boolean {
  const expected = parsed(before);
  if (expected === null) return false;
  const inFile = (name: KeyName) => {
    const [section, key] = name.split('.') as [string, string];
    return expected[section]?.[key];
  };
  const isDocumented = isDocumentedFile((name) => inFile(name) !== undefined);
  for (const [name, value] of values) {
    const [section, key] = name.split('.') as [string, string];
    const had = inFile(name);
    if (had !== undefined && !(isDocumented && isDefault(had, name))) return false;
    expected[section] = { ...expected[section], [key]: value };
  }
  return isDeepStrictEqual(parsed(after), expected);
}

function isDefault(value: unknown, name: KeyName): boolean {
  const [section, key] = name.split('.') as [string, string];
  return isDeepStrictEqual(value, parsed(renderDocumentedFile())?.[section]?.[key]);
}

/** Plain objects, which can be compared; null: not valid TOML. */
function parsed(text: string): Document | null {
  try {
    return structuredClone(parse(text)) as Document;
  } catch (error) {
    if (error instanceof TomlError) return null;
    throw error;
  }
}

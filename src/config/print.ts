// Writes the configuration as TOML: the documented default file, and the one in use with the
// source of each value. Secrets are never written.
import { formatDuration, parseDuration } from './duration.ts';
import type { Key, Section } from './key-types.ts';
import { ALL_KEYS, type Config, type NamedKey, TABLE } from './keys.ts';
import type { LoadedConfig } from './load.ts';

const HIDDEN = '(hidden)';

const HEADER = `# Configuration of Postrider: every key with its default and its reason.
# A key whose line is commented out is not set by default; its comment says what applies then.
#
# Each key can be overridden by an environment variable, POSTRIDER_<SECTION>_<KEY>; lists are
# comma-separated: POSTRIDER_HTTP_PORT=8443, POSTRIDER_DNS_SERVERS=127.0.0.1,127.0.0.2:5353.
# Durations are a number and a unit (ms, s, m, h, d). Relative paths are relative to this file.
# With an unknown key, a wrong type or an invalid value the daemon does not start, and names the key.`;

/** config/postrider.toml, to the byte. */
export function renderDocumentedFile(): string {
  const sections = Object.entries<Section>(TABLE).map(([name, section]) => {
    const keys = Object.entries(section.keys).map(([key, spec]) => documentKey(key, spec));
    return [...section.doc.map(comment), `[${name}]`, '', keys.join('\n\n')].join('\n');
  });
  return `${[HEADER, ...sections].join('\n\n')}\n`;
}

/** For `config print`: the configuration in use, with the source of each value. */
export function renderEffective({ config, source }: LoadedConfig): string {
  const lines = [source.file ? `# file: ${source.file}` : '# file: none', ''];
  let current = '';
  for (const named of ALL_KEYS) {
    if (named.section !== current) lines.push(...(current ? [''] : []), `[${named.section}]`);
    current = named.section;
    const value = shownValue(named, config);
    const line = `${named.key} = ${value === null ? '' : toToml(value)}`;
    lines.push(value === null ? `# ${named.key} is not set` : `${line}  # ${source.origins.get(named.name)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** The same for programs: section, key, value as in the file; null when not set. */
export function effectiveValues(config: Config): Record<string, Record<string, unknown>> {
  const values: Record<string, Record<string, unknown>> = {};
  for (const named of ALL_KEYS) {
    values[named.section] = { ...values[named.section], [named.key]: shownValue(named, config) };
  }
  return values;
}

/** The value in the form of the file: durations as strings, secrets hidden. */
function shownValue({ section, key, spec }: NamedKey, config: Config): unknown {
  const value = (config as Record<string, Record<string, unknown>>)[section]![key];
  if (value === null) return null;
  if (spec.type === 'text' && spec.secret) return HIDDEN;
  if (spec.type === 'duration') return formatDuration(value as number);
  if (spec.type === 'duration-list') return (value as number[]).map(formatDuration);
  return value;
}

function documentKey(key: string, spec: Key): string {
  const lines = [...spec.doc, ...rangeNotes(spec)].map(comment);
  if (spec.default !== null) return [...lines, `${key} = ${toToml(spec.default)}`].join('\n');
  const derived = spec.type === 'text' && spec.derived ? [comment(`Not set: ${spec.derived}.`)] : [];
  const example = 'example' in spec && spec.example ? spec.example : '';
  return [...lines, ...derived, `#${key} = ${toToml(example)}`].join('\n');
}

function rangeNotes(spec: Key): string[] {
  switch (spec.type) {
    case 'choice':
      return [`One of ${spec.values.map(toToml).join(', ')}.`];
    case 'int':
    case 'number':
      return [`From ${spec.min} to ${spec.max}.`];
    case 'int-list':
      return [`${spec.default.length} integers from ${spec.min} to ${spec.max}.`];
    case 'count-list':
      return [`Integers from ${spec.min} to ${spec.max}.`];
    case 'duration':
    case 'duration-list':
      return [`From ${spec.min} to ${formatDuration(parseDuration(spec.max)!)}.`];
    default:
      return [];
  }
}

function comment(line: string): string {
  return `# ${line}`;
}

/** JSON's strings, numbers and lists are valid TOML; only the space after a comma is added. */
function toToml(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(toToml).join(', ')}]` : JSON.stringify(value);
}

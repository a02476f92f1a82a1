// The tags and metadata of a call: what a tenant gives its messages for its own use.
import type { Labels, Tag } from '../store/submissions.ts';

/** As the schema lets them through. */
export interface LabelsBody {
  tags?: Record<string, string> | { name: string; value: string }[];
  metadata?: Record<string, string>;
}

const MAX_TAGS = 10;
const TAG_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const TAG_VALUE = /^[A-Za-z0-9_-]{1,256}$/;
const MAX_METADATA_KEYS = 20;
const MAX_METADATA_KEY_CHARS = 64;
/** Keys and values together, in UTF-8. */
const MAX_METADATA_BYTES = 4096;

export interface LabelProblem {
  field: string;
  problem: string;
}

/** Null when neither is given; an empty one counts as not given. */
export function readLabels({ tags: givenTags, metadata: givenMetadata }: LabelsBody): Labels | LabelProblem | null {
  const tags = readTags(givenTags);
  if (tags && 'problem' in tags) return tags;
  const problem = metadataProblem(givenMetadata ?? {});
  if (problem) return problem;
  const metadata = givenMetadata && Object.keys(givenMetadata).length > 0 ? givenMetadata : null;
  return tags || metadata ? { tags: tags && Object.fromEntries(tags.entries), metadata } : null;
}

interface Tags {
  entries: [name: string, value: string][];
}

function readTags(given: LabelsBody['tags']): Tags | LabelProblem | null {
  const isList = Array.isArray(given);
  const entries = isList
    ? given.map(({ name, value }): [string, string] => [name, value])
    : Object.entries(given ?? {});
  if (entries.length > MAX_TAGS) {
    return { field: 'tags', problem: `must have at most ${MAX_TAGS} entries, not ${entries.length}.` };
  }
  const seen = new Set<string>();
  for (const [index, [name, value]] of entries.entries()) {
    const at = isList ? `tags[${index}]` : 'tags';
    const field = isList ? `${at}.name` : at;
    if (!TAG_NAME.test(name)) return { field, problem: `${shown(name)} must be ${TAG_CHARS} (1 to 64 characters).` };
    if (seen.has(name)) return { field, problem: `${shown(name)} is given twice.` };
    seen.add(name);
    if (!TAG_VALUE.test(value)) {
      const of = isList ? `${at}.value` : `tags.${name}`;
      return { field: of, problem: `must be ${TAG_CHARS} (1 to 256 characters).` };
    }
  }
  return entries.length > 0 ? { entries } : null;
}

const TAG_CHARS = 'ASCII letters, digits, "_" and "-"';

/** `name:value`, as searches and figures ask for a tag; null: it can't be one. */
export function parseTag(text: string): Tag | null {
  const [name = '', value = '', ...more] = text.split(':');
  return more.length === 0 && TAG_NAME.test(name) && TAG_VALUE.test(value) ? { name, value } : null;
}

const MAX_COUNTED_UNITS = 1000;

function metadataProblem(given: Record<string, string>): LabelProblem | null {
  const entries = Object.entries(given);
  if (entries.length > MAX_METADATA_KEYS) {
    return { field: 'metadata', problem: `must have at most ${MAX_METADATA_KEYS} keys, not ${entries.length}.` };
  }
  let bytes = 0;
  for (const [key, value] of entries) {
    // A key of 5 MiB is not taken apart; its length in units says enough.
    const length = key.length > MAX_COUNTED_UNITS ? key.length : [...key].length;
    if (length < 1 || length > MAX_METADATA_KEY_CHARS) {
      return { field: 'metadata', problem: `keys must have 1 to ${MAX_METADATA_KEY_CHARS} characters, not ${length}.` };
    }
    if (!key.isWellFormed() || !value.isWellFormed()) {
      return { field: `metadata.${shown(key)}`, problem: 'must be valid Unicode; it contains a lone surrogate.' };
    }
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes <= MAX_METADATA_BYTES) return null;
  return { field: 'metadata', problem: `must have at most ${MAX_METADATA_BYTES} bytes in all, not ${bytes}.` };
}

/** A name for an error message: one short line, whatever was sent. */
function shown(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}

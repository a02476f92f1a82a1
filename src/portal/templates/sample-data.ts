// Sample data for a template that nobody has written any for: a JSON object with a text for every name that
// its output uses. A guess: Liquid is read by the renderer alone, and people change the sample as they like.

type Sample = { [name: string]: Sample | Sample[] | string };

const OUTPUT = /\{\{-?\s*([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)/g;
const LOOP = /\{%-?\s*for\s+([A-Za-z_]\w*)\s+in\s+([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)/g;
const ASSIGNED = /\{%-?\s*(?:assign|capture|increment|decrement)\s+([A-Za-z_]\w*)/g;
/** What liquidjs itself brings along, and words that are no names. */
const NOT_DATA = new Set(['forloop', 'tablerowloop', 'true', 'false', 'nil', 'null', 'blank', 'empty']);
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);
/** Of each kind; a source may be a mebibyte of names. */
const MOST_NAMES = 200;
const MOST_LEVELS = 6;
/** Loops in loops multiply the levels: nobody reads such a sample. */
const MOST_CHARS = 20_000;

export function sampleData(...sources: readonly (string | null)[]): string {
  const source = sources.filter((text) => text !== null).join('\n');
  const sample: Sample = {};
  const items = new Map<string, Sample>();
  for (const [, item, list] of first(source.matchAll(LOOP))) {
    const element: Sample = {};
    const place = placeOf(sample, items, list!.split('.'));
    if (place) place.of[place.name] = [element];
    items.set(item!, element);
  }
  const assigned = new Set(first(source.matchAll(ASSIGNED)).map(([, name]) => name!));
  for (const [, path] of first(source.matchAll(OUTPUT))) {
    const names = path!.split('.');
    if (assigned.has(names[0]!)) continue;
    const place = placeOf(sample, items, names);
    if (place && place.of[place.name] === undefined) place.of[place.name] = names.at(-1)!.replaceAll('_', ' ');
  }
  const json = JSON.stringify(sample, null, 2);
  return json.length > MOST_CHARS ? '{}' : json;
}

function first(matches: Iterable<RegExpExecArray>): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  for (const match of matches) {
    if (found.length === MOST_NAMES) break;
    found.push(match);
  }
  return found;
}

/** The object that holds the last name, made on the way; null where something else stands already. */
function placeOf(
  sample: Sample,
  items: ReadonlyMap<string, Sample>,
  names: readonly string[],
): { of: Sample; name: string } | null {
  if (names.length > MOST_LEVELS || NOT_DATA.has(names[0]!)) return null;
  if (names.some((name) => FORBIDDEN.has(name))) return null;
  const item = items.get(names[0]!);
  if (item && names.length === 1) return null;
  let of = item ?? sample;
  for (const name of names.slice(item ? 1 : 0, -1)) {
    const inner = of[name];
    if (typeof inner === 'string' || Array.isArray(inner)) return null;
    of[name] = inner ?? {};
    of = of[name] as Sample;
  }
  return { of, name: names.at(-1)! };
}

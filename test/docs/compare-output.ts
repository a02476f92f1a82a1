// Compares what a snippet has printed with what the page shows: text as text, JSON by its
// values, so that a page may lay it out for people. `…` in JSON is a value, the other members
// of an object, or any number of elements of an array.
import type { Examples } from './examples.ts';
import type { Expected } from './read-page.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

// Unquoted ellipses become this string: no page means these characters.
const REST = '\u0000rest';

/** What differs, or null. */
export function compareOutput({ format, text }: Expected, printed: string, examples: Examples): string | null {
  const real = printed.replaceAll('\r\n', '\n').trim();
  if (format === 'text') return examples.match(text.trim(), real) ? null : 'is not what the page shows';
  const parsed = parse(real);
  if (parsed === undefined) return 'is no JSON';
  return differenceOf(JSON.parse(quoteEllipses(text)) as Json, parsed, { examples, place: 'the answer' });
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Valid JSON: outside strings, `…` after a colon is a value, in an object a member, else an element. */
function quoteEllipses(text: string): string {
  const open: string[] = [];
  let before = '';
  return text.replace(/"(?:\\.|[^"\\])*"|\S/g, (token) => {
    if (token === '{' || token === '[') open.push(token);
    if (token === '}' || token === ']') open.pop();
    const isMember = open.at(-1) === '{' && before !== ':';
    before = token;
    if (token !== '…') return token;
    return isMember ? `${JSON.stringify(REST)}: null` : JSON.stringify(REST);
  });
}

interface Comparison {
  examples: Examples;
  /** Where in the answer: `the answer.events[0]`. */
  place: string;
}

function differenceOf(shown: Json, real: Json, { examples, place }: Comparison): string | null {
  if (shown === REST) return null;
  if (typeof shown === 'string' && typeof real === 'string') {
    return examples.match(shown, real) ? null : `${place} is ${JSON.stringify(real)}, not ${JSON.stringify(shown)}`;
  }
  if (Array.isArray(shown) && Array.isArray(real)) return arrayDifference(shown, real, { examples, place });
  if (isObject(shown) && isObject(real)) return objectDifference(shown, real, { examples, place });
  return shown === real ? null : `${place} is ${JSON.stringify(real)}, not ${JSON.stringify(shown)}`;
}

function arrayDifference(shown: Json[], real: Json[], { examples, place }: Comparison): string | null {
  const gap = shown.indexOf(REST);
  const head = gap < 0 ? shown : shown.slice(0, gap);
  const tail = gap < 0 ? [] : shown.slice(gap + 1);
  const wanted = head.length + tail.length;
  if (gap < 0 ? real.length !== wanted : real.length < wanted) {
    return `${place} has ${real.length} elements, not ${wanted}`;
  }
  const pairs = [...head, ...tail].map((value, index) => ({
    value,
    index: index < head.length ? index : real.length - wanted + index,
  }));
  return firstProblem(pairs, ({ value, index }) =>
    differenceOf(value, real[index]!, { examples, place: `${place}[${index}]` }),
  );
}

type JsonObject = { [name: string]: Json };

function objectDifference(shown: JsonObject, real: JsonObject, { examples, place }: Comparison): string | null {
  const extra = Object.keys(real).filter((name) => !Object.hasOwn(shown, name));
  if (extra.length > 0 && !Object.hasOwn(shown, REST)) return `${place} also has ${extra.join(', ')}`;
  return firstProblem(Object.entries(shown), ([name, value]) => {
    if (name === REST) return null;
    if (!Object.hasOwn(real, name)) return `${place} has no ${name}`;
    return differenceOf(value, real[name]!, { examples, place: `${place}.${name}` });
  });
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstProblem<T>(all: readonly T[], problemOf: (one: T) => string | null): string | null {
  for (const one of all) {
    const problem = problemOf(one);
    if (problem !== null) return problem;
  }
  return null;
}

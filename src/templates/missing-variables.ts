// The variables that a template uses and its data does not have. Liquid renders them as nothing, so that nobody but the
// recipient sees a misspelt name. Leaves out what only rendering could tell: the items of lists, and `a[b]`.
import { analyzeSync, type Template, type Variable } from 'liquidjs';

export interface MissingVariables {
  /** The first of them; long ones are shortened. */
  names: string[];
  total: number;
}

const MAX_NAMES = 20;
const MAX_NAME_CHARS = 60;

/** Of all parts of a template. What it defines itself, by `assign` or a loop, is not looked for. */
export class MissingCollector {
  readonly #missing = new Set<string>();

  add(source: string, templates: Template[], data: object): void {
    if (!isQuickToAnalyze(source)) return;
    const { globals } = analyzeSync(templates, { partials: false });
    for (const { segments } of Object.values(globals).flat()) {
      if (!isIn(data, segments) && !isKeyword(segments)) this.#missing.add(nameOf(segments));
    }
  }

  list(): MissingVariables {
    return { names: [...this.#missing].slice(0, MAX_NAMES), total: this.#missing.size };
  }
}

const MARKUP = /\{[{%][\s\S]*?[%}]\}/g;
/** What each variable has one of: `[" "]` is one without a word. */
const WORD_OR_BRACKET = /[\p{L}\p{N}_]+|\[/gu;
/** Takes at most 0.2 s, which an analysis can't be stopped in; an HTML part of 100 KB with 150 outputs needs half of it. */
const MAX_CHARS_READ = 100_000_000;

/** For each variable, liquidjs 10.30 reads the source up to it, to know its line. */
function isQuickToAnalyze(source: string): boolean {
  let words = 0;
  for (const [markup] of source.matchAll(MARKUP)) words += markup.match(WORD_OR_BRACKET)?.length ?? 0;
  return words * source.length <= MAX_CHARS_READ;
}

/** `offset: continue` of a loop looks like a variable. */
function isKeyword(segments: Variable['segments']): boolean {
  return segments.length === 1 && segments[0] === 'continue';
}

/** What Liquid answers itself, for lists, texts and objects. */
const BUILT_IN: ReadonlySet<unknown> = new Set(['size', 'first', 'last']);

function isIn(data: object, segments: Variable['segments']): boolean {
  let value: unknown = data;
  for (const segment of segments) {
    // The value of b in a[b] is known only when it is rendered.
    if (typeof segment === 'object') return true;
    if (value === null || value === undefined) return false;
    if (typeof value === 'object' && Object.hasOwn(value, segment)) value = (value as Record<string, unknown>)[segment];
    else if (Array.isArray(value) && typeof segment === 'number') value = value.at(segment);
    else return value !== data && BUILT_IN.has(segment);
  }
  return value !== undefined;
}

const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

function nameOf(segments: Variable['segments']): string {
  let name = '';
  for (const segment of segments) {
    if (typeof segment === 'object') name += '[…]';
    else if (typeof segment === 'string' && IDENTIFIER.test(segment)) name += name === '' ? segment : `.${segment}`;
    else name += `[${JSON.stringify(segment)}]`;
    if (name.length > MAX_NAME_CHARS) return `${name.slice(0, MAX_NAME_CHARS)}…`;
  }
  return name;
}

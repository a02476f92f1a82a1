// Liquid for one part of a template, made safe for sources and data from strangers: no files, no expressions in
// texts, only the data's own properties, and limits wherever liquidjs has none (captures, output, lists that print as
// more than memory can hold).
import {
  type Context,
  type Emitter,
  evalTokenValue,
  type FilterImplOptions,
  ForTag,
  Liquid,
  LiquidError,
  RenderError,
  TablerowTag,
  type Template,
  TypeGuards,
} from 'liquidjs';
import { BoundedMap } from '../base/bounded-map.ts';
import { BoundedParser, type ParsedTemplate } from './bounded-parser.ts';
import { escapeHtml, isLarger, plainText } from './plain-text.ts';
import type { Part } from './render-job.ts';
import type { RenderLimits } from './render-limits.ts';
import type { Stopwatch } from './stopwatch.ts';

/** They read other templates, which do not exist here. */
const TAGS_WITH_FILES = ['include', 'render', 'layout', 'block'];

/** Their result is already escaped: escaping it again would show `&amp;lt;`. */
const ESCAPING_FILTERS = ['escape', 'xml_escape', 'escape_once'];

type FilterFunction = Extract<FilterImplOptions, (...args: never[]) => unknown>;

export class PartEngine {
  readonly #engine: Liquid;
  readonly #limits: RenderLimits;
  readonly #stopwatch: Stopwatch;
  /** By source and not by ID, so that a replaced template is never found and needs no invalidation. */
  readonly #parsed: BoundedMap<string, ParsedTemplate>;

  constructor(part: Part, limits: RenderLimits, stopwatch: Stopwatch) {
    this.#limits = limits;
    this.#stopwatch = stopwatch;
    this.#parsed = new BoundedMap(limits.cacheBytes, ({ bytes }) => bytes);
    this.#engine = new Liquid({
      // A map instead of a file system: with the default one, liquidjs reads below the working directory.
      templates: {},
      // A misspelt filter would silently do nothing.
      strictFilters: true,
      ownPropertyOnly: true,
      memoryLimit: limits.allocations,
      // Its defaults are those of the server, which is none of a recipient's business.
      timezoneOffset: 0,
      locale: 'en',
      ...(part === 'html' && { outputEscape: (value: unknown) => escapeHtml(plainText(value)) }),
    });
    this.#limitTags();
    this.#limitFilters(part);
    this.#limitRendering();
  }

  /** Throws errors of liquidjs, or a LiquidError of ours. */
  parse(source: string): Template[] {
    const known = this.#parsed.use(source);
    if (known) return known.templates;
    const { markupChars, cacheBytes } = this.#limits;
    const parsed = new BoundedParser(this.#engine, { stopwatch: this.#stopwatch, markupChars }).parseSource(source);
    if (parsed.bytes <= cacheBytes) this.#parsed.set(source, parsed);
    return parsed.templates;
  }

  render(source: string, data: object): string {
    return this.#engine.renderSync(this.parse(source), data) as string;
  }

  #limitTags(): void {
    for (const name of TAGS_WITH_FILES) delete this.#engine.tags[name];
    this.#engine.registerTag('for', ChargedForTag);
    this.#engine.registerTag('tablerow', ChargedTablerowTag);
  }

  #limitFilters(part: Part): void {
    for (const [name, filter] of Object.entries(this.#engine.filters)) {
      // Filters that take an expression as text: liquidjs' limits do not apply inside them.
      if (name.endsWith('_exp')) this.#engine.unregisterFilter(name);
      else if (typeof filter === 'function') this.#engine.registerFilter(name, this.#limited(name, filter, part));
    }
  }

  #limited(name: string, filter: FilterFunction, part: Part): FilterImplOptions {
    const { valueChars } = this.#limits;
    const handler: FilterFunction = function* (...args) {
      const result: unknown = yield filter.apply(this, args);
      if (isLarger(result, valueChars)) throw new Error(`creates a value of more than ${valueChars} characters`);
      return result;
    };
    return part === 'html' && ESCAPING_FILTERS.includes(name) ? { handler, raw: true } : handler;
  }

  /** Replaces liquidjs' own renderer, because all output passes through it, captures included. */
  #limitRendering(): void {
    const stopwatch = this.#stopwatch;
    const { outputBytes } = this.#limits;
    this.#engine.renderer.renderTemplates = function* (templates, context, emitter = new BoundedEmitter(outputBytes)) {
      // A loop with an empty body has no steps.
      if (templates.length === 0) throwIf(stopwatch.timeoutProblem());
      for (const template of templates) {
        try {
          throwIf(stopwatch.step(template.token.begin));
          // Some tags write their output themselves, others return it.
          const returned: unknown = yield template.render(context, emitter);
          if (returned) emitter.write(returned);
        } catch (error) {
          throw LiquidError.is(error) ? error : new RenderError(error as Error, template);
        }
        if (context.breakCalled || context.continueCalled) break;
      }
      return emitter.buffer;
    };
  }
}

function throwIf(problem: string | null): void {
  if (problem !== null) throw new Error(problem);
}

/** Counts characters, of which there are at most as many as bytes. The thread counts bytes at the end. */
class BoundedEmitter implements Emitter {
  readonly #maxChars: number;
  buffer = '';

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  write(value: unknown): void {
    const text = plainText(value);
    if (this.buffer.length + text.length > this.#maxChars) throw new Error(tooMuchOutput(this.#maxChars));
    this.buffer += text;
  }
}

export function tooMuchOutput(maxBytes: number): string {
  return `produces more than ${maxBytes} bytes of output`;
}

// A loop over an object first builds a list of pairs, about 80 bytes each, which liquidjs does not count; nested loops
// over a large object hold many of them at once.
const ALLOCATIONS_PER_PAIR = 4;

function* chargePairs(collection: ForTag['collection'], context: Context): Generator<unknown, void, unknown> {
  if (!TypeGuards.isPropertyAccessToken(collection)) return;
  const value: unknown = yield evalTokenValue(collection, context);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  context.memoryLimit.use(Object.keys(value).length * ALLOCATIONS_PER_PAIR);
}

class ChargedForTag extends ForTag {
  override *render(context: Context, emitter: Emitter): ReturnType<ForTag['render']> {
    yield chargePairs(this.collection, context);
    return yield* super.render(context, emitter);
  }
}

class ChargedTablerowTag extends TablerowTag {
  override *render(context: Context, emitter: Emitter): ReturnType<TablerowTag['render']> {
    yield chargePairs(this.collection, context);
    return yield* super.render(context, emitter);
  }
}

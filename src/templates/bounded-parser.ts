// Liquid's parser with limits: it checks the time, rejects more markup than memory can hold,
// and estimates the size of the result.
import { type Liquid, ParseError, Parser, type Template, TokenKind, type TopLevelToken } from 'liquidjs';
import type { Stopwatch } from './stopwatch.ts';

// Measured with liquidjs 10.30: `{{a}}` repeated takes 208 bytes per character, everything else less. Text between the
// braces is stored as it is.
const BYTES_PER_MARKUP_CHAR = 200;

export interface ParsedTemplate {
  templates: Template[];
  /** Estimated size in memory. */
  bytes: number;
}

export class BoundedParser extends Parser {
  readonly #stopwatch: Stopwatch;
  readonly #maxMarkupChars: number;
  #markupChars = 0;

  constructor(engine: Liquid, { stopwatch, markupChars }: { stopwatch: Stopwatch; markupChars: number }) {
    super(engine);
    this.#stopwatch = stopwatch;
    this.#maxMarkupChars = markupChars;
  }

  parseSource(source: string): ParsedTemplate {
    const templates = this.parse(source);
    return { templates, bytes: source.length * 2 + this.#markupChars * BYTES_PER_MARKUP_CHAR };
  }

  override parseTokens(tokens: TopLevelToken[]): Template[] {
    for (const token of tokens) this.#weigh(token);
    return super.parseTokens(withFastShift(tokens));
  }

  override parseToken(token: TopLevelToken, rest: TopLevelToken[]): ReturnType<Parser['parseToken']> {
    const timeout = this.#stopwatch.step(token.begin);
    if (timeout !== null) throw new ParseError(new Error(timeout), token);
    return super.parseToken(token, rest);
  }

  #weigh(token: TopLevelToken): void {
    if (token.kind === TokenKind.HTML) return;
    this.#markupChars += token.size();
    if (this.#markupChars <= this.#maxMarkupChars) return;
    const problem = `contains more than ${this.#maxMarkupChars} characters of Liquid`;
    throw new ParseError(new Error(problem), token);
  }
}

/** The parser removes tokens from the front, which moves all others each time: 30 s for 1 MiB of `{{a}}`. */
function withFastShift(tokens: TopLevelToken[]): TopLevelToken[] {
  return Object.assign(tokens.reverse(), { shift: Array.prototype.pop });
}

// Liquid's parser with limits: it keeps an eye on the clock, refuses more markup than memory
// can take, and keeps count of what the result weighs.
import { type Liquid, ParseError, Parser, type Template, TokenKind, type TopLevelToken } from 'liquidjs';
import type { Stopwatch } from './stopwatch.ts';

// Measured with liquidjs 10.30: `{{a}}` over and over takes 208 bytes per character, everything
// else less. Text between the braces is kept as it is.
const BYTES_PER_MARKUP_CHAR = 200;

export interface ParsedTemplate {
  templates: Template[];
  /** What it takes in memory, by estimate. */
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
    return super.parseTokens(quickToShift(tokens));
  }

  override parseToken(token: TopLevelToken, rest: TopLevelToken[]): ReturnType<Parser['parseToken']> {
    const late = this.#stopwatch.step(token.begin);
    if (late !== null) throw new ParseError(new Error(late), token);
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

/** The parser takes tokens from the front, which moves all others, every time: 30 s for 1 MiB of `{{a}}`. */
function quickToShift(tokens: TopLevelToken[]): TopLevelToken[] {
  return Object.assign(tokens.reverse(), { shift: Array.prototype.pop });
}

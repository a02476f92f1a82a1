// From the shared SQL to PostgreSQL's: `+?` becomes `$1`, `$2` and so on, `+@name` one number per name. What only tells
// SQLite's planner how to go about it is left out. The text is translated once, and named, so that each connection prepares
// it once.

export interface Statement {
  /** Of the prepared statement. */
  name: string;
  text: string;
  /** In the order of their numbers; empty: parameters have no names. */
  names: readonly string[];
}

/** Strings, quoted names and comments, in which nothing is a parameter; then the parameters. */
const TOKENS = /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|\+\?|\+@(\w+)/g;

export class Statements {
  readonly #known = new Map<string, Statement>();

  of(text: string): Statement {
    const known = this.#known.get(text);
    if (known) return known;
    const statement = translate(text, `s${this.#known.size + 1}`);
    this.#known.set(text, statement);
    return statement;
  }
}

/** An index by its name; and CROSS JOIN with ON, where SQLite keeps the order of the tables. */
function withoutHints(text: string): string {
  return text.replace(/ INDEXED BY \w+/g, '').replace(/\bCROSS (JOIN \w+ \w+ ON)\b/g, '$1');
}

function translate(shared: string, name: string): Statement {
  const names: string[] = [];
  let positions = 0;
  const text = withoutHints(shared).replace(TOKENS, (token, parameter: string | undefined) => {
    if (token === '+?') return `$${++positions}`;
    if (parameter === undefined) return token;
    if (!names.includes(parameter)) names.push(parameter);
    return `$${names.indexOf(parameter) + 1}`;
  });
  if (names.length > 0 && positions > 0) throw new Error(`parameters with and without names: ${shared}`);
  return { name, text, names };
}

/** In the order of the statement's numbers. */
export function valuesOf({ names, text }: Statement, parameters: readonly unknown[]): unknown[] {
  if (names.length === 0) return [...parameters];
  const byName = parameters[0] as Record<string, unknown>;
  return names.map((name) => {
    if (!(name in byName)) throw new Error(`the parameter ${name} is missing: ${text}`);
    return byName[name];
  });
}

// The statements that verbs side by side wait for at the same time: all are sent, then all answers are awaited. Those with
// one text are sent as one over arrays (array-forms.ts), which costs both sides a fraction of what many cost.
import type { Query, Step } from '../../sql/steps.ts';
import { type ArrayForm, arrayFormOf, mayHaveArrayForm } from './array-forms.ts';
import { encodeArray, isElementType } from './array-values.ts';
import type { Answer } from './connection.ts';
import { type Statement, Statements, valuesOf } from './statements.ts';

export type Send = (statement: Statement, values: unknown[], rows: 'objects' | 'arrays') => Promise<Answer>;

/** `place`: that of the step in its wave; null: several steps failed as one statement. */
export class StepFailed extends Error {
  readonly place: number | null;

  constructor(cause: unknown, place: number | null) {
    super('a statement failed', { cause });
    this.place = place;
  }
}

// One row more takes less than one statement more.
const MIN_ITEMS = 2;
/** What a statement over arrays may hold, so that large mails do not double the memory of a group. */
const MAX_ARRAY_BYTES = 8 * 1024 * 1024;

/** What PostgreSQL has inferred, of a statement that was prepared on this connection. */
const TYPES_OF: Statement = {
  name: 'types_of',
  text: `SELECT array_to_string(parameter_types::text[], ',') FROM pg_prepared_statements WHERE name = $1`,
  names: [],
};

interface Asked {
  place: number;
  step: Step;
}

interface Sent {
  place: number | null;
  done: Promise<void>;
}

export interface WaveOptions {
  /** Fewest items of a statement over arrays. */
  minItems?: number;
}

export class WaveStatements {
  readonly #statements = new Statements();
  /** Null: it has none. A text that is missing was not asked for yet. */
  readonly #forms = new Map<string, ArrayForm | null>();
  readonly #minItems: number;

  constructor({ minItems = MIN_ITEMS }: WaveOptions) {
    this.#minItems = minItems;
  }

  /** The answer to each step. Throws `StepFailed` for the first one that failed. */
  async ask(steps: readonly Step[], send: Send): Promise<unknown[]> {
    const answers: unknown[] = new Array(steps.length);
    const sent: Sent[] = [];
    for (const [query, asked] of byQuery(steps)) {
      const statement = this.#statements.of(query.text);
      for (const part of this.#partsOf(statement, asked)) {
        if (part.form)
          sent.push(sendAsOne(part.form, { query, asked: part.asked, values: part.values, send }, answers));
        else sent.push(...sendEach(statement, { query, asked: part.asked, values: part.values, send }, answers));
      }
      if (asked.length >= this.#minItems && !this.#forms.has(query.text))
        sent.push(...this.#learn(statement, query, send));
    }
    const results = await Promise.allSettled(sent.map(({ done }) => done));
    const failed = results.findIndex(({ status }) => status === 'rejected');
    if (failed < 0) return answers;
    throw new StepFailed((results[failed] as PromiseRejectedResult).reason, sent[failed]!.place);
  }

  /** What one statement over arrays may hold, and what has to be sent one by one. */
  *#partsOf(statement: Statement, asked: readonly Asked[]): Generator<Part> {
    const values = asked.map(({ step }) => valuesOf(statement, step.parameters));
    const form = asked.length < this.#minItems ? null : (this.#forms.get(asked[0]!.step.query.text) ?? null);
    if (!form || !areDistinct(values, form.distinct)) return yield { form: null, asked, values };
    for (let from = 0; from < asked.length; ) {
      const until = endOfArray(values, from);
      yield { form, asked: asked.slice(from, until), values: values.slice(from, until) };
      from = until;
    }
  }

  /** Behind the statements themselves, so the server has inferred the types by now; the next wave uses them. */
  #learn(statement: Statement, { text }: Query, send: Send): Sent[] {
    if (!mayHaveArrayForm(statement)) {
      this.#forms.set(text, null);
      return [];
    }
    const done = send(TYPES_OF, [statement.name], 'arrays').then(({ rows }) => {
      const types = String((rows as unknown[][])[0]?.[0]).split(',');
      this.#forms.set(text, types.every(isElementType) ? arrayFormOf(statement, types) : null);
    });
    return [{ place: null, done }];
  }
}

interface Part {
  form: ArrayForm | null;
  asked: readonly Asked[];
  values: unknown[][];
}

interface Sending {
  query: Query;
  asked: readonly Asked[];
  values: unknown[][];
  send: Send;
}

/** In the order in which the texts came first. */
function byQuery(steps: readonly Step[]): Map<Query, Asked[]> {
  const queries = new Map<Query, Asked[]>();
  for (const [place, step] of steps.entries()) {
    const known = queries.get(step.query);
    if (known) known.push({ place, step });
    else queries.set(step.query, [{ place, step }]);
  }
  return queries;
}

function areDistinct(values: readonly unknown[][], parameters: readonly number[]): boolean {
  if (parameters.length === 0) return true;
  const keys = new Set(values.map((of) => parameters.map((parameter) => keyOf(of[parameter])).join('\0')));
  return keys.size === values.length;
}

function keyOf(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
}

function endOfArray(values: readonly unknown[][], from: number): number {
  let bytes = 0;
  for (let at = from; at < values.length; at++) {
    for (const value of values[at]!) if (typeof value === 'string' || Buffer.isBuffer(value)) bytes += value.length;
    if (bytes > MAX_ARRAY_BYTES && at > from) return at;
  }
  return values.length;
}

function sendEach(statement: Statement, { query, asked, values, send }: Sending, answers: unknown[]): Sent[] {
  const rowMode = query.shape === 'object' ? 'objects' : 'arrays';
  return asked.map(({ place, step }, at) => ({
    place,
    done: send(statement, values[at]!, rowMode).then(({ rows, changes }) => {
      answers[place] = answerTo(
        step,
        query.shape === 'column' ? (rows as unknown[][]).map(([value]) => value) : rows,
        changes,
      );
    }),
  }));
}

function sendAsOne(form: ArrayForm, { query, asked, values, send }: Sending, answers: unknown[]): Sent {
  const answer = async () => {
    const arrays = form.types.map((type, parameter) =>
      encodeArray(
        type,
        values.map((of) => of[parameter]),
      ),
    );
    const { rows, columns } = await send(form.statement, arrays, 'arrays');
    const told = toldApart(form, values, rows as unknown[][]);
    for (const [at, { place, step }] of asked.entries()) {
      const found = told[at]!;
      answers[place] = answerTo(
        step,
        step.wanted === 'run' ? [] : found.map((row) => shaped(query, row, columns)),
        found.length,
      );
    }
  };
  return { place: null, done: answer() };
}

/** The rows of each item. */
function toldApart(
  { told, distinct }: ArrayForm,
  values: readonly unknown[][],
  rows: readonly unknown[][],
): unknown[][][] {
  if (told === 'all') return values.map(() => [[]]);
  if (told === 'by first column') {
    const inserted = new Set(rows.map(([key]) => keyOf(key)));
    return values.map((of) => (inserted.has(keyOf(of[distinct[0]!])) ? [[]] : []));
  }
  const found: unknown[][][] = values.map(() => []);
  for (const row of rows) found[(row[0] as number) - 1]!.push(row);
  return found;
}

/** The first column is the item's place. */
function shaped({ shape }: Query, row: unknown[], columns: readonly string[]): unknown {
  if (shape === 'column') return row[1];
  if (shape === 'tuple') return row.slice(1);
  const named: Record<string, unknown> = {};
  for (let at = 1; at < row.length; at++) named[columns[at]!] = row[at];
  return named;
}

function answerTo({ wanted }: Step, rows: unknown[], changes: number): unknown {
  if (wanted === 'run') return { changes };
  return wanted === 'get' ? rows[0] : rows;
}

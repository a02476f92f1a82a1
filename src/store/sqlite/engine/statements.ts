// The prepared statements of a connection, by their text and the shape of their rows: each is prepared and planned
// once. All callers with the same text share one, so a caller cannot change it.
// Every parameter in the verbs' SQL has a plus, which changes nothing (`id = +?`): SQLite takes the value of a bare
// parameter into account when it plans, and re-plans whenever the value changes: 40 µs instead of 4, at every call.
import type Database from 'better-sqlite3';
import { type Changes, type Queries, Query, type RowShape, type Steps } from '../../sql/steps.ts';

export class Statements implements Queries {
  readonly #db: Database.Database;
  readonly #prepared: Record<RowShape, Map<string, Query>> = {
    object: new Map(),
    column: new Map(),
    tuple: new Map(),
    assigned: new Map(),
  };

  constructor(db: Database.Database) {
    this.#db = db;
  }

  sql(text: string, shape: RowShape = 'object'): Query {
    const known = this.#prepared[shape].get(text);
    if (known) return known;
    const query = shape === 'assigned' ? new NumberingInsert(this.#db, text) : new PreparedQuery(this.#db, text, shape);
    this.#prepared[shape].set(text, query);
    return query;
  }
}

class PreparedQuery extends Query {
  protected readonly statement: Database.Statement;

  constructor(db: Database.Database, text: string, shape: RowShape) {
    super(text, shape);
    this.statement = db.prepare(text);
    if (shape === 'column') this.statement.pluck();
    else if (shape === 'tuple') this.statement.raw();
  }

  override get(...parameters: unknown[]): Steps<unknown> {
    return answered(this.statement.get(...parameters));
  }

  override all(...parameters: unknown[]): Steps<unknown[]> {
    return answered(this.statement.all(...parameters));
  }

  override run(...parameters: unknown[]): Steps<Changes> {
    return answered(this.statement.run(...parameters));
  }
}

const RETURNING = /\s+RETURNING (?:id|seq)$/;
/** It changes a row that has its number already, and SQLite would tell the one of an earlier insert. */
const CHANGES_ROWS = /\bDO UPDATE\b/;

/** Without its RETURNING, for which SQLite would make a table of rows: a sixth of what the insert costs. */
class NumberingInsert extends PreparedQuery {
  constructor(db: Database.Database, text: string) {
    if (!RETURNING.test(text) || CHANGES_ROWS.test(text)) throw new Error(`no insert that returns a number: ${text}`);
    super(db, text.replace(RETURNING, ''), 'object');
  }

  override get(...parameters: unknown[]): Steps<unknown> {
    const { changes, lastInsertRowid } = this.statement.run(...parameters);
    return answered(changes === 1 ? lastInsertRowid : undefined);
  }
}

/** Steps that are all done. An object and not a generator: 0.1 µs less for each statement. */
class Answered<Answer> implements Steps<Answer> {
  readonly done = true;
  readonly value: Answer;

  constructor(value: Answer) {
    this.value = value;
  }

  next(): IteratorReturnResult<Answer> {
    return this;
  }

  [Symbol.iterator](): this {
    return this;
  }
}

export function answered<Answer>(value: Answer): Steps<Answer> {
  return new Answered(value);
}

/** Runs a verb's work: since each of its statements is answered where it stands, that is one step. */
export function perform<Answer>(work: Steps<Answer>): Answer {
  const { done, value } = work.next();
  if (done) return value;
  throw new Error(`a step of another database: ${'query' in value ? value.query.text : value.constructor.name}`);
}

/** One after the other: nothing is gained by asking for all of them at once. */
export function performAll<Item, Answer>(items: readonly Item[], work: (item: Item) => Steps<Answer>): Steps<Answer[]> {
  return answered(items.map((item) => perform(work(item))));
}

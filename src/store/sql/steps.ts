// The verbs of a store in SQL are written once for all databases: as generators of their statements. SQLite answers each
// where it is asked, so a verb runs to its end in one go; a database at the end of a connection is sent the step, and the
// verb goes on when its answer has come.
//
//     const row = (yield* db.sql('SELECT name FROM tenants WHERE id = +?').get(toId(id))) as Row | undefined;

/**
 * A row as an object; the value of its only column; an array of all values; of an insert that ends with RETURNING, the number
 * that the table has assigned, which SQLite knows without a row.
 */
export type RowShape = 'object' | 'column' | 'tuple' | 'assigned';

/** What comes back: the first row or undefined, all rows, or how many rows were changed. */
export type Wanted = 'get' | 'all' | 'run';

export interface Step {
  query: Query;
  wanted: Wanted;
  /** In the order of the text's `+?`, or one object for those with names, `+@name`. */
  parameters: readonly unknown[];
}

/** A driver's own: only its `Transaction` yields them, and only what runs its verbs knows them. */
export abstract class DriverStep {}

/** What a generator of steps is: `yield*` runs it and has its answer. */
// biome-ignore lint/suspicious/noExplicitAny: what a statement answers is known by whoever wrote it
export interface Steps<Answer> extends Iterator<Step | DriverStep, Answer, any> {
  [Symbol.iterator](): Steps<Answer>;
}

export interface Changes {
  changes: number;
}

/** A statement of one database. It has no state: all callers with the same text and shape share one. */
export class Query {
  readonly text: string;
  readonly shape: RowShape;

  constructor(text: string, shape: RowShape) {
    this.text = text;
    this.shape = shape;
  }

  *get(...parameters: unknown[]): Steps<unknown> {
    return yield { query: this, wanted: 'get', parameters };
  }

  *all(...parameters: unknown[]): Steps<unknown[]> {
    return yield { query: this, wanted: 'all', parameters };
  }

  *run(...parameters: unknown[]): Steps<Changes> {
    return yield { query: this, wanted: 'run', parameters };
  }
}

export interface Queries {
  sql(text: string, shape?: RowShape): Query;
}

export interface Reads extends Queries {
  /**
   * The same work for several things. None may depend on what it does for another one, nor change the same rows:
   * a database at the end of a connection is asked about all of them at once.
   */
  forAll<Item, Answer>(items: readonly Item[], work: (item: Item) => Steps<Answer>): Steps<Answer[]>;
}

/** One after the other. */
export function* eachOf<Item, Answer>(items: Iterable<Item>, work: (item: Item) => Steps<Answer>): Steps<Answer[]> {
  const answers: Answer[] = [];
  for (const item of items) answers.push(yield* work(item));
  return answers;
}

/** Those of which `test` is true. */
export function* only<Item>(items: Iterable<Item>, test: (item: Item) => Steps<boolean>): Steps<Item[]> {
  const found: Item[] = [];
  for (const item of items) if (yield* test(item)) found.push(item);
  return found;
}

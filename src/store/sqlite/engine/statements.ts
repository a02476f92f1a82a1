// The prepared statements of a connection, by their text and the shape of their rows: each is prepared once, and
// planned once. They are shared by all who ask for the same, so nobody can change one.
// Every parameter in the driver's SQL is written with a plus, which changes nothing (`id = +?`): SQLite looks at the
// value of a bare one when it plans, and plans anew whenever it changes: 40 µs instead of 4, at every call.
import type Database from 'better-sqlite3';

/** What stands for a row: an object; the value of its only column; an array of all values. */
export type RowShape = 'object' | 'column' | 'tuple';

/** Without `pluck`, `raw` and the like, which would change the statement for everybody. */
export type Statement = Pick<Database.Statement, 'run' | 'get' | 'all' | 'iterate'>;

/** What a query needs of a connection, be it the writing one or one that only reads. */
export interface Queries {
  sql(text: string, shape?: RowShape): Statement;
}

export class Statements implements Queries {
  readonly #db: Database.Database;
  readonly #prepared: Record<RowShape, Map<string, Statement>> = {
    object: new Map(),
    column: new Map(),
    tuple: new Map(),
  };

  constructor(db: Database.Database) {
    this.#db = db;
  }

  sql(text: string, shape: RowShape = 'object'): Statement {
    const known = this.#prepared[shape].get(text);
    if (known) return known;
    const statement = this.#db.prepare(text);
    if (shape === 'column') statement.pluck();
    else if (shape === 'tuple') statement.raw();
    this.#prepared[shape].set(text, statement);
    return statement;
  }
}

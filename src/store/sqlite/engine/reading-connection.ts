// The reading process' connection to the database: it cannot write, sees only what is committed, and
// is called like the writing one, so that both can share what they ask.
import type Database from 'better-sqlite3';
import { openForReading } from './database-file.ts';
import { type Queries, type RowShape, type Statement, Statements } from './statements.ts';

// Lists go over many rows, and come back to the same ones page after page.
const CACHE_KIB = 16 * 1024;

export class ReadingConnection implements Queries {
  readonly #db: Database.Database;
  readonly #statements: Statements;

  constructor(file: string) {
    this.#db = openForReading(file);
    this.#db.pragma('query_only = ON');
    this.#db.pragma(`cache_size = -${CACHE_KIB}`);
    this.#statements = new Statements(this.#db);
  }

  sql(text: string, shape?: RowShape): Statement {
    return this.#statements.sql(text, shape);
  }

  /** All that `work` sees is of one moment. The transaction ends with it, and checkpoints go on. */
  snapshot<T>(work: () => T): T {
    return this.#db.transaction(work)();
  }
}

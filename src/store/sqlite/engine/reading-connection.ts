// The reading process's connection to the database: it cannot write, and sees only what is committed. It has the same
// interface as the writing connection, so that both can share queries.
import type Database from 'better-sqlite3';
import { openForReading } from './database-file.ts';
import { type Queries, type RowShape, type Statement, Statements } from './statements.ts';

// Lists scan many rows, and the next page reads the same ones again.
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

  /** All that `work` reads is from one moment. The transaction ends with it, so that checkpoints are not blocked. */
  snapshot<T>(work: () => T): T {
    return this.#db.transaction(work)();
  }

  close(): void {
    this.#db.close();
  }
}

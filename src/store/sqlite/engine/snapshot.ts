// All that a read looks at is from one moment, although another process, or the writer thread, may commit between two of
// its statements. The transaction begins with the first statement: a read that the cache answers costs nothing more.
import type Database from 'better-sqlite3';

export class Snapshot {
  readonly #db: Database.Database;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  #isReading = false;
  #hasBegun = false;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#begin = db.prepare('BEGIN');
    this.#commit = db.prepare('COMMIT');
  }

  /** Outside a transaction. */
  run<T>(work: () => T): T {
    this.#isReading = true;
    try {
      return work();
    } finally {
      this.#isReading = false;
      if (this.#hasBegun) this.#end();
    }
  }

  /** Before each statement of the connection. */
  enter(): void {
    if (!this.#isReading || this.#hasBegun) return;
    this.#begin.run();
    this.#hasBegun = true;
  }

  /** SQLite itself ends a transaction after some errors. */
  #end(): void {
    this.#hasBegun = false;
    if (this.#db.inTransaction) this.#commit.run();
  }
}

// The main thread's connection beside the writer thread. It reads what is committed, and never waits for a commit.
// Verbs that write are not bound to it.
import type Database from 'better-sqlite3';
import { Fault } from '../../../base/errors.ts';
import type { Query, RowShape, Steps } from '../../sql/steps.ts';
import type { Connection } from '../../sql/transaction.ts';
import { readOrFault } from './database-fault.ts';
import { openForReading } from './database-file.ts';
import { ReadCache } from './read-cache.ts';
import { Snapshot } from './snapshot.ts';
import { SqliteTransaction } from './sqlite-transaction.ts';
import { perform, Statements } from './statements.ts';

export class LocalConnection extends SqliteTransaction implements Connection {
  readonly #db: Database.Database;
  readonly #statements: Statements;
  readonly #snapshot: Snapshot;
  readonly #cache: ReadCache;
  #closed = false;

  constructor(file: string) {
    super();
    this.#db = openForReading(file);
    this.#statements = new Statements(this.#db);
    this.#snapshot = new Snapshot(this.#db);
    this.#cache = new ReadCache(this.#db);
  }

  sql(text: string, shape?: RowShape): Query {
    this.#snapshot.enter();
    return this.#statements.sql(text, shape);
  }

  async read<T>(work: () => Steps<T>): Promise<T> {
    if (this.#closed) throw new Fault('the store is closed');
    return readOrFault(() => {
      // The writer thread's commits count as another's here, so under load the cache is dropped once a second.
      this.#cache.checkIfOld();
      return this.#snapshot.run(() => perform(work()));
    });
  }

  beginEvents(): never {
    throw new Error('this connection only reads');
  }

  cached<T>(name: string, look: () => Steps<T>): Steps<T> {
    return this.#cache.cached(name, look);
  }

  /** A commit may have changed what is cached; the caller of that verb gets its answer after this. */
  forget(): void {
    this.#cache.clear();
  }

  addUp(): never {
    throw new Error('this connection only reads');
  }

  close(): void {
    this.#closed = true;
    this.#db.close();
  }
}

// A connection that cannot write, and sees only what is committed: of the reading process, of couriers, of commands.
import type Database from 'better-sqlite3';
import type { Query, Reads, RowShape, Steps } from '../../sql/steps.ts';
import type { Work } from '../../sql/transaction.ts';
import { openForReading } from './database-file.ts';
import { Snapshot } from './snapshot.ts';
import { perform, performAll, Statements } from './statements.ts';

export class ReadingConnection implements Reads {
  readonly #db: Database.Database;
  readonly #statements: Statements;
  readonly #snapshot: Snapshot;

  constructor(file: string, options: { cacheKib?: number } = {}) {
    this.#db = openForReading(file);
    this.#db.pragma('query_only = ON');
    if (options.cacheKib !== undefined) this.#db.pragma(`cache_size = -${options.cacheKib}`);
    this.#statements = new Statements(this.#db);
    this.#snapshot = new Snapshot(this.#db);
  }

  sql(text: string, shape?: RowShape): Query {
    this.#snapshot.enter();
    return this.#statements.sql(text, shape);
  }

  forAll<Item, Answer>(items: readonly Item[], work: (item: Item) => Steps<Answer>): Steps<Answer[]> {
    return performAll(items, work);
  }

  /** All that `work` reads is from one moment. The transaction ends with it, so that checkpoints are not blocked. */
  snapshot<T>(work: () => Steps<T>): T {
    return this.#snapshot.run(() => perform(work()));
  }

  /** The queries as callers know them, each answered at once. */
  answering<Contract>(queries: Work<Contract>): Contract {
    const answered = Object.entries(queries as Record<string, (...args: unknown[]) => Steps<unknown>>).map(
      ([name, query]) => [name, async (...args: unknown[]) => this.snapshot(() => query(...args))],
    );
    return Object.fromEntries(answered) as Contract;
  }

  close(): void {
    this.#db.close();
  }
}

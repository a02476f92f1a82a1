// Runs the shared verbs: sends each statement that a verb yields, and goes on with the answer. Many verbs are under way at
// once, but code of a verb only runs between two of its statements, and then this says whose transaction it is in.

import type { GroupSums } from '../../sql/group-sums.ts';
import { Query, type RowShape, type Step, type Steps } from '../../sql/steps.ts';
import type { Connection } from '../../sql/transaction.ts';
import { fromId } from '../../sql/values.ts';
import type { CacheView } from './config-cache.ts';
import type { Answer } from './connection.ts';
import { type Statement, Statements, valuesOf } from './statements.ts';

/** Not that of the transaction's beginning. */
const CLOCK = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)';

/** "EVNT" in ASCII. */
const EVENTS_LOCK = 'SELECT pg_advisory_xact_lock(1163284052)';

/** What a verb's transaction consists of. */
export interface Scope {
  send(statement: Statement, values: unknown[], rows: 'objects' | 'arrays'): Promise<Answer>;
  cache: CacheView;
  /** Null: it only reads. */
  sums: GroupSums | null;
  /** Webhooks that have deliveries due when it is committed. */
  webhooksDue: Set<string>;
  /** Whether it has the lock of events. */
  hasEvents: boolean;
}

export class VerbRunner implements Connection {
  readonly dueNotices = {
    note: (webhookIds: readonly Uint8Array[]) => {
      for (const id of webhookIds) this.#now().webhooksDue.add(fromId(id));
    },
  };
  readonly #queries: Record<RowShape, Map<string, Query>> = { object: new Map(), column: new Map(), tuple: new Map() };
  readonly #statements = new Statements();
  readonly #readInSlices: <T>(work: () => Steps<T>) => Promise<T>;
  #scope: Scope | null = null;

  /** `read` runs one slice of a verb that reads much. */
  constructor(read: <T>(work: () => Steps<T>) => Promise<T>) {
    this.#readInSlices = read;
  }

  sql(text: string, shape: RowShape = 'object'): Query {
    const known = this.#queries[shape].get(text);
    if (known) return known;
    const query = new Query(text, shape);
    this.#queries[shape].set(text, query);
    return query;
  }

  /** That of the server, which all nodes see. */
  *clock(): Steps<number> {
    return (yield* this.sql(CLOCK, 'column').get()) as number;
  }

  /** Its tables have room that autovacuum has found, but only a look at each page would tell how much. */
  reusableBytes(): Steps<number> {
    return this.sql('SELECT 0', 'column').get() as Steps<number>;
  }

  *cached<T>(name: string, look: () => Steps<T>): Steps<T> {
    const { cache } = this.#now();
    const known = cache.get(name);
    if (known !== undefined) return known as T;
    const found = yield* look();
    // What does not exist is not cached: requests with random names must not push out the other entries.
    if (found !== null && found !== undefined) cache.set(name, found);
    return found;
  }

  /**
   * Held until the commit, from the first event of a transaction on: a number is given before others can see its row, and
   * without the lock a later one could be seen first. Two transactions that wait for each other here and in a row are a
   * deadlock, which PostgreSQL ends; the one that it fails is tried again.
   */
  *beginEvents(): Steps<void> {
    const scope = this.#now();
    if (scope.hasEvents) return;
    yield* this.sql(EVENTS_LOCK).get();
    scope.hasEvents = true;
  }

  addUp(name: string, by: number, write: (sum: number) => Steps<void>): void {
    const { sums } = this.#now();
    if (!sums) throw new Error('this transaction only reads');
    sums.addUp(name, by, write);
  }

  read<T>(work: () => Steps<T>): Promise<T> {
    return this.#readInSlices(work);
  }

  /** A statement that fails ends the verb, which is not told: PostgreSQL answers nothing more in that transaction. */
  async run<T>(work: () => Steps<T>, scope: Scope): Promise<T> {
    const steps = this.#within(scope, work);
    let step = this.#within(scope, () => steps.next());
    while (!step.done) {
      const answer = await this.#perform(step.value, scope);
      step = this.#within(scope, () => steps.next(answer));
    }
    return step.value;
  }

  async #perform({ query, wanted, parameters }: Step, scope: Scope): Promise<unknown> {
    const statement = this.#statements.of(query.text);
    const values = valuesOf(statement, parameters);
    const { rows, changes } = await scope.send(statement, values, query.shape === 'object' ? 'objects' : 'arrays');
    if (wanted === 'run') return { changes };
    const shaped = query.shape === 'column' ? (rows as unknown[][]).map(([value]) => value) : rows;
    return wanted === 'get' ? shaped[0] : shaped;
  }

  #within<T>(scope: Scope, run: () => T): T {
    const before = this.#scope;
    this.#scope = scope;
    try {
      return run();
    } finally {
      this.#scope = before;
    }
  }

  #now(): Scope {
    if (!this.#scope) throw new Error('outside of a transaction');
    return this.#scope;
  }
}

// Runs the shared verbs: sends the statements that they yield, and goes on with the answers. Many verbs are under way at
// once, but code of a verb only runs between two of its statements, and then this says whose transaction it is in.

import type { GroupSums } from '../../sql/group-sums.ts';
import { Query, type RowShape, type Steps } from '../../sql/steps.ts';
import type { Connection } from '../../sql/transaction.ts';
import { fromId } from '../../sql/values.ts';
import type { CacheView } from './config-cache.ts';
import { type Send, type WaveOptions, WaveStatements } from './wave-statements.ts';
import { EventsBegin, type Outcome, Parts, Pause, Waves } from './waves.ts';

/** Not that of the transaction's beginning. */
const CLOCK = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)';

/** "EVNT" in ASCII. */
const EVENTS_LOCK = 'SELECT pg_advisory_xact_lock(1163284052)';

/** What a verb's transaction consists of. */
export interface Scope {
  send: Send;
  cache: CacheView;
  /** Null: it only reads. */
  sums: GroupSums | null;
  /** Webhooks that have deliveries due when it is committed. */
  webhooksDue: Set<string>;
  /** Whether it has the lock of events. */
  hasEvents: boolean;
  /** What its verbs are making, so that no two of them make it. */
  making: Set<string>;
  /** How often its verbs have waited for answers. */
  waves: number;
}

/** A transaction that has not begun to do anything. */
export function newScope(of: Pick<Scope, 'send' | 'cache' | 'sums'>): Scope {
  return Object.assign({ webhooksDue: new Set<string>(), hasEvents: false, making: new Set<string>(), waves: 0 }, of);
}

export class VerbRunner implements Connection {
  readonly dueNotices = {
    note: (webhookIds: readonly Uint8Array[]) => {
      for (const id of webhookIds) this.#now().webhooksDue.add(fromId(id));
    },
  };
  readonly #queries: Record<Exclude<RowShape, 'assigned'>, Map<string, Query>> = {
    object: new Map(),
    column: new Map(),
    tuple: new Map(),
  };
  readonly #statements: WaveStatements;
  readonly #readInSlices: <T>(work: () => Steps<T>) => Promise<T>;
  #scope: Scope | null = null;

  /** `read` runs one slice of a verb that reads much. */
  constructor(read: <T>(work: () => Steps<T>) => Promise<T>, options: WaveOptions = {}) {
    this.#readInSlices = read;
    this.#statements = new WaveStatements(options);
  }

  sql(text: string, shape: RowShape = 'object'): Query {
    if (shape === 'assigned') return this.sql(text, 'column');
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

  *ensured<T>(name: string, make: () => Steps<T>): Steps<T> {
    const { cache, making } = this.#now();
    while (making.has(name)) yield new Pause();
    if (cache.get(name) !== undefined) return cache.get(name) as T;
    // Never taken out if `make` fails: then the whole transaction does.
    making.add(name);
    const made = yield* make();
    making.delete(name);
    cache.set(name, made);
    return made;
  }

  *forAll<Item, Answer>(items: readonly Item[], work: (item: Item) => Steps<Answer>): Steps<Answer[]> {
    if (items.length === 1) return [yield* work(items[0]!)];
    return (yield new Parts(items.map(work))) as Answer[];
  }

  asTimeAllows<Item>(
    items: readonly Item[],
    _budgetMs: number,
    work: (items: readonly Item[]) => Steps<number>,
  ): Steps<number> {
    return work(items);
  }

  *both<One, Other>(one: Steps<One>, other: Steps<Other>): Steps<[One, Other]> {
    return (yield new Parts([one, other])) as [One, Other];
  }

  /**
   * The lock is held until the commit, from the first event of a transaction on: a number is given before others can see
   * its row, and without the lock a later one could be seen first. Verbs that run side by side come here before any of them
   * goes on, so all that they change apart from events is changed before. Two transactions that wait for each other here and
   * in a row are a deadlock, which PostgreSQL ends; the one that it fails is tried again.
   */
  *beginEvents(): Steps<void> {
    if (!this.#now().hasEvents) yield new EventsBegin();
  }

  addUp(name: string, by: number, write: (sum: number) => Steps<void>): void {
    const { sums } = this.#now();
    if (!sums) throw new Error('this transaction only reads');
    sums.addUp(name, by, write);
  }

  read<T>(work: () => Steps<T>): Promise<T> {
    return this.#readInSlices(work);
  }

  async run<T>(work: () => Steps<T>, scope: Scope): Promise<T> {
    const outcome = await this.runTogether([work], scope);
    if ('error' in outcome) throw outcome.error;
    return outcome.answers[0] as T;
  }

  /**
   * Side by side. A statement that fails ends all of it, and the verbs are not told: PostgreSQL answers nothing more in that
   * transaction.
   */
  runTogether(works: readonly (() => Steps<unknown>)[], scope: Scope): Promise<Outcome> {
    return new Waves({
      enter: (run) => this.#within(scope, run),
      ask: (steps) => {
        scope.waves++;
        return this.#statements.ask(steps, scope.send);
      },
      lockEvents: () => {
        scope.hasEvents = true;
        return { query: this.sql(EVENTS_LOCK), wanted: 'get', parameters: [] };
      },
    }).run(works);
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

// Connections for reads, apart from the one that writes: a read never waits for a commit. All that a read looks at is from
// one moment: a transaction that begins with its first statement, so that a read which the cache answers asks nothing.
import { performance } from 'node:perf_hooks';
import { Fault } from '../../../base/errors.ts';
import type { Steps } from '../../sql/steps.ts';
import { type CacheView, type ConfigCache, NO_CACHE } from './config-cache.ts';
import type { Answer, ConnectionTerms, PostgresConnection } from './connection.ts';
import { isConnectionLost, isOutdatedPlan, storeFault } from './database-fault.ts';
import type { Primary } from './primary.ts';
import { Session } from './session.ts';
import type { Statement } from './statements.ts';
import type { Scope, VerbRunner } from './verb-runner.ts';

const MAX_CONNECTIONS = 4;
const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
export const READ_VERSION: Statement = {
  name: 'config_version',
  text: 'SELECT version FROM config_version',
  names: [],
};

interface ReadPoolOptions {
  primary: Primary;
  terms: ConnectionTerms;
  /** Null: its reads look for themselves. */
  cache: ConfigCache | null;
  maxConnections?: number;
  /** Unless what is read does not change, or is one statement. */
  inTransactions?: boolean;
}

export class ReadPool {
  readonly #primary: Primary;
  readonly #terms: ConnectionTerms;
  readonly #idle: Session[] = [];
  readonly #all: Session[] = [];
  readonly #waiting: ((session: Session) => void)[] = [];
  readonly #cache: ConfigCache | null;
  readonly #maxConnections: number;
  readonly #inTransactions: boolean;
  #closing: Promise<void> | null = null;
  #allGivenBack: (() => void) | null = null;

  constructor(options: ReadPoolOptions) {
    const { primary, terms, cache, maxConnections = MAX_CONNECTIONS, inTransactions = true } = options;
    this.#primary = primary;
    this.#terms = terms;
    this.#cache = cache;
    this.#maxConnections = maxConnections;
    this.#inTransactions = inTransactions;
  }

  async read<T>(runner: VerbRunner, work: () => Steps<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#readOnce(runner, work);
      } catch (error) {
        // After a migration the statements of every connection are outdated.
        const maxTries = isOutdatedPlan(error) ? this.#maxConnections + 1 : 2;
        if (tries >= maxTries || !(isConnectionLost(error) || isOutdatedPlan(error))) throw storeFault(error);
      }
    }
  }

  /** Reads that are not under way look for the primary anew. */
  reconnect(): void {
    for (const session of this.#idle) session.drop();
  }

  /** Reads that are under way fail. */
  abandon(): void {
    for (const session of this.#all) session.drop();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#idle.length < this.#all.length) await new Promise<void>((resolve) => (this.#allGivenBack = resolve));
    await Promise.all(this.#all.map((session) => session.close()));
  }

  async #readOnce<T>(runner: VerbRunner, work: () => Steps<T>): Promise<T> {
    if (this.#closing) throw new Fault('the store is closed');
    const lender = { take: () => this.#take(), giveBack: (one: Session) => this.#giveBack(one) };
    const transaction = new ReadTransaction(lender, this.#inTransactions);
    try {
      if (this.#cache) transaction.cache = await this.#view(transaction, this.#cache);
      const answer = await runner.run(work, transaction);
      transaction.end('COMMIT');
      return answer;
    } catch (error) {
      transaction.end('ROLLBACK', isOutdatedPlan(error));
      throw error;
    }
  }

  async #view(transaction: ReadTransaction, cache: ConfigCache): Promise<CacheView> {
    return cache.isOld ? cache.view(await transaction.check(cache)) : cache.view();
  }

  async #take(): Promise<Session> {
    const idle = this.#idle.pop();
    if (idle) return idle;
    if (this.#all.length >= this.#maxConnections) return new Promise((resolve) => this.#waiting.push(resolve));
    const session = new Session(this.#primary, this.#terms);
    this.#all.push(session);
    return session;
  }

  #giveBack(session: Session): void {
    const next = this.#waiting.shift();
    if (next) next(session);
    else this.#idle.push(session);
    if (this.#idle.length === this.#all.length) this.#allGivenBack?.();
  }
}

interface Lender {
  take(): Promise<Session>;
  giveBack(session: Session): void;
}

class ReadTransaction implements Scope {
  readonly sums = null;
  readonly hasEvents = false;
  readonly webhooksDue = new Set<string>();
  readonly making = new Set<string>();
  waves = 0;
  cache: CacheView = NO_CACHE;
  readonly #lender: Lender;
  /** Else each statement sees a moment of its own. */
  readonly #isOne: boolean;
  #session: Session | null = null;
  #connection: PostgresConnection | null = null;
  #begun: Promise<PostgresConnection> | null = null;

  constructor(lender: Lender, isOne: boolean) {
    this.#lender = lender;
    this.#isOne = isOne;
  }

  readonly send = async (statement: Statement, values: unknown[], rows: 'objects' | 'arrays'): Promise<Answer> => {
    this.#begun ??= this.#begin();
    return (await this.#begun).send(statement, values, rows);
  };

  /** Tells the cache which number its snapshot has, and returns it. */
  async check(cache: ConfigCache): Promise<number> {
    const askedAt = performance.now();
    const { rows } = await this.send(READ_VERSION, [], 'arrays');
    const version = (rows as number[][])[0]![0]!;
    cache.see(version, askedAt);
    return version;
  }

  /** Nobody waits for it: what was read is committed already. */
  end(how: 'COMMIT' | 'ROLLBACK', drop = false): void {
    if (!this.#session) return;
    if (drop) this.#session.drop();
    else if (this.#isOne) this.#connection?.sendText(how).catch(() => {}); // the connection is lost, and the next read opens another one
    this.#lender.giveBack(this.#session);
    this.#session = null;
  }

  async #begin(): Promise<PostgresConnection> {
    this.#session = await this.#lender.take();
    this.#connection = await this.#session.connection();
    if (this.#isOne) this.#connection.sendText(BEGIN).catch(() => {}); // the statement behind it fails as well
    return this.#connection;
  }
}

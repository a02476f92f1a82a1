// One transaction of the writing connection, from BEGIN to what became of its COMMIT.
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '../../../base/errors.ts';
import type { ConfigCache } from './config-cache.ts';
import type { Answer, PostgresConnection } from './connection.ts';
import { isConnectionLost } from './database-fault.ts';
import type { Session } from './session.ts';
import type { Statement } from './statements.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL SERIALIZABLE';

/**
 * Groups of mail take turns across nodes. They add to the same counters and insert next to each other in the same pages of
 * indexes, so two at the same time would mostly fail one another, try again, and fail others. A group is short and takes up
 * all that waits, so turns cost less. LOCK is the one statement that waits before the transaction has its snapshot: a
 * counter that the group before has changed is read as it is now. The mode only conflicts with itself, and with VACUUM of
 * this small table.
 */
const TAKE_TURN = 'LOCK TABLE meta IN SHARE UPDATE EXCLUSIVE MODE';
const OPEN: Statement = {
  name: 'open',
  text: 'SELECT pg_current_xact_id()::text, version FROM config_version',
  names: [],
};
const RAISE_VERSION: Statement = {
  name: 'raise_version',
  text: 'UPDATE config_version SET version = version + 1 RETURNING version',
  names: [],
};
const STATUS: Statement = { name: 'status', text: 'SELECT pg_xact_status($1::xid8)', names: [] };

/** BEGIN, what is asked with it, and COMMIT. */
const STATEMENTS_AROUND = 3;

/** How long the fate of a commit is looked for; a failover takes some seconds. */
const FIND_OUT_MS = 10_000;
const ASK_AGAIN_MS = 100;

/**
 * It is SERIALIZABLE, whatever it does. The verbs are written as if no other ran beside them: they look and then write,
 * and on SQLite nothing comes in between. PostgreSQL guarantees the same for transactions that all are SERIALIZABLE, and
 * fails one of two that would break it; it protects none against a READ COMMITTED one. A verb that is to run in a weaker
 * level needs its own proof against every other verb.
 *
 * A connection that is lost during COMMIT leaves it unknown whether the commit took effect. So each transaction asks for
 * its number first, and the server that is reached next says what became of it. After a promotion the numbers of the old
 * primary mean nothing: another transaction may have got the same one.
 */
export class WriteTransaction {
  readonly #session: Session;
  readonly #connection: PostgresConnection;
  readonly #number: string;
  #statements = STATEMENTS_AROUND;

  private constructor(session: Session, connection: PostgresConnection, number: string) {
    this.#session = session;
    this.#connection = connection;
    this.#number = number;
  }

  static async begin(session: Session, cache: ConfigCache, takesTurn: boolean): Promise<WriteTransaction> {
    const connection = await session.connection();
    const askedAt = performance.now();
    const begun = connection.sendText(takesTurn ? `${BEGIN}; ${TAKE_TURN}` : BEGIN);
    const opened = connection.send(OPEN, [], 'arrays');
    // What fails first says why.
    await Promise.all([begun, opened]).catch((error: unknown) => {
      connection.sendText('ROLLBACK').catch(() => {}); // of a connection that is lost
      throw error;
    });
    const { rows } = await opened;
    const [number, version] = (rows as [string, number][])[0]!;
    cache.see(version, askedAt);
    return new WriteTransaction(session, connection, number);
  }

  send(statement: Statement, values: unknown[], rows: 'objects' | 'arrays'): Promise<Answer> {
    this.#statements++;
    return this.#connection.send(statement, values, rows);
  }

  /** How many it has sent, with its COMMIT. */
  get statements(): number {
    return this.#statements;
  }

  /** All nodes drop what they have cached. Returns the new version. */
  async raiseVersion(): Promise<number> {
    const { rows } = await this.#connection.send(RAISE_VERSION, [], 'arrays');
    return (rows as number[][])[0]![0]!;
  }

  /** Returns when it is committed; throws when it is not, or when nobody knows. */
  async commit(): Promise<void> {
    try {
      const { command } = await this.#connection.sendText('COMMIT');
      if (command !== 'COMMIT') throw new Fault('the database could not be used', { detail: 'COMMIT rolled back' });
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      if (!(await this.#wasCommitted(error))) throw error;
    }
  }

  /** Nobody waits for it: the next transaction comes behind it. */
  rollBack(): void {
    this.#connection.sendText('ROLLBACK').catch(() => {}); // the server rolls back what a lost connection has begun
  }

  async #wasCommitted(cause: unknown): Promise<boolean> {
    const { timeline } = this.#connection;
    for (const until = performance.now() + FIND_OUT_MS; performance.now() < until; await pause(ASK_AGAIN_MS)) {
      const connection = await this.#session.connection().catch(() => null);
      if (!connection) continue;
      if (connection.timeline !== timeline) break;
      const status = await statusOf(connection, this.#number);
      if (status === 'committed') return true;
      if (status === 'aborted') return false;
    }
    throw new Fault('the database could not be used', {
      detail: 'the connection was lost during COMMIT: what was written may or may not be there',
      cause,
    });
  }
}

/** Null: not known yet. */
async function statusOf(connection: PostgresConnection, number: string): Promise<string | null> {
  try {
    const { rows } = await connection.send(STATUS, [number], 'arrays');
    return (rows as (string | null)[][])[0]![0]!;
  } catch (error) {
    if (isConnectionLost(error)) return null;
    throw error;
  }
}

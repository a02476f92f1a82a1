// One transaction of the writing connection, from BEGIN to what became of its COMMIT.
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault, InDoubt } from '../../../base/errors.ts';
import type { ConfigCache } from './config-cache.ts';
import type { Answer, PostgresConnection } from './connection.ts';
import { codeOf, isConnectionLost } from './database-fault.ts';
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
export const TAKE_TURN = 'LOCK TABLE meta IN SHARE UPDATE EXCLUSIVE MODE';
/** Longer than a node that halts in its own turn keeps it, and less than a statement may take. */
const PATIENCE = "SET LOCAL lock_timeout = '8s'";
const AS_USUAL = 'SET LOCAL lock_timeout TO DEFAULT';
/**
 * Whoever stops waiting for a lock and asks again comes behind the others. So a turn that did not come in the usual time is
 * asked for once more, and waited for.
 */
const BEGINNINGS = {
  'without a turn': BEGIN,
  'in turn': `${BEGIN}; ${TAKE_TURN}`,
  'in turn, patiently': `${BEGIN}; ${PATIENCE}; ${TAKE_TURN}; ${AS_USUAL}`,
} as const;

export type Beginning = keyof typeof BEGINNINGS;

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
/**
 * A new row, and not one that is updated: beside a reader that keeps its snapshot, each look-up of that would step over all its
 * versions since. The one before is found by its place: a look along the index, or over all of a small table, would be in the
 * way of all nodes that add to it, since the transaction is SERIALIZABLE. Only a rewrite of the table puts another row there.
 */
const BY_PLACE_ALONE = 'SET LOCAL enable_seqscan = off';
const LEAVE_MARK: Statement = {
  name: 'leave_mark',
  text: `WITH before AS (DELETE FROM commit_marks WHERE ctid = $2::tid AND mark::text = $3)
    INSERT INTO commit_marks (mark, left_at) VALUES ($1, now()) RETURNING ctid::text`,
  names: [],
};
const FIND_MARK: Statement = { name: 'find_mark', text: 'SELECT 1 FROM commit_marks WHERE mark = $1', names: [] };
/** Nothing waits for it, and it waits for nothing: not for a standby, nor for a daemon that wrote nothing for so long. */
const FORGET_MARKS = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off;
  DELETE FROM commit_marks WHERE mark IN
    (SELECT mark FROM commit_marks WHERE left_at < now() - interval '1 day' FOR UPDATE SKIP LOCKED);
  COMMIT`;
/** A commit that writes to the log, and so waits for the synchronous standby: what came before it is there by then, too. */
const CONFIRM = "SELECT pg_logical_emit_message(true, 'postrider', '')";
/** What PostgreSQL says of a number that it has not given out: an invalid parameter. */
const IN_THE_FUTURE = '22023';
const STATUS: Statement = { name: 'status', text: 'SELECT pg_xact_status($1::xid8)', names: [] };

/** BEGIN, what is asked with it, the two of the mark, and COMMIT. */
const STATEMENTS_AROUND = 5;

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
 * its number first, and the server that is reached next says what became of it. "Committed" only means there: whoever
 * answers has to know that the standby has it as well, so one more commit waits for it. After a promotion the numbers of the old
 * primary mean nothing: another transaction may have got the same one. So it may after a crash, which loses what was not
 * flushed yet, the numbers given out with it. A mark of its own tells a transaction from such another one: a row that stays
 * until the next transaction of the node.
 */
export class WriteTransaction {
  readonly #session: Session;
  readonly #connection: PostgresConnection;
  readonly #number: string;
  readonly #mark = randomUUID();
  /** Of what is cached, in its snapshot. */
  readonly version: number;
  #statements = STATEMENTS_AROUND;

  private constructor(session: Session, connection: PostgresConnection, opened: [string, number]) {
    this.#session = session;
    this.#connection = connection;
    [this.#number, this.version] = opened;
  }

  static async begin(session: Session, cache: ConfigCache, how: Beginning): Promise<WriteTransaction> {
    const connection = await session.connection();
    const askedAt = performance.now();
    const begun = connection.sendText(BEGINNINGS[how]);
    const opened = connection.send(OPEN, [], 'arrays');
    const { rows } = await lastOf([begun, opened]).catch((error) => {
      connection.sendText('ROLLBACK').catch(() => {}); // of a connection that is lost
      throw error;
    });
    const transaction = new WriteTransaction(session, connection, (rows as [string, number][])[0]!);
    cache.see(transaction.version, askedAt);
    return transaction;
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
      const { place = null, mark = null } = this.#session.lastMark ?? {};
      const prepared = this.#connection.sendText(BY_PLACE_ALONE);
      const marked = this.#connection.send(LEAVE_MARK, [this.#mark, place, mark], 'arrays');
      const { command } = await lastOf([prepared, marked, this.#connection.sendText('COMMIT')]);
      if (command !== 'COMMIT') throw new Fault('the database could not be used', { detail: 'COMMIT rolled back' });
      const [row] = (await marked).rows as [string][];
      this.#session.lastMark = { mark: this.#mark, place: row![0] };
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
    let status: string | null = null;
    for (const until = performance.now() + FIND_OUT_MS; performance.now() < until; await pause(ASK_AGAIN_MS)) {
      const connection = await this.#session.connection().catch(() => null);
      if (!connection) continue;
      if (connection.timeline !== timeline) break;
      status = await orLost(() => statusOf(connection, this.#number));
      if (status === 'aborted') return false;
      if (status !== 'committed') continue;
      const isOurs = await orLost(() => this.#isMarked(connection));
      if (isOurs === false) return false;
      if (isOurs && (await orLost(() => connection.sendText(CONFIRM)))) return true;
    }
    throw new InDoubt('the database could not be used', { detail: whatIsUnknown(status), cause });
  }

  async #isMarked(connection: PostgresConnection): Promise<boolean> {
    const { rows } = await connection.send(FIND_MARK, [this.#mark], 'arrays');
    return rows.length > 0;
  }
}

/** What daemons that are gone have left. */
export async function forgetOldMarks(connection: PostgresConnection): Promise<void> {
  await connection.sendText(FORGET_MARKS);
}

/**
 * The answer to the last of statements that were sent together. The first one that fails says why: what comes behind it only
 * says that the transaction has failed, and can be rejected before it.
 */
async function lastOf(sent: readonly Promise<Answer>[]): Promise<Answer> {
  const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
  return sent.at(-1)!;
}

function whatIsUnknown(status: string | null): string {
  const lost = 'the connection was lost during COMMIT';
  if (status === null) return `${lost}: what was written may or may not be there`;
  return `${lost}, and no standby has confirmed it, so it may count later: postrider doctor says whether one follows`;
}

async function statusOf(connection: PostgresConnection, number: string): Promise<string | null> {
  try {
    const { rows } = await connection.send(STATUS, [number], 'arrays');
    return (rows as (string | null)[][])[0]![0]!;
  } catch (error) {
    // The server does not know that it has given out this number: it has crashed since.
    if (codeOf(error) === IN_THE_FUTURE) return 'aborted';
    throw error;
  }
}

/** Null: the connection is lost. */
async function orLost<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (isConnectionLost(error)) return null;
    throw error;
  }
}

// One connection to PostgreSQL. Only this file and what it is made of (prepared.ts, copy-in.ts) know `pg`. Statements are sent
// without waiting for the answers to those before them. A connection that has not answered for a while is ended: the server's
// machine may be gone, and TCP would wait for many minutes.
import { Socket } from 'node:net';
import { Client, type QueryResult } from 'pg';
import { Fault, Unavailable } from '../../../base/errors.ts';
import { CopyIn } from './copy-in.ts';
import { isConnectionLost } from './database-fault.ts';
import { Prepared, type PreparedResult, type Shapes } from './prepared.ts';
import { type HostAddress, isSocketFolder, type ServerAddress } from './server-address.ts';
import type { ServerNote } from './server-note.ts';
import type { Statement } from './statements.ts';
import { restoreText, TYPES, toParameter } from './values.ts';

export const SCHEMA = 'postrider';
const OLDEST_SERVER = 15;

/** Server names and passwords are wrong more often than servers are this slow. */
const CONNECT_MS = 5000;
const TIMEOUTS = { lockMs: 2000, statementMs: 10_000, idleMs: 5000 } as const;
/** Longer than any statement may take: the server's own limit comes first, and says why. */
const SILENCE_MS = TIMEOUTS.statementMs + 2000;
const KEEP_ALIVE_AFTER_MS = 10_000;
/**
 * Where PostgreSQL warns that a commit no longer waits for a synchronous standby, since somebody canceled the statement. It
 * then answers as if it were on both; the words are in the server's language, this name is not.
 */
const UNCONFIRMED = 'SyncRepWaitForLSN';
/** The longest that a timer can wait. */
const ENDLESS_MS = 2 ** 31 - 1;

/**
 * Statements look rows up along an index, and read no further than their limit, as on SQLite. The planner may think otherwise: it
 * takes the LIMIT of a prepared statement for a tenth of the table, and its statistics may be from when the table was empty.
 * Then it reads a whole table, or sorts all of a tenant's messages for a page of ten. There is one way for all values, so each
 * statement is planned once, and not at each use: that was a fifth of the server's time for a message.
 */
const PLANNING = [
  '-c enable_seqscan=off -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off',
  '-c random_page_cost=1.1 -c plan_cache_mode=force_generic_plan',
].join(' ');

export interface ConnectionTerms {
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** For migrations, which may wait and take long: no timeouts. */
  patient?: boolean;
  /** For one statement, if less than usual. */
  statementMs?: number;
  /** How long it may not answer; tests are less patient. */
  silenceMs?: number;
}

/** `command`: `COMMIT`, `SELECT` and so on, as the server calls what it did. */
export type Answer = PreparedResult;

export class PostgresConnection {
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #silenceMs: number;
  #server: ServerNote = { system: '', timeline: '' };
  #unanswered = 0;
  #silence: NodeJS.Timeout | undefined;
  #lost: unknown = null;
  readonly #listeners: ((payload: string) => void)[] = [];
  readonly #shapes: Shapes = new Map();
  #isHolding = false;

  constructor({ client, socket }: Started, silenceMs: number) {
    this.#client = client;
    this.#socket = socket;
    this.#silenceMs = silenceMs;
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error('Connection terminated')));
    client.on('notice', (notice) => {
      if ((notice as { routine?: string }).routine !== UNCONFIRMED) return;
      this.#lose(new Error('Connection terminated: a COMMIT was not confirmed by a standby'));
      this.destroy();
    });
    client.on('notification', ({ payload }) => {
      for (const listener of this.#listeners) listener(restoreText(payload ?? ''));
    });
  }

  /** Before anything else is asked: whether this is a server to work on. */
  async greet(): Promise<void> {
    const facts = this.sendText(`SELECT pg_is_in_recovery() AS standby,
      current_setting('server_version_num')::int / 10000 AS version, current_setting('server_encoding') AS encoding,
      CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`);
    // Some hosts of databases keep this from their users.
    const identity = this.sendText('SELECT system_identifier::text AS system FROM pg_control_system()').catch(
      () => null,
    );
    const [{ rows }, named] = await Promise.all([facts, identity]);
    const { standby, version, encoding, timeline } = rows[0] as Record<string, string | number>;
    const { system = '' } = (named?.rows[0] ?? {}) as { system?: string };
    if (standby) throw new Unavailable('it is a standby, and not the primary');
    requireServer(Number(version), String(encoding));
    this.#server = { system, timeline: String(timeline) };
  }

  get server(): ServerNote {
    return this.#server;
  }

  /** Transaction IDs are only comparable within one. */
  get timeline(): string {
    return this.#server.timeline;
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  /** Prepared once per connection. */
  send({ name, text }: Statement, values: unknown[], rows: 'objects' | 'arrays'): Promise<Answer> {
    const query = new Prepared({ name, text, values: values.map(toParameter), rows }, this.#shapes);
    return this.#answered(() => query.run((prepared) => void this.#client.query(prepared)));
  }

  /** For what is not worth preparing, such as BEGIN, or several statements without parameters. */
  sendText(text: string): Promise<Answer> {
    return this.#answered(async () => answerOf(await this.#client.query(text)));
  }

  /** COPY … FROM STDIN. Nothing else may be sent until it has been answered. */
  copyIn(text: string, chunks: AsyncIterable<Buffer>): Promise<Answer> {
    const query = new CopyIn(text, chunks);
    return this.#answered(async () => answerOf(await query.run((copying) => void this.#client.query(copying))));
  }

  onNotice(listener: (payload: string) => void): void {
    this.#listeners.push(listener);
  }

  async end(): Promise<void> {
    this.#listeners.length = 0;
    if (this.#lost) this.#socket.destroy();
    else await this.#client.end().catch(() => this.#socket.destroy());
  }

  /** Without a farewell: what is in flight fails. */
  destroy(): void {
    this.#socket.destroy();
  }

  async #answered(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#lost) throw this.#lost;
    this.#unanswered++;
    this.#silence ??= setTimeout(() => this.#socket.destroy(), this.#silenceMs);
    this.#holdForATurn();
    try {
      const answer = await ask();
      if (this.#lost) throw this.#lost;
      return answer;
    } catch (error) {
      // The server says why it ends a connection before it does.
      if (isConnectionLost(error)) this.#lose(error);
      throw error;
    } finally {
      this.#unanswered--;
      if (this.#unanswered > 0) this.#silence?.refresh();
      else this.#endSilence();
    }
  }

  /** What is asked in one turn is sent at once: the system is called once, and the server woken once. */
  #holdForATurn(): void {
    if (this.#isHolding) return;
    this.#isHolding = true;
    const { stream } = (this.#client as unknown as { connection: { stream: Socket } }).connection;
    stream.cork();
    process.nextTick(() => {
      this.#isHolding = false;
      stream.uncork();
    });
  }

  #endSilence(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }

  #lose(error: unknown): void {
    if (this.#lost) return;
    this.#lost = error;
    this.#endSilence();
  }
}

/** Of one host: see primary.ts. Throws when it is in recovery. */
export async function connectTo(
  address: ServerAddress,
  host: HostAddress,
  terms: ConnectionTerms,
): Promise<PostgresConnection> {
  const tls = isSocketFolder(host.host) ? null : address.tls;
  try {
    return await greeted(await startClient(address, host, terms, tls?.options), terms);
  } catch (error) {
    const offersNone = error instanceof Error && /does not support SSL/.test(error.message);
    if (!tls?.optional || !offersNone) throw error;
    return greeted(await startClient(address, host, terms, undefined), terms);
  }
}

interface Started {
  client: Client;
  socket: Socket;
}

async function startClient(
  { user, password, database }: ServerAddress,
  { host, port }: HostAddress,
  { applicationName, patient = false, statementMs = TIMEOUTS.statementMs }: ConnectionTerms,
  ssl: object | undefined,
): Promise<Started> {
  const socket = new Socket();
  const client = new Client({
    ...(ssl ? { ssl } : { ssl: false }),
    host,
    port,
    user,
    database,
    // As a function: an empty one would be looked for in the environment and in ~/.pgpass.
    password,
    stream: () => socket,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    lock_timeout: patient ? 0 : TIMEOUTS.lockMs,
    statement_timeout: patient ? 0 : statementMs,
    idle_in_transaction_session_timeout: patient ? 0 : TIMEOUTS.idleMs,
    // pg_temp last: nobody's temporary table is taken for one of ours. Our statements are too short for a compiler.
    options: `-c search_path=${SCHEMA},pg_temp -c jit=off ${patient ? '' : PLANNING}`,
    types: TYPES,
    pipeline: true,
  });
  // Until the connection has a listener of its own; a failure to connect is reported by the promise.
  client.on('error', () => {});
  try {
    await client.connect();
    return { client, socket };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function greeted(started: Started, { patient = false, silenceMs }: ConnectionTerms): Promise<PostgresConnection> {
  const connection = new PostgresConnection(started, silenceMs ?? (patient ? ENDLESS_MS : SILENCE_MS));
  try {
    await connection.greet();
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

function requireServer(version: number, encoding: string): void {
  const refuse = (problem: string) => new Fault(problem, { permanence: 'permanent' });
  if (version < OLDEST_SERVER) throw refuse(`it is PostgreSQL ${version}; ${OLDEST_SERVER} or newer is needed`);
  if (encoding !== 'UTF8') {
    throw refuse(`the database's encoding is ${encoding}: create one with ENCODING 'UTF8' TEMPLATE template0`);
  }
}

function answerOf(result: QueryResult | QueryResult[]): Answer {
  const last = Array.isArray(result) ? result.at(-1)! : result;
  const columns = last.fields.map(({ name }) => name);
  return { command: last.command, rows: last.rows, columns, changes: last.rowCount ?? 0 };
}

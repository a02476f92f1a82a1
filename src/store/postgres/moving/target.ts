// A PostgreSQL database that becomes a copy of a SQLite database. Rows and how many there are of each table are committed
// together, so a copy that was interrupted at any moment continues behind the last row that is here.
import { Fault } from '../../../base/errors.ts';
import { type PostgresConnection, SCHEMA } from '../engine/connection.ts';
import { COPY_MARK, type CopyMark, changeCopyMark, readCopyMark } from '../engine/copied-from.ts';
import { codeOf, isOutage, storeFault } from '../engine/database-fault.ts';
import { bringUpToDate } from '../engine/migrations.ts';
import { connect } from '../engine/primary.ts';
import { describeServer, type ServerAddress } from '../engine/server-address.ts';

/** The advisory lock of whoever makes the copy: "MOVE" in ASCII. */
const LOCK = 0x4d4f5645;
/** A copy that was killed holds the lock until the server notices, mostly at once. */
const LOCK_PATIENCE = '10s';

export interface TargetTable {
  name: string;
  columns: readonly string[];
}

export interface TableSum {
  rows: number;
  sum: string;
}

export class MoveTarget {
  readonly #connection: PostgresConnection;
  readonly address: ServerAddress;
  #mark: CopyMark | null = null;

  private constructor(connection: PostgresConnection, address: ServerAddress) {
    this.#connection = connection;
    this.address = address;
  }

  /** Its schema is this version's. Throws while another process makes a copy there. */
  static async open(address: ServerAddress): Promise<MoveTarget> {
    return opened(address, async (connection) => {
      await takeLock(connection, address);
      await bringUpToDate(connection, address);
      const target = new MoveTarget(connection, address);
      target.#mark = await readCopyMark(connection);
      return target;
    });
  }

  /** As it is, for the way back. */
  static async find(address: ServerAddress): Promise<MoveTarget> {
    return opened(address, async (connection) => {
      await takeLock(connection, address);
      const target = new MoveTarget(connection, address);
      const { rows } = await connection.sendText(`SELECT to_regclass('${SCHEMA}.meta') IS NOT NULL AS "isThere"`);
      if ((rows[0] as { isThere: number }).isThere) target.#mark = await readCopyMark(connection);
      return target;
    });
  }

  get mark(): CopyMark | null {
    return this.#mark;
  }

  /** Whether it has nothing but what the migrations put there. */
  async isEmpty(tables: readonly TargetTable[]): Promise<boolean> {
    const seeded = new Set(['meta', 'returned_room', 'unasked_room']);
    const others = tables.filter(({ name }) => !seeded.has(name));
    const text = `SELECT ${others.map(({ name }) => `EXISTS (SELECT 1 FROM ${name})`).join(' OR ')} AS any`;
    return ((await this.#connection.sendText(text)).rows[0] as { any: number }).any === 0;
  }

  /** Whatever is there goes. */
  async begin(
    tables: readonly TargetTable[],
    { id, source, at }: Pick<CopyMark, 'id' | 'source' | 'at'>,
  ): Promise<void> {
    const mark: CopyMark = { id, source, state: 'copying', at, rows: {} };
    const names = tables.map(({ name }) => name).filter((name) => name !== 'meta');
    await this.#inTransaction(async (connection) => {
      await connection.sendText(`TRUNCATE ${names.join(', ')} RESTART IDENTITY`);
      await connection.sendText(`DELETE FROM meta WHERE name NOT IN ('schema_version', 'migrated_by', 'usable_from')`);
      // They keep sums, which come from the source as they are.
      for (const name of await this.#tablesWithTriggers()) {
        await connection.sendText(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
      }
      const text = `INSERT INTO meta (name, value) VALUES ('${COPY_MARK}', $1)`;
      await connection.send({ name: 'note_copy', text, names: [] }, [JSON.stringify(mark)], 'arrays');
    });
    this.#mark = mark;
  }

  /** `chunks` are rows in COPY's binary format, `count` says how many they were. */
  async add({ name, columns }: TargetTable, chunks: AsyncIterable<Buffer>, count: () => number): Promise<void> {
    const before = this.#mark!;
    await this.#inTransaction(async (connection) => {
      const text = `COPY ${name} (${columns.join(', ')}) FROM STDIN (FORMAT binary)`;
      await connection.copyIn(text, chunks);
      const rows = { ...before.rows, [name]: (before.rows[name] ?? 0) + count() };
      await this.#change({ ...before, rows });
    });
  }

  /** Of the same bytes as RowSum. */
  async sum({ name, columns }: TargetTable, ownMeta: readonly string[]): Promise<TableSum> {
    const types = await this.#typesOf(name);
    const row = columns.map((column) => bytesOf(column, types.get(column)!)).join(' || ');
    const where = name === 'meta' ? `WHERE name NOT IN (${ownMeta.map((each) => `'${each}'`).join(', ')})` : '';
    const { rows } = await this.#connection.sendText(`SELECT count(*) AS rows,
      coalesce(sum(('x' || encode(substr(sha256(${row}), 1, 8), 'hex'))::bit(64)::bigint), 0)::text AS sum FROM ${name} ${where}`);
    return rows[0] as TableSum;
  }

  /** `lastNumber`: of a table whose rows are numbered by the database. */
  async finish<T extends TargetTable>(
    tables: readonly T[],
    lastNumber: (table: T) => number,
    at: number,
  ): Promise<void> {
    const lastNumbers = new Map(tables.map((table) => [table.name, lastNumber(table)]));
    const before = this.#mark!;
    await this.#inTransaction(async (connection) => {
      for (const [table, column] of await this.#numberedColumns()) {
        const last = `greatest((SELECT max(${column}) FROM ${table}), ${lastNumbers.get(table) ?? 0})`;
        await connection.sendText(
          `SELECT setval(pg_get_serial_sequence('${SCHEMA}.${table}', '${column}'), last) FROM (SELECT ${last} AS last) l WHERE last > 0`,
        );
      }
      for (const name of await this.#tablesWithTriggers()) {
        await connection.sendText(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
      }
      await this.#change({ ...before, state: 'complete', at });
    });
    // The planner knows nothing about the tables yet, and autovacuum needs a minute to notice.
    await this.#connection.sendText(`ANALYZE ${tables.map(({ name }) => name).join(', ')}`).catch(() => {});
  }

  /** Nothing will ever use the copy; the next one begins from the start. */
  async giveUp(at: number): Promise<void> {
    await this.#change({ ...this.#mark!, state: 'void', at });
  }

  async close(): Promise<void> {
    await this.#connection.end();
  }

  async #change(to: CopyMark): Promise<void> {
    if (!(await changeCopyMark(this.#connection, this.#mark!, to))) {
      throw new Fault(`the database ${describeServer(this.address)} was taken into use meanwhile`, {
        permanence: 'permanent',
      });
    }
    this.#mark = to;
  }

  async #inTransaction(work: (connection: PostgresConnection) => Promise<void>): Promise<void> {
    const before = this.#mark;
    try {
      await this.#connection.sendText('BEGIN');
      await work(this.#connection);
      const { command } = await this.#connection.sendText('COMMIT');
      if (command !== 'COMMIT') throw new Fault(`PostgreSQL answered ${command} to a COMMIT: run the command again`);
    } catch (error) {
      this.#mark = before;
      await this.#connection.sendText('ROLLBACK').catch(() => {}); // the server does it when the connection is lost
      throw error;
    }
  }

  async #tablesWithTriggers(): Promise<string[]> {
    const { rows } = await this.#connection.sendText(`SELECT DISTINCT c.relname AS name FROM pg_trigger t
      JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = '${SCHEMA}' AND NOT t.tgisinternal ORDER BY 1`);
    return (rows as { name: string }[]).map(({ name }) => name);
  }

  async #numberedColumns(): Promise<[table: string, column: string][]> {
    const { rows } = await this.#connection.sendText(`SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = '${SCHEMA}' AND is_identity = 'YES' ORDER BY 1`);
    return (rows as Record<string, string>[]).map((row) => [row.table_name!, row.column_name!]);
  }

  async #typesOf(table: string): Promise<Map<string, string>> {
    const { rows } = await this.#connection.sendText(`SELECT column_name, data_type FROM information_schema.columns
      WHERE table_schema = '${SCHEMA}' AND table_name = '${table}'`);
    return new Map((rows as Record<string, string>[]).map((row) => [row.column_name!, row.data_type!]));
  }
}

async function opened<T>(address: ServerAddress, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
  const connection = await connect(address, { applicationName: 'postrider-migrate-to', patient: true });
  try {
    return await work(connection);
  } catch (error) {
    connection.destroy();
    throw storeFault(error);
  }
}

async function takeLock(connection: PostgresConnection, address: ServerAddress): Promise<void> {
  // Whatever the server, the database or the user has by default: a table of many GiB takes its time.
  await connection.sendText('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0');
  // So that a copy that was killed does not hold its lock until the end of a long statement. Not every system has it.
  await connection.sendText("SET client_connection_check_interval = '1s'").catch(() => {});
  try {
    await connection.sendText(`SET lock_timeout = '${LOCK_PATIENCE}'; SELECT pg_advisory_lock(${LOCK})`);
  } catch (cause) {
    if (codeOf(cause) !== '55P03') throw cause;
    const message = `another postrider migrate copies into the database ${describeServer(address)}: wait for it, or end it first`;
    throw new Fault(message, { permanence: 'permanent', cause });
  }
}

/** The number of the row that the server refused, from 1 in its piece; null: it is not about one row. */
export function refusedRow(error: unknown): number | null {
  // A server that stops, or has no room, names the row at which it did.
  if (isOutage(error)) return null;
  const { where } = error as { where?: unknown };
  const [, line] = typeof where === 'string' ? (/^COPY \w+, line (\d+)/.exec(where) ?? []) : [];
  return line === undefined ? null : Number(line);
}

/** As the binary format of COPY has them. */
function bytesOf(column: string, type: string): string {
  const value: Record<string, string> = {
    bytea: `int4send(octet_length(${column})) || ${column}`,
    text: `int4send(octet_length(${column})) || convert_to(${column}, 'UTF8')`,
    bigint: `int4send(8) || int8send(${column})`,
    'double precision': `int4send(8) || float8send(${column})`,
  };
  return `coalesce(${value[type]!}, int4send(-1))`;
}

// A SQLite database with rows in every table, among them values that are easily changed on the way; and all rows of either
// database, read by other means than the copy's.
import Database from 'better-sqlite3';
import { restoreText } from '../../../../src/store/postgres/engine/values.ts';
import type { PostgresServer } from '../../../support/postgres-server.ts';

/** NUL, the escape of NUL, a byte order mark, what COPY's text format escapes, and a character of four bytes. */
const STRANGE_TEXT = '\ufeffa\0b\uffff0\uffff1\\N\\.\t\r\n\u2028😀';
/** No double can hold it. */
const STRANGE_INTEGER = 9_007_199_254_740_993n;
const STRANGE_BYTES = Buffer.from([0, 0xff, 0x5c, 0x78, 0x0a, 0]);

/** What the constraints allow. */
const ALLOWED: Readonly<Record<string, unknown>> = {
  'attempts.outcome': 'temporary',
  'attempts.tls_policy': 'testing',
  'mail_links.purpose': 'reset',
  'mail_links.role': 'owner',
  'messages.copy': 'cc',
  'messages.bounce': 'soft',
  'messages.state': 'queued',
  'messages.complaint_weight': 0.1,
  'suspensions.scope': 'group',
  'tag_figures.step_hours': 24,
  'tenants.status': 'active',
  'tenants.tier': '1k',
  'users.role': 'viewer',
  'webhook_deliveries.state': 'due',
  'operator_notes.action': 'retry',
  'queue_pauses.kind': 'group',
  'suppressions.reason': 'manual',
  'domains.state': 'pending',
  'audit.actor': 'system',
  'api_keys.scopes': '[]',
  'tls_policies.mode': 'none',
  'inbound_mails.kind': 'human',
  'inbound_mails.effect': 'kept',
};
/** They have their one row from the start. */
const OF_ONE_ROW = ['returned_room', 'unasked_room'];

interface Column {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

/** Two rows more in each table: one with NULL where it may be, one with strange values. Returns the tables. */
export function fillEveryTable(file: string): string[] {
  const db = new Database(file);
  // Tables in the order of their names: those that are referred to may come later.
  db.pragma('foreign_keys = OFF');
  const tables = tablesOf(db);
  for (const table of tables.filter((name) => !OF_ONE_ROW.includes(name))) {
    for (const row of [0, 1]) insertRow(db, table, row);
  }
  const broken = db.pragma('foreign_key_check') as unknown[];
  db.close();
  if (broken.length > 0) throw new Error(`rows refer to nothing: ${JSON.stringify(broken)}`);
  return tables;
}

function insertRow(db: Database.Database, table: string, row: number): void {
  const columns = columnsOf(db, table);
  const parents = parentsOf(db, table);
  const values = columns.map(({ name, type, notnull, pk }) => {
    if (row === 0 && !notnull && !pk) return null;
    return parents.get(name) ?? ALLOWED[`${table}.${name}`] ?? strangeValue(type, `${table}.${name}`);
  });
  const own = values.map((value) => (value instanceof Strange ? value.of(row) : value));
  const holes = columns.map(() => '?').join(', ');
  db.prepare(`INSERT INTO ${table} (${columns.map(({ name }) => name).join(', ')}) VALUES (${holes})`).run(...own);
}

/** A value for each row of its column. */
class Strange {
  readonly #type: string;
  readonly #column: string;

  constructor(type: string, column: string) {
    this.#type = type;
    this.#column = column;
  }

  of(row: number): unknown {
    const distinct = `${this.#column} ${row}`;
    if (this.#type === 'TEXT') return `${STRANGE_TEXT}${distinct}`;
    if (this.#type === 'BLOB') return Buffer.concat([STRANGE_BYTES, Buffer.from(distinct)]);
    return this.#type === 'INTEGER' ? STRANGE_INTEGER + BigInt(row) : Number.MAX_VALUE;
  }
}

function strangeValue(type: string, column: string): Strange {
  return new Strange(type, column);
}

/** By the column that refers to it: the value of the parent's row with the same number. */
function parentsOf(db: Database.Database, table: string): Map<string, Strange> {
  const keys = db.pragma(`foreign_key_list(${table})`) as { from: string; table: string; to: string }[];
  return new Map(
    keys.map((key) => {
      const { type } = columnsOf(db, key.table).find(({ name }) => name === key.to)!;
      return [key.from, strangeValue(type, `${key.table}.${key.to}`)];
    }),
  );
}

function columnsOf(db: Database.Database, table: string): Column[] {
  return db.pragma(`table_info(${table})`) as Column[];
}

function tablesOf(db: Database.Database): string[] {
  const text = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
  return db.prepare(text).pluck().all() as string[];
}

/** All rows as texts, sorted; without what each database knows about itself. */
export type Rows = Map<string, string[]>;

const ABOUT_ITSELF = ['schema_version', 'migrated_by', 'usable_from', 'moved_to', 'copied_from'];
/** The copy has other values there: no process holds a lease. */
const LEASES = ['slots', 'timers'];

export function rowsInSqlite(file: string): Rows {
  const db = new Database(file, { readonly: true });
  try {
    return new Map(
      tablesOf(db).map((table) => {
        const rows = db.prepare(`SELECT * FROM ${table}`).safeIntegers().all() as Record<string, unknown>[];
        return [table, textsOf(table, rows)];
      }),
    );
  } finally {
    db.close();
  }
}

export async function rowsInPostgres(
  server: PostgresServer,
  database: string,
  tables: Iterable<string>,
): Promise<Rows> {
  const found: Rows = new Map();
  for (const table of tables) {
    const { rows } = await server.run(database, `SELECT * FROM postrider.${table}`);
    found.set(table, textsOf(table, rows as Record<string, unknown>[], restoreText));
  }
  return found;
}

function textsOf(table: string, rows: Record<string, unknown>[], restore = (text: string) => text): string[] {
  const texts = rows
    .filter(({ name }) => table !== 'meta' || !ABOUT_ITSELF.includes(String(name)))
    .map((row) => {
      const values = Object.entries(row).map(([column, value]) => [
        column,
        LEASES.includes(table) && column === 'lease_until' ? '0' : asText(value, restore),
      ]);
      return JSON.stringify(Object.fromEntries(values.toSorted(([a], [b]) => (a! < b! ? -1 : 1))));
    });
  return texts.sort();
}

function asText(value: unknown, restore: (text: string) => string): string | null {
  if (value === null) return null;
  if (Buffer.isBuffer(value)) return `bytes ${value.toString('hex')}`;
  return typeof value === 'string' ? restore(value) : String(value);
}

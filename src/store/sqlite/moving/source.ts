// The tables of a SQLite database as they are copied to PostgreSQL: in the order of their foreign keys, the rows of each in
// the order of its primary key. Nothing writes while it is read, so a number of rows says how far a copy has got.
import type Database from 'better-sqlite3';
import { openForReading } from '../engine/database-file.ts';
import { schemaVersion } from '../engine/migrations.ts';
import { MOVED_MARK, type MovedMark, movedMark } from '../engine/moved-mark.ts';

export interface SourceTable {
  name: string;
  columns: string[];
  /** Of the primary key. */
  key: string[];
}

/** In place of what is stored. A lease that lasts until the process ends has ended: no process holds the data folder. */
const VALUES: Readonly<Record<string, string>> = { 'slots.lease_until': '0', 'timers.lease_until': '0' };

/** Rows of `meta` about the database itself, in either of the two. */
export const OWN_META: readonly string[] = ['schema_version', 'migrated_by', 'usable_from', MOVED_MARK, 'copied_from'];

export class MoveSource {
  readonly #db: Database.Database;
  readonly tables: readonly SourceTable[];

  constructor(file: string) {
    this.#db = openForReading(file);
    this.tables = inOrderOfForeignKeys(this.#db).map((name) => describeTable(this.#db, name));
  }

  get schema(): number {
    return schemaVersion(this.#db);
  }

  get mark(): MovedMark | null {
    return movedMark(this.#db);
  }

  count({ name }: SourceTable): number {
    return this.#db
      .prepare(`SELECT count(*) FROM ${name}${whereOf(name)}`)
      .pluck()
      .get() as number;
  }

  /** Values in the order of the table's columns; integers are bigints. */
  rows({ name, columns, key }: SourceTable, after: number): IterableIterator<unknown[]> {
    const values = columns.map((column) => VALUES[`${name}.${column}`] ?? column);
    const text = `SELECT ${values.join(', ')} FROM ${name}${whereOf(name)} ORDER BY ${key.join(', ')} LIMIT -1 OFFSET +?`;
    return this.#db.prepare(text).raw().safeIntegers().iterate(after) as IterableIterator<unknown[]>;
  }

  /** For people: the primary key of one row, by its place. */
  describeRow({ name, key }: SourceTable, place: number): string {
    const values = key.map((column) => `quote(${column})`).join(` || ', ' || `);
    const text = `SELECT ${values} FROM ${name}${whereOf(name)} ORDER BY ${key.join(', ')} LIMIT 1 OFFSET +?`;
    const found = this.#db.prepare(text).pluck().get(place) as string | undefined;
    return `${key.join(', ')} = ${found ?? 'unknown'}`;
  }

  /** The largest number that a table has ever given to a row, where SQLite keeps that. */
  lastNumber({ name }: SourceTable): number {
    return (this.#db.prepare('SELECT seq FROM sqlite_sequence WHERE name = +?').pluck().get(name) as number) ?? 0;
  }

  close(): void {
    this.#db.close();
  }
}

function whereOf(table: string): string {
  return table === 'meta' ? ` WHERE name NOT IN (${OWN_META.map((name) => `'${name}'`).join(', ')})` : '';
}

function describeTable(db: Database.Database, name: string): SourceTable {
  const columns = db.pragma(`table_info(${name})`) as { name: string; pk: number }[];
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  return { name, columns: columns.map((column) => column.name), key: key.map((column) => column.name) };
}

/** Each table behind those that its rows refer to. */
function inOrderOfForeignKeys(db: Database.Database): string[] {
  const all = db
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )
    .pluck()
    .all() as string[];
  const ordered = new Set<string>();
  const add = (name: string): void => {
    if (ordered.has(name)) return;
    const keys = db.pragma(`foreign_key_list(${name})`) as { table: string }[];
    for (const { table } of keys) if (table !== name) add(table);
    ordered.add(name);
  };
  for (const name of all) add(name);
  return [...ordered];
}

// Numbered migrations from schema/sqlite/NNNN-name.sql, applied in order, all that are due in one
// transaction. The number of the last one is the database's user_version.
import Database from 'better-sqlite3';
import { Fault } from '../../../base/errors.ts';
import { programVersion } from '../../../base/program-version.ts';
import { type Migration, migrationsIn } from '../../sql/known-migrations.ts';
import { movedAway } from './moved-mark.ts';

const FOLDER = new URL('../../../../schema/sqlite/', import.meta.url);

// Lets `file` and other tools identify the database: "POST" in ASCII.
const APPLICATION_ID = 0x504f5354;

export function knownMigrations(): Migration[] {
  return migrationsIn(FOLDER);
}

export function schemaVersion(db: Database.Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

/** Brings the database up to date; refuses one that a newer Postrider has written. Returns what it applied. */
export function migrate(db: Database.Database): string[] {
  requireCompatible(db);
  const current = schemaVersion(db);
  const due = knownMigrations().filter((migration) => migration.version > current);
  if (due.length === 0) return [];
  // A table is changed by making a new one, and dropping the old one must not erase the rows that refer to it.
  db.pragma('foreign_keys = OFF');
  try {
    // In one piece: when one of them fails, the version before still starts.
    inTransaction(db, due);
  } catch (cause) {
    if (!(cause instanceof Database.SqliteError) || cause.code !== 'SQLITE_FULL' || current === 0) throw cause;
    throw new Fault(
      `the database ${db.name} could not be migrated from schema ${current} to ${newestSchema()}: the disk is full. It is unchanged, and the version before still works with it; free some space and start again`,
      { permanence: 'permanent', cause },
    );
  } finally {
    db.pragma('foreign_keys = ON');
  }
  return due.map((migration) => migration.name);
}

function inTransaction(db: Database.Database, migrations: Migration[]): void {
  db.transaction(() => {
    for (const { sql, version } of migrations) {
      db.exec(sql);
      db.pragma(`user_version = ${version}`);
    }
    db.pragma(`application_id = ${APPLICATION_ID}`);
    const note = `INSERT INTO meta (name, value) VALUES ('migrated_by', +?)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
    db.prepare(note).run(programVersion());
  }).immediate();
}

/** Changes nothing: a database that this Postrider must not use is left as it is. */
export function requireCompatible(db: Database.Database): void {
  const problem = incompatibilityOf(db);
  if (problem) throw new Fault(problem, { permanence: 'permanent' });
}

/** Why this Postrider can't use the database; null: it can. */
export function incompatibilityOf(db: Database.Database): string | null {
  const foreign = `the database ${db.name} was not made by Postrider`;
  try {
    const version = schemaVersion(db);
    const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() as number;
    const fresh = tables === 0 && version === 0;
    if (fresh) return null;
    if (!isOurs(db)) return foreign;
    const newest = newestSchema();
    if (version <= newest) return movedAway(db);
    return `the database ${db.name} has schema ${version}${migratedBy(db)}, and this Postrider knows schemas up to ${newest}: start the newer version, or restore a backup of the older one`;
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_NOTADB') return foreign;
    throw error;
  }
}

/** Which version is needed; older versions did not note it, and newer ones may do it elsewhere. */
function migratedBy(db: Database.Database): string {
  try {
    const version = db.prepare("SELECT value FROM meta WHERE name = 'migrated_by'").pluck().get();
    return typeof version === 'string' ? ` (of Postrider ${version})` : '';
  } catch {
    return '';
  }
}

/** Whether any version of Postrider has created this database. */
export function isOurs(db: Database.Database): boolean {
  return db.pragma('application_id', { simple: true }) === APPLICATION_ID;
}

export function newestSchema(): number {
  return knownMigrations().at(-1)!.version;
}

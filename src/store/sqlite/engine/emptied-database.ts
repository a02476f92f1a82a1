// A database that lost everything is not a new one: next to traces of earlier use it is refused, rather than silently
// started from scratch. Runs before the data folder is locked, since the lock would leave such a trace itself.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { Fault } from '../../../base/errors.ts';
import { openForReading } from './database-file.ts';

/** Files that exist in a data folder once Postrider has run in it. */
const TRACES = ['master.key', 'writer.lock'];

/** Throws for an empty file or one without tables where Postrider has run; a missing file counts as new. */
export function refuseEmptiedDatabase(file: string): void {
  const problem = emptiedProblem(file);
  if (problem !== null) throw new Fault(problem, { permanence: 'permanent' });
}

export function emptiedProblem(file: string): string | null {
  const folder = path.dirname(file);
  const traces = TRACES.filter((name) => fs.existsSync(path.join(folder, name)));
  if (traces.length === 0) return null;
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined || (size > 0 && !lacksTables(file))) return null;
  const what = size === 0 ? 'is empty' : 'has no tables';
  return `the database ${file} ${what}, but Postrider has run in this folder (${traces.join(' and ')}): what it held is gone. Put a backup in its place with postrider restore BACKUP --force; to begin again with nothing, remove the folder ${folder}`;
}

function lacksTables(file: string): boolean {
  let db: Database.Database | null = null;
  try {
    db = openForReading(file);
    return db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
  } catch (error) {
    // Any other problem is reported when the database is opened for use.
    if (error instanceof Database.SqliteError) return false;
    throw error;
  } finally {
    db?.close();
  }
}

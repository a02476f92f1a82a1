// Backup beside a running daemon, and restore. VACUUM INTO rewrites the copy row by row, so it contains nothing that
// was erased.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { describeError, Fault } from '../../../base/errors.ts';
import { systemWords } from '../../../base/text/system-words.ts';
import { openForReading } from './database-file.ts';
import { isOurs, newestSchema, schemaVersion } from './migrations.ts';
import { movedAway } from './moved-mark.ts';

/** Writes a consistent copy of the database `file` to `target`, which must not exist yet. */
export async function backupDatabase(file: string, target: string): Promise<void> {
  const db = openForReading(file);
  try {
    // What came since is not in this file: a copy of it would look like a backup, and be none.
    const moved = movedAway(db);
    if (moved !== null) throw new Fault(moved, { permanence: 'permanent' });
    createPrivate(target);
    await copyInto(db, target);
  } finally {
    db.close();
  }
}

/**
 * Puts a backup in place of `file`. The caller holds the data lock: no daemon runs. `prepare` changes the copy before it
 * counts: when it fails, or the power does, the database is as it was.
 */
export async function restoreDatabase(
  source: string,
  file: string,
  prepare: (incoming: string) => Promise<void> = async () => {},
): Promise<void> {
  const db = openBackup(source);
  const incoming = `${file}.incoming`;
  try {
    removeDatabase(incoming); // what an interrupted restore has left
    createPrivate(incoming);
    await copyInto(db, incoming);
  } finally {
    db.close();
  }
  try {
    await prepare(incoming);
    syncToDisk(incoming);
  } catch (error) {
    removeDatabase(incoming);
    throw error;
  }
  // A write-ahead log left beside the new file would be applied to it.
  for (const suffix of ['-wal', '-shm']) fs.rmSync(file + suffix, { force: true });
  fs.renameSync(incoming, file);
  syncToDisk(path.dirname(file));
}

function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) fs.rmSync(file + suffix, { force: true });
}

/** The copy holds all that the original holds: nobody else may read it, not even while it is written. */
function createPrivate(file: string): void {
  try {
    fs.closeSync(fs.openSync(file, 'wx', 0o600));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? `there is no folder ${path.dirname(file)}: make it first` : systemWords(cause);
    const message = code === 'EEXIST' ? `${file} already exists` : `${file} cannot be written: ${problem}`;
    throw new Fault(message, { permanence: 'permanent', cause });
  }
}

async function copyInto(db: Database.Database, target: string): Promise<void> {
  try {
    // One statement is one snapshot, whatever the daemon commits meanwhile. A copy of pages would include free ones.
    db.prepare('VACUUM INTO +?').run(target);
    makeSelfContained(target);
    syncToDisk(target); // some versions of SQLite don't sync after VACUUM INTO
  } catch (error) {
    fs.rmSync(target, { force: true });
    throw error;
  }
}

/** Whether a copy failed because there is no room for it. */
export function isFull(thrown: unknown): boolean {
  const { code } = thrown as { code?: unknown };
  return code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT';
}

/** Without a write-ahead log the copy is one file, which can be read from read-only media too. */
function makeSelfContained(file: string): void {
  const db = new Database(file);
  try {
    db.pragma('journal_mode = DELETE');
  } finally {
    db.close();
  }
}

function openBackup(source: string): Database.Database {
  const refuse = (problem: string, cause?: unknown) =>
    new Fault(`${source} cannot be restored: ${problem}`, { permanence: 'permanent', cause });
  try {
    if (fs.statSync(source).isDirectory()) throw refuse('it is a folder, and the file of a backup is expected');
    fs.accessSync(source, fs.constants.R_OK);
  } catch (cause) {
    throw cause instanceof Fault ? cause : refuse(systemWords(cause), cause);
  }
  let db: Database.Database | null = null;
  try {
    db = openForReading(source);
    const problem = backupProblem(db);
    if (problem === null) return db;
    throw refuse(problem);
  } catch (error) {
    db?.close();
    throw error instanceof Fault ? error : refuse(describeError(error), error);
  }
}

function backupProblem(db: Database.Database): string | null {
  const version = schemaVersion(db);
  if (!isOurs(db) || version === 0) return 'it is no Postrider database';
  const newest = newestSchema();
  if (version > newest) return `its schema is ${version}, and this Postrider knows schemas up to ${newest}`;
  const verdict = db.pragma('integrity_check', { simple: true });
  return verdict === 'ok' ? null : `the integrity check says: ${String(verdict)}`;
}

/** Syncs a file, or a folder so that renames in it are durable. */
export function syncToDisk(path: string): void {
  const handle = fs.openSync(path, 'r');
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}

// Opens the database file with the settings that the rest of the driver relies on.
import fs from 'node:fs';
import Database from 'better-sqlite3';
import { Fault } from '../../../base/errors.ts';
import { requireCompatible } from './migrations.ts';
import { forgetUnfinishedMove } from './moved-mark.ts';

// How long a statement waits for a lock. With one writer only a backup or a checkpoint holds one, and only briefly.
export const BUSY_TIMEOUT_MS = 5000;
const PAGE_CACHE_KIB = 16 * 1024;
// Couriers and the main thread have one each, and read most pages once; the system caches the file as well.
const READER_CACHE_KIB = 4 * 1024;

export function openForWriting(file: string): Database.Database {
  // The write-ahead log takes its mode from the database, so the mode must be right before the log exists.
  // Only when there is no file: closing a file that SQLite has open in this process would drop its locks.
  if (!fs.existsSync(file)) fs.closeSync(fs.openSync(file, 'a', 0o600));
  const db = new Database(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    requireCompatible(db); // before another program's file is changed
    fs.chmodSync(file, 0o600);
    configure(db);
    forgetUnfinishedMove(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function configure(db: Database.Database): void {
  const mode = db.pragma('journal_mode = WAL', { simple: true });
  if (mode !== 'wal') throw new Fault('this file system cannot hold a write-ahead log', { permanence: 'permanent' });
  // FULL: a commit is on disk when it returns. With NORMAL, a power failure could lose what was answered with 202.
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma('trusted_schema = OFF');
  // Erased data is overwritten. FAST would leave pages with mail contents; ON adds 1.5 % to the log where mails come
  // and go, and no measurable processor time (2026-11-25).
  db.pragma('secure_delete = ON');
  db.pragma(`cache_size = -${PAGE_CACHE_KIB}`);
}

// How long a checkpoint waits for readers while the writer is paused; it is retried later.
export const CHECKPOINT_WAIT_MS = 20;

/** For the checkpoint thread, which writes nothing but what is in the log. */
export function openForCheckpoints(file: string): Database.Database {
  // The writer does not wait for it yet, and a connection that closes holds the file for a moment.
  const db = new Database(file, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  // The log is synced before it is copied, and the database before the log is reused.
  db.pragma('synchronous = FULL');
  db.pragma('trusted_schema = OFF');
  db.pragma(`busy_timeout = ${CHECKPOINT_WAIT_MS}`);
  return db;
}

/** SQLite's own default, for connections without a checkpoint thread. */
const PAGES_PER_CHECKPOINT = 1000;

export function checkpointInCommits(db: Database.Database, on: boolean): void {
  db.pragma(`wal_autocheckpoint = ${on ? PAGES_PER_CHECKPOINT : 0}`);
}

export function openForReading(file: string): Database.Database {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  db.pragma('trusted_schema = OFF');
  db.pragma(`cache_size = -${READER_CACHE_KIB}`);
  return db;
}

// Checks the write lock of the database file without waiting for it.
import type Database from 'better-sqlite3';
import { isBusy } from './database-fault.ts';
import { BUSY_TIMEOUT_MS } from './database-file.ts';

/** Whether another process holds it. `db` is the writing connection, outside a transaction. */
export function isLockedByOthers(db: Database.Database): boolean {
  db.pragma('busy_timeout = 0');
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

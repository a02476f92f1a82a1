// The note in a SQLite database that it was copied to PostgreSQL. While the copy is unfinished, the database can be used as
// ever: whoever opens it for writing removes the note, and the copy begins from the start the next time. Once the copy is
// complete, the database is refused, or mail would be accepted that PostgreSQL doesn't have.

import Database from 'better-sqlite3';
import { asTyped } from '../../../base/text/as-typed.ts';

export interface MovedMark {
  /** Of this copy; PostgreSQL has the same one. */
  id: string;
  /** Where it went, without the password. */
  server: string;
  /** The same as a URL, with a word in place of the password; missing: an older version has made the copy. */
  url?: string;
  at: number;
  complete: boolean;
}

const BUSY_TIMEOUT_MS = 5000;
export const MOVED_MARK = 'moved_to';

export function movedMark(db: Database.Database): MovedMark | null {
  const value = db.prepare('SELECT value FROM meta WHERE name = +?').pluck().get(MOVED_MARK) as string | undefined;
  return value === undefined ? null : (JSON.parse(value) as MovedMark);
}

/** Why the database must not be written; null: it may be. */
export function movedAway(db: Database.Database): string | null {
  const mark = hasMeta(db) ? movedMark(db) : null;
  if (!mark?.complete) return null;
  const day = new Date(mark.at).toISOString().slice(0, 10);
  return `the database ${db.name} was moved to PostgreSQL on ${day}: ${mark.server}. Name that in store.url and start; to go back to SQLite, which is possible until the first start on PostgreSQL: ${commandBack(mark)}`;
}

/** What undoes the move, as it is typed. */
export function commandBack({ url = 'postgres://USER:PASSWORD@HOST/DATABASE' }: Pick<MovedMark, 'url'>): string {
  return `postrider migrate --back --to ${asTyped(url)}`;
}

/** Of a copy that is not complete: what is written from now on would be missing in it. */
export function forgetUnfinishedMove(db: Database.Database): void {
  if (hasMeta(db) && movedMark(db) !== null) removeMark(db);
}

/** The caller holds the data folder's lock. Null removes the note. */
export function noteMoved(file: string, mark: MovedMark | null): void {
  const db = new Database(file, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    db.pragma('synchronous = FULL');
    if (mark === null) return void removeMark(db);
    const note = `INSERT INTO meta (name, value) VALUES (+?, +?)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
    db.prepare(note).run(MOVED_MARK, JSON.stringify(mark));
  } finally {
    db.close();
  }
}

function removeMark(db: Database.Database): void {
  db.prepare('DELETE FROM meta WHERE name = +?').run(MOVED_MARK);
}

function hasMeta(db: Database.Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'meta'").get() !== undefined;
}

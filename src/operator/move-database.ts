// From SQLite to PostgreSQL and back, for the command line. Loads both drivers, so import() it where it is used.
import fs from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { Fault } from '../base/errors.ts';
import { systemTrouble } from '../base/system-words.ts';
import type { MoveProgress } from '../store/moving/copy.ts';
import { type Moved, moveBack, moveToPostgres } from '../store/moving/move.ts';
import { type DataFolder, overDatabase, type SqliteFolder } from './data-folder.ts';

export type { MoveProgress };

/** The caller holds the lock. */
export async function moveDatabase(
  folder: SqliteFolder,
  url: string,
  progress: (report: MoveProgress) => void,
): Promise<Moved> {
  requireEmptyJournal(folder);
  const { database: file } = folder;
  return overDatabase(folder, () => moveToPostgres({ file, url, now: systemClock.now, progress }));
}

/** The caller holds the lock. Null: it was not moved. `url` null: without asking PostgreSQL. */
export async function moveDatabaseBack(folder: SqliteFolder, url: string | null): Promise<{ server: string } | null> {
  const { database: file } = folder;
  return overDatabase(folder, () => moveBack({ file, url, now: systemClock.now }));
}

/** The file with the URL has nothing else. */
export function readUrlFile(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new Fault(`the file with the URL can't be read: ${systemTrouble(cause)}`, {
      permanence: 'permanent',
      cause,
    });
  }
}

/**
 * Results that the database did not accept are lost to a daemon on another machine, and their mail would be sent again. The
 * file is zeros when it has none.
 */
function requireEmptyJournal({ resultJournal }: DataFolder): void {
  if (!fs.existsSync(resultJournal)) return;
  const handle = fs.openSync(resultJournal, 'r');
  try {
    const first = Buffer.alloc(1);
    if (fs.readSync(handle, first, 0, 1, 0) === 0 || first[0] === 0) return;
  } finally {
    fs.closeSync(handle);
  }
  throw new Fault(
    `${resultJournal} has results of deliveries that are not in the database yet: start the daemon, wait until it has stored them, and stop it again`,
    { permanence: 'permanent' },
  );
}

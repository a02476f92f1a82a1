// From SQLite to PostgreSQL and back, for the command line. Loads both drivers, so import() it where it is used.
import fs from 'node:fs';
import { systemClock } from '../../base/clock.ts';
import { Fault } from '../../base/errors.ts';
import { readTextFile } from '../../base/text/read-text.ts';
import { systemTrouble } from '../../base/text/system-words.ts';
import type { MoveProgress } from '../../store/moving/copy.ts';
import { type Moved, moveBack, moveToPostgres, readMark } from '../../store/moving/move.ts';
import { commandBack } from '../../store/sqlite/engine/moved-mark.ts';
import { type DataFolder, overDatabase, type SqliteFolder } from '../data-folder.ts';

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

export interface WayBack {
  /** Null: nobody has named it. */
  url: string | null;
  /** PostgreSQL is not asked. */
  force: boolean;
}

/** The caller holds the lock. Null: it was not moved. */
export async function moveDatabaseBack(
  folder: SqliteFolder,
  { url, force }: WayBack,
): Promise<{ server: string } | null> {
  const { database: file } = folder;
  return overDatabase(folder, async () => {
    const mark = readMark(file);
    if (mark?.complete && url === null && !force) {
      throw new Fault(`--back needs --to, the database that it was moved to: ${commandBack(mark)}`, {
        permanence: 'permanent',
      });
    }
    return moveBack({ file, url: force ? null : url, now: systemClock.now });
  });
}

/** The file with the URL has nothing else. */
export function readUrlFile(file: string): string {
  try {
    return readTextFile(file).trim();
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

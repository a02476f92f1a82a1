// The names of what lies in the data folder, in one place for daemon and command line.
import fs from 'node:fs';
import path from 'node:path';
import { Fault } from '../base/errors.ts';
import { systemWords } from '../base/system-words.ts';

export interface DataFolder {
  dir: string;
  database: string;
  resultJournal: string;
  controlSocket: string;
  masterKey: string;
}

export function dataFolder(dir: string): DataFolder {
  return {
    dir,
    database: path.join(dir, 'postrider.db'),
    resultJournal: path.join(dir, 'results.journal'),
    controlSocket: path.join(dir, 'control.sock'),
    masterKey: path.join(dir, 'master.key'),
  };
}

/** What looks like a slip of the pen, or keeps whoever asks out of the folder; null: nothing. Throws where no user could use it. */
export function dataFolderDoubt(dir: string): string | null {
  const about = `data.dir: ${dir}`;
  try {
    const found = fs.statSync(dir, { throwIfNoEntry: false });
    if (found && !found.isDirectory()) throw new Fault(`${about} is no folder`, { permanence: 'permanent' });
    const parent = path.dirname(dir);
    if (!found && !fs.existsSync(parent)) return `${about} is not there, nor is ${parent}; serve makes both`;
    fs.accessSync(found ? dir : parent, fs.constants.W_OK | fs.constants.X_OK);
    return null;
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    return `${about} cannot be written by this user: ${systemWords(cause)}`;
  }
}

/** Readable by the service's own user only: it holds keys, and a socket that obeys whoever reaches it. */
export function makeDataFolder(dir: string): void {
  try {
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const detail = `${systemWords(cause)}; data.dir or POSTRIDER_DATA_DIR says where it is`;
    throw new Fault(`the data folder ${dir} cannot be made`, { detail, cause, permanence: 'permanent' });
  }
}

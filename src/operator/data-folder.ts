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
  /** Only a sandbox has it: the mail that it has captured. */
  captured: string;
}

export function dataFolder(dir: string): DataFolder {
  return {
    dir,
    database: path.join(dir, 'postrider.db'),
    resultJournal: path.join(dir, 'results.journal'),
    controlSocket: path.join(dir, 'control.sock'),
    masterKey: path.join(dir, 'master.key'),
    captured: path.join(dir, 'captured'),
  };
}

/** What looks like a slip of the pen, or keeps whoever asks out of the folder; null: nothing. Throws where no user could use it. */
export function dataFolderDoubt(dir: string): string | null {
  const about = `data.dir: ${dir}`;
  try {
    const found = fs.statSync(dir, { throwIfNoEntry: false });
    if (found && !found.isDirectory()) throw new Fault(`${about} is not a folder`, { permanence: 'permanent' });
    const parent = path.dirname(dir);
    if (!found && !fs.existsSync(parent))
      return `${about} does not exist, and neither does ${parent}; serve creates both`;
    fs.accessSync(found ? dir : parent, fs.constants.W_OK | fs.constants.X_OK);
    return null;
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    return `${about} this user can't write to it: ${systemWords(cause)}`;
  }
}

const WHERE_IT_IS = 'set data.dir or POSTRIDER_DATA_DIR to the right one';

/** Why no database can be used there, or null. */
export function databaseProblem({ dir, database }: DataFolder): string | null {
  try {
    fs.statSync(database);
    return null;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return unusable(dir, cause);
    return `there is no database in ${dir}. If this is not the data folder, ${WHERE_IT_IS}; postrider serve creates a database`;
  }
}

function unusable(dir: string, cause: unknown): string {
  const { code = '' } = cause as NodeJS.ErrnoException;
  const isFile = ['EEXIST', 'ENOTDIR'].includes(code) && fs.statSync(dir, { throwIfNoEntry: false })?.isFile();
  const advice = ['EACCES', 'EPERM'].includes(code) ? "run the command as the service's user (sudo -u)" : WHERE_IT_IS;
  return `the data folder ${dir} cannot be used: ${isFile ? 'it is not a folder' : systemWords(cause)}; ${advice}`;
}

/** SQLite's own errors do not name the file. */
export async function overDatabase<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!String((cause as { code?: unknown }).code).startsWith('SQLITE_')) throw cause;
    throw new Fault(`the database ${file} cannot be used: ${systemWords(cause)}`, { cause });
  }
}

/** Readable by the service's own user only: it holds keys, and a socket that obeys whoever reaches it. */
export function makeDataFolder(dir: string): void {
  try {
    makeFolders(dir);
    fs.accessSync(dir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
  } catch (cause) {
    throw new Fault(unusable(dir, cause), { cause, permanence: 'permanent' });
  }
}

/** Like mkdir -p. Node's own tries for ever where a file system says of a new folder that it does not exist (/proc). */
function makeFolders(dir: string): void {
  if (fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = path.dirname(dir);
  if (!fs.existsSync(above)) makeFolders(above);
  try {
    fs.mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // Another process can have made it in this moment.
    if (!fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

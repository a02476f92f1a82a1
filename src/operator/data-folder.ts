// Where a daemon's data is, in one place for daemon and command line: the files in its data folder, and its store.
import fs from 'node:fs';
import path from 'node:path';
import { Fault } from '../base/errors.ts';
import { systemWords } from '../base/text/system-words.ts';
import type { Config } from '../config/keys.ts';
import { type StoreAddress, sqliteAt } from '../store/address.ts';

export interface DataFolder {
  dir: string;
  /** For what works on SQLite's file itself; everything else opens the store. Null: the store is in PostgreSQL. */
  database: string | null;
  store: StoreAddress;
  /** The store in messages: without a user and a password. */
  storeName: string;
  resultJournal: string;
  controlSocket: string;
  /** What its daemon is called among several, and when it began. */
  nodeNote: string;
  masterKey: string;
  /** Only in a sandbox: captured mail. */
  captured: string;
}

/** What the configuration says of it. */
export interface DataPlace {
  data: Pick<Config['data'], 'dir'>;
  store: Pick<Config['store'], 'url' | 'password_file'>;
}

export function dataFolder({ data: { dir }, store }: DataPlace): DataFolder {
  const folder = sqliteFolder(dir);
  return store.url === null ? folder : Object.assign(folder, inPostgres(dir, store.url, store.password_file));
}

/** With its database in it. */
export type SqliteFolder = DataFolder & { database: string };

export function sqliteFolder(dir: string): SqliteFolder {
  const database = path.join(dir, 'postrider.db');
  return {
    dir,
    database,
    store: sqliteAt(database),
    storeName: database,
    resultJournal: path.join(dir, 'results.journal'),
    controlSocket: path.join(dir, 'control.sock'),
    nodeNote: path.join(dir, 'node.json'),
    masterKey: path.join(dir, 'master.key'),
    captured: path.join(dir, 'captured'),
  };
}

function inPostgres(
  dir: string,
  url: string,
  passwordFile: string | null,
): Pick<DataFolder, 'database' | 'store' | 'storeName'> {
  const own = new URLSearchParams({ server_note: path.join(dir, 'server.json') });
  if (passwordFile !== null) own.set('password_file', passwordFile);
  const whole = `${url}${url.includes('?') ? '&' : '?'}${own.toString()}`;
  const storeName = url.replace(/\/\/[^@/]*@/, '//').replace(/\?.*/, '');
  return { database: null, store: { driver: 'postgres', url: whole }, storeName };
}

/** For what only SQLite can do. */
export function sqliteFile({ database, storeName }: Pick<DataFolder, 'database' | 'storeName'>): string {
  if (database !== null) return database;
  throw new Fault(
    `the data is in PostgreSQL (${storeName}): back it up, restore it and copy it with PostgreSQL's own tools, as docs/operate.md shows. This command works on SQLite's file only`,
    { permanence: 'permanent' },
  );
}

/** A likely typo, or a lack of access for this user; null: neither. Throws where no user could use the folder. */
export function dataFolderWarning(dir: string): string | null {
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

/** Why there is no usable database, or null. */
export function databaseProblem({ dir, database }: DataFolder): string | null {
  if (database === null) return null;
  try {
    fs.statSync(database);
    mayUse(database);
    return null;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return unusable(dir, cause);
    return `there is no database in ${dir}. If this is not the data folder, ${WHERE_IT_IS}; postrider serve creates a database`;
  }
}

export function isSandboxFolder({ captured }: DataFolder): boolean {
  return fs.existsSync(captured);
}

/** Why a database can't be read that may be there, or null: an absent one is no problem. */
export function databaseBarrier(folder: DataFolder): string | null {
  if (folder.database === null) return null;
  try {
    if (fs.statSync(folder.database, { throwIfNoEntry: false }) !== undefined) mayUse(folder.database);
    return null;
  } catch (cause) {
    return unusable(folder.dir, cause);
  }
}

/** Whoever reads it writes, too: into the shared memory beside it. SQLite would only say that it can't be opened. */
function mayUse(database: string): void {
  fs.accessSync(database, fs.constants.R_OK | fs.constants.W_OK);
}

function unusable(dir: string, cause: unknown): string {
  const { code = '' } = cause as NodeJS.ErrnoException;
  const isFile = ['EEXIST', 'ENOTDIR'].includes(code) && fs.statSync(dir, { throwIfNoEntry: false })?.isFile();
  const advice = ['EACCES', 'EPERM'].includes(code) ? "run the command as the service's user (sudo -u)" : WHERE_IT_IS;
  return `the data folder ${dir} cannot be used: ${isFile ? 'it is not a folder' : systemWords(cause)}; ${advice}`;
}

/** Adds the name of the file, which SQLite's errors lack. */
export async function overDatabase<T>(
  { storeName }: Pick<DataFolder, 'storeName'>,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!String((cause as { code?: unknown }).code).startsWith('SQLITE_')) throw cause;
    throw new Fault(`the database ${storeName} cannot be used: ${systemWords(cause)}`, { cause });
  }
}

/** Readable only by the service's own user: it holds keys, and a socket that accepts every client. */
export function makeDataFolder(dir: string): void {
  try {
    makeFolders(dir);
    fs.accessSync(dir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
  } catch (cause) {
    throw new Fault(unusable(dir, cause), { cause, permanence: 'permanent' });
  }
}

/** What a daemon and its commands keep in the folder. */
const OURS =
  /^(?:postrider\.db.*|postrider-schema-.*\.db|master\.key|results\.journal.*|writer\.lock|control\.sock|(?:node|server)\.json)$/;

export function ourFilesIn(dir: string): { files: string[]; hasOthers: boolean } {
  const names = fs.readdirSync(dir);
  const files = names.filter((name) => OURS.test(name)).map((name) => path.join(dir, name));
  return { files, hasOthers: files.length < names.length };
}

/** What a command of root's has made belongs to the folder's owner, as which the daemon runs: it could not open it otherwise. */
export function giveToOwner(dir: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fs.statSync(dir);
  if (uid === 0) return;
  for (const file of ourFilesIn(dir).files) if (fs.lstatSync(file).uid === 0) fs.lchownSync(file, uid, gid);
}

/** Like mkdir -p. Node's own loops forever where a file system denies that a new folder exists (/proc). */
function makeFolders(dir: string): void {
  if (fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
  const above = path.dirname(dir);
  if (!fs.existsSync(above)) makeFolders(above);
  try {
    fs.mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it just now.
    if (!fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

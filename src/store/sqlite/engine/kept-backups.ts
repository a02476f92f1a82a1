// Backups with a time in their name, of which only the last ones are kept: for a timer, and before a migration. A name
// ends in .part until the copy is complete, checked and on disk, so every other name is a whole backup.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { HOUR_MS } from '../../../base/clock.ts';
import { Fault } from '../../../base/errors.ts';
import { systemWords } from '../../../base/text/system-words.ts';
import { backupDatabase, isFull, syncToDisk } from './backup.ts';

const PART = '.part';
/** Also for what SQLite writes beside it. */
const PARTS = ['', '-journal', '-wal', '-shm'].map((suffix) => PART + suffix);
/** A copy in progress is written all the time. */
const LEFT_AFTER_MS = HOUR_MS;

const TIME_IN_NAME = /\d{8}T\d{6}Z/;

/** Such as 20261126T044800Z: sorts by time, and is a name on every file system. */
export function timeInName(at: number): string {
  return new Date(at).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** Writes a copy of the database to `target`, whole or not at all. `check`: reads every page of it, too. */
export async function writeWholeBackup(file: string, target: string, { check }: { check: boolean }): Promise<void> {
  const part = target + PART;
  let isOurs = false;
  try {
    await backupDatabase(file, part);
    isOurs = true;
    if (check) requireSound(part);
    fs.renameSync(part, target);
    syncToDisk(path.dirname(target));
  } catch (cause) {
    // A copy that failed has removed itself; another process may be writing one of this name.
    if (isOurs) removeParts(target);
    if (cause instanceof Fault) throw cause;
    const problem = isFull(cause) ? 'the disk is full' : systemWords(cause);
    throw new Fault(`the backup ${target} cannot be written: ${problem}`, { permanence: 'permanent', cause });
  }
}

function requireSound(part: string): void {
  const db = new Database(part, { readonly: true });
  try {
    const verdict = db.pragma('integrity_check', { simple: true });
    if (verdict === 'ok') return;
    throw new Fault(`the backup is not sound, so it was not kept: ${String(verdict)}`, { permanence: 'permanent' });
  } finally {
    db.close();
  }
}

function removeParts(target: string): void {
  for (const suffix of PARTS) fs.rmSync(target + suffix, { force: true });
}

/** Deletes what interrupted backups have left in the folder. */
export function removeLeftParts(folder: string, names: RegExp, now: number): void {
  for (const name of fs.readdirSync(folder)) {
    const suffix = PARTS.find((each) => name.endsWith(each));
    if (suffix === undefined || !names.test(name.slice(0, -suffix.length))) continue;
    const found = fs.statSync(path.join(folder, name), { throwIfNoEntry: false });
    if (found && now - found.mtimeMs > LEFT_AFTER_MS) fs.rmSync(path.join(folder, name), { force: true });
  }
}

/**
 * Deletes the oldest files with such names, by the time in them, but for the last `keep`; returns which. What begins with
 * `made` was just made.
 */
export function deleteOldest(folder: string, names: RegExp, { keep, made }: { keep: number; made: string }): string[] {
  const found = fs.readdirSync(folder).filter((name) => names.test(name));
  // It is the last, also when the clock was set back since the others.
  const order = (name: string) => (name.startsWith(made) ? '~' : TIME_IN_NAME.exec(name)![0]);
  found.sort((one, other) => (order(one) < order(other) ? -1 : 1));
  const old = found.slice(0, Math.max(0, found.length - keep));
  for (const name of old) fs.rmSync(path.join(folder, name), { force: true });
  return old.map((name) => path.join(folder, name));
}

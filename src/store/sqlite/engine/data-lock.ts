// One writer per data folder. The lock is an exclusive transaction on a tiny separate database: the kernel
// drops it when the process dies, however it dies, so it can never be stale.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { Fault } from '../../../base/errors.ts';

export interface DataLock {
  release(): void;
}

export class DataFolderInUse extends Fault {
  constructor(folder: string, cause: unknown) {
    super(`another Postrider process uses ${folder}: stop it first, or use another data folder`, {
      permanence: 'permanent',
      cause,
    });
  }
}

export function lockDataFolder(folder: string): DataLock {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const db = new Database(path.join(folder, 'writer.lock'), { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db.close();
    const code = cause instanceof Database.SqliteError ? cause.code : null;
    if (code === 'SQLITE_FULL') {
      const message = `the data folder ${folder} cannot be used: the disk is full`;
      throw new Fault(message, { permanence: 'permanent', cause });
    }
    if (code !== 'SQLITE_BUSY') throw cause;
    throw new DataFolderInUse(folder, cause);
  }
  return { release: () => db.close() };
}

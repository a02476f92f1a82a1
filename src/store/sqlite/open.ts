// The SQLite driver: one file per group of verbs, wired together here.
import fs from 'node:fs';
import path from 'node:path';
import type { Store } from '../store.ts';
import { Connection, type GroupStats, type StoreFaults } from './connection.ts';
import { openForWriting } from './database-file.ts';
import { domainVerbs } from './domains.ts';
import { eventVerbs } from './events.ts';
import { migrate } from './migrations.ts';
import { platformKeyVerbs } from './platform-keys.ts';
import { queueVerbs } from './queue.ts';
import { queueViewVerbs } from './queue-views.ts';
import { submissionVerbs } from './submissions.ts';
import { suppressionVerbs } from './suppressions.ts';
import { templateVerbs } from './templates.ts';
import { tenantVerbs } from './tenants.ts';
import { userVerbs } from './users.ts';
import { webhookVerbs } from './webhooks.ts';

export interface SqliteOptions {
  file: string;
  faults?: StoreFaults;
  onGroup?: (stats: GroupStats) => void;
}

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  fs.mkdirSync(path.dirname(options.file), { recursive: true, mode: 0o700 });
  const db = openForWriting(options.file);
  try {
    migrate(db);
  } catch (error) {
    db.close();
    throw error;
  }
  const connection = new Connection(db, options);
  const inode = fs.statSync(options.file).ino;
  return {
    ...tenantVerbs(connection),
    ...userVerbs(connection),
    ...domainVerbs(connection),
    ...templateVerbs(connection),
    ...submissionVerbs(connection),
    ...queueVerbs(connection),
    ...queueViewVerbs(connection),
    ...eventVerbs(connection),
    ...suppressionVerbs(connection),
    ...webhookVerbs(connection),
    ...platformKeyVerbs(connection),
    ping: () => ping(connection, options.file, inode),
    close: () => connection.close(),
  };
}

/** An open file keeps working after it was deleted or replaced; what is written to it then is lost. */
async function ping(connection: Connection, file: string, inode: number): Promise<boolean> {
  try {
    if (fs.statSync(file).ino !== inode) return false;
    await connection.read(() => connection.sql('SELECT count(*) FROM sqlite_schema').get());
    return true;
  } catch {
    return false;
  }
}

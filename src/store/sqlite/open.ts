// The SQLite driver, for every process that may write.
import fs from 'node:fs';
import path from 'node:path';
import type Database from 'better-sqlite3';
import { bindVerbs, type DeclaredVerb, type Run } from '../sql/bind-verbs.ts';
import { driverVerbs } from '../sql/driver-verbs.ts';
import type { Steps } from '../sql/steps.ts';
import type { Transaction } from '../sql/transaction.ts';
import type { Store } from '../store.ts';
import { syncToDisk } from './engine/backup.ts';
import { CHECKPOINT_LIMITS, type CheckpointLimits } from './engine/checkpoint-plan.ts';
import { type Checkpointer, startCheckpointer } from './engine/checkpointer.ts';
import { checkpointInCommits, openForWriting } from './engine/database-file.ts';
import { migrate } from './engine/migrations.ts';
import { type ConnectionOptions, WritingConnection } from './engine/writing-connection.ts';

export interface SqliteOptions extends ConnectionOptions {
  file: string;
  /** Copies the write-ahead log in a thread. Without it commits do, which is enough for a command. */
  checkpointThread?: { onFault(error: unknown): void; limits?: CheckpointLimits };
}

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  fs.mkdirSync(path.dirname(options.file), { recursive: true, mode: 0o700 });
  const db = openUpToDate(options.file);
  let checkpointer: Checkpointer | null = null;
  const connection = new WritingConnection(db, {
    ...options,
    onGroup(stats) {
      options.onGroup?.(stats);
      checkpointer?.committed();
    },
  });
  if (options.checkpointThread) {
    checkpointer = startCheckpointer({
      file: options.file,
      limits: options.checkpointThread.limits ?? CHECKPOINT_LIMITS,
      checkpointInCommits: (on) => checkpointInCommits(db, on),
      pauseWriter: (over) => connection.pause(over),
      onFault: options.checkpointThread.onFault,
    });
  }
  const inode = fs.statSync(options.file).ino;
  return {
    ...bindVerbs(driverVerbs(connection), (verb) => runOn(connection, verb)),
    notices: connection.dueNotices.listeners,
    ping: () => ping(connection, options.file, inode),
    proveWritable: (at) => connection.write('write', () => noteProof(connection, at)),
    async close() {
      await checkpointer?.close();
      await connection.close();
    },
  };
}

function runOn(connection: WritingConnection, verb: DeclaredVerb): Run {
  if (verb.kind === 'slices') return verb.work;
  const { kind, work } = verb;
  if (kind === 'read') return (...args) => connection.read(() => work(...args));
  return (...args) => connection.write(kind, () => work(...args));
}

function openUpToDate(file: string): Database.Database {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  if (!found || (found.isFile() && found.size === 0)) createDatabase(file);
  return migrated(file);
}

function migrated(file: string): Database.Database {
  const db = openForWriting(file);
  try {
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Created aside and renamed, so that no crash leaves a database without tables: that would mean data loss. */
function createDatabase(file: string): void {
  const draft = `${file}.draft`;
  for (const suffix of ['', '-wal', '-shm']) fs.rmSync(draft + suffix, { force: true });
  migrated(draft).close();
  // The write-ahead log of another database would be applied to this one.
  for (const suffix of ['-wal', '-shm']) fs.rmSync(file + suffix, { force: true });
  fs.renameSync(draft, file);
  syncToDisk(path.dirname(file));
}

/**
 * An open file keeps working after it was deleted or replaced, but what is written to it is lost. A database that
 * another process has locked can be read, but not written.
 */
async function ping(connection: WritingConnection, file: string, inode: number): Promise<boolean> {
  try {
    if (fs.statSync(file).ino !== inode) return false;
    fs.accessSync(file, fs.constants.R_OK | fs.constants.W_OK);
    await connection.read(() => connection.sql('SELECT count(*) FROM sqlite_schema').get());
    return !connection.lockedByOthers();
  } catch {
    return false;
  }
}

/** Always the same row: what matters is that a commit reaches the disk. */
function* noteProof(connection: Transaction, at: number): Steps<void> {
  const note = `INSERT INTO meta (name, value) VALUES ('last_proof_of_writing', +?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  yield* connection.sql(note).run(String(at));
}

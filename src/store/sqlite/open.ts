// The SQLite driver: one file per group of verbs, wired together here.
import fs from 'node:fs';
import path from 'node:path';
import type Database from 'better-sqlite3';
import type { Store } from '../store.ts';
import { auditVerbs } from './audit.ts';
import { syncToDisk } from './backup.ts';
import { chartFigureVerbs } from './chart-figures.ts';
import { CHECKPOINT_LIMITS, type CheckpointLimits } from './checkpoint-plan.ts';
import { type Checkpointer, startCheckpointer } from './checkpointer.ts';
import { claimVerbs } from './claims.ts';
import type { Connection } from './connection.ts';
import { checkpointInCommits, openForWriting } from './database-file.ts';
import { dmarcVerbs } from './dmarc.ts';
import { domainCheckVerbs } from './domain-checks.ts';
import { domainRecheckVerbs } from './domain-rechecks.ts';
import { domainVerbs } from './domains.ts';
import { dueLaneVerbs } from './due-lanes.ts';
import { eventVerbs } from './events.ts';
import { figuresVerbs } from './figures.ts';
import { inboundVerbs } from './inbound.ts';
import { inboundRefusalVerbs } from './inbound-refusals.ts';
import { inboundTrialVerbs } from './inbound-trials.ts';
import { inboundViewVerbs } from './inbound-views.ts';
import { keyUseVerbs } from './key-uses.ts';
import { mailLinkVerbs } from './mail-links.ts';
import { memberVerbs } from './members.ts';
import { migrate } from './migrations.ts';
import { onboardingVerbs } from './overview.ts';
import { platformKeyVerbs } from './platform-keys.ts';
import { queueVerbs } from './queue.ts';
import { queueViewVerbs } from './queue-views.ts';
import { recipientMarkVerbs } from './recipient-marks.ts';
import { reputationVerbs } from './reputation.ts';
import { retentionVerbs } from './retention.ts';
import { secondFactorVerbs } from './second-factors.ts';
import { sessionVerbs } from './sessions.ts';
import { shapingVerbs } from './shaping.ts';
import { strayVerbs } from './strays.ts';
import { submissionVerbs } from './submissions.ts';
import { suppressionVerbs } from './suppressions.ts';
import { templateVerbs } from './templates.ts';
import { tenantVerbs } from './tenants.ts';
import { trackingVerbs } from './tracking.ts';
import { transportSecurityVerbs } from './transport-security.ts';
import { userVerbs } from './users.ts';
import { deliveryVerbs } from './webhook-deliveries.ts';
import { webhookVerbs } from './webhooks.ts';
import { type ConnectionOptions, WritingConnection } from './writing-connection.ts';

export interface SqliteOptions extends ConnectionOptions {
  file: string;
  /** Copies the write-ahead log beside the writer. Without it commits do, as is enough for a command. */
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
    ...verbsOf(connection),
    ping: () => ping(connection, options.file, inode),
    proveWritable: (at) => connection.write(() => noteProof(connection, at)),
    async close() {
      await checkpointer?.close();
      await connection.close();
    },
  };
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

/** Aside and renamed, so that no end of the process leaves a database without tables: such a one has lost them. */
function createDatabase(file: string): void {
  const draft = `${file}.draft`;
  for (const suffix of ['', '-wal', '-shm']) fs.rmSync(draft + suffix, { force: true });
  migrated(draft).close();
  // A write-ahead log of another database would be applied to this one.
  for (const suffix of ['-wal', '-shm']) fs.rmSync(file + suffix, { force: true });
  fs.renameSync(draft, file);
  syncToDisk(path.dirname(file));
}

export function verbsOf(connection: Connection): Omit<Store, 'ping' | 'proveWritable' | 'close'> {
  return {
    ...tenantVerbs(connection),
    ...userVerbs(connection),
    ...sessionVerbs(connection),
    ...memberVerbs(connection),
    ...secondFactorVerbs(connection),
    ...mailLinkVerbs(connection),
    ...auditVerbs(connection),
    ...domainVerbs(connection),
    ...domainRecheckVerbs(connection),
    ...domainCheckVerbs(connection),
    ...keyUseVerbs(connection),
    ...retentionVerbs(connection),
    ...figuresVerbs(connection),
    ...chartFigureVerbs(connection),
    ...onboardingVerbs(connection),
    ...templateVerbs(connection),
    ...submissionVerbs(connection),
    ...claimVerbs(connection),
    ...queueVerbs(connection),
    ...dueLaneVerbs(connection),
    ...queueViewVerbs(connection),
    ...shapingVerbs(connection),
    ...strayVerbs(connection),
    ...eventVerbs(connection),
    ...inboundVerbs(connection),
    ...inboundRefusalVerbs(connection),
    ...inboundTrialVerbs(connection),
    ...inboundViewVerbs(connection),
    ...dmarcVerbs(connection),
    ...suppressionVerbs(connection),
    ...recipientMarkVerbs(connection),
    ...reputationVerbs(connection),
    ...webhookVerbs(connection),
    ...deliveryVerbs(connection),
    ...trackingVerbs(connection),
    ...platformKeyVerbs(connection),
    ...transportSecurityVerbs(connection),
  };
}

/**
 * An open file keeps working after it was deleted or replaced; what is written to it then is lost.
 * One that another process has locked can be read, and takes nothing.
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

/** One row, always the same: what matters is that a commit reaches the disk. */
function noteProof(connection: Connection, at: number): void {
  const note = `INSERT INTO meta (name, value) VALUES ('last_proof_of_writing', ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  connection.sql(note).run(String(at));
}

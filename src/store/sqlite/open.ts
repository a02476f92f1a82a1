// The SQLite driver: one file per group of verbs, wired together here.
import fs from 'node:fs';
import path from 'node:path';
import type Database from 'better-sqlite3';
import type { Store } from '../store.ts';
import { syncToDisk } from './engine/backup.ts';
import { CHECKPOINT_LIMITS, type CheckpointLimits } from './engine/checkpoint-plan.ts';
import { type Checkpointer, startCheckpointer } from './engine/checkpointer.ts';
import type { Connection } from './engine/connection.ts';
import { checkpointInCommits, openForWriting } from './engine/database-file.ts';
import { migrate } from './engine/migrations.ts';
import { type ConnectionOptions, WritingConnection } from './engine/writing-connection.ts';
import { onboardingVerbs } from './reading/overview.ts';
import { auditVerbs } from './verbs/audit.ts';
import { claimVerbs, dueLaneVerbs } from './verbs/claims.ts';
import { dmarcVerbs } from './verbs/dmarc.ts';
import { domainCheckVerbs, domainRecheckVerbs, domainVerbs } from './verbs/domains.ts';
import { eventVerbs } from './verbs/events.ts';
import { chartFigureVerbs, figuresVerbs } from './verbs/figures.ts';
import { inboundVerbs } from './verbs/inbound.ts';
import { inboundRefusalVerbs } from './verbs/inbound-refusals.ts';
import { inboundTrialVerbs } from './verbs/inbound-trials.ts';
import { inboundViewVerbs } from './verbs/inbound-views.ts';
import { mailLinkVerbs } from './verbs/mail-links.ts';
import { platformKeyVerbs } from './verbs/platform-keys.ts';
import { queueVerbs } from './verbs/queue.ts';
import { queueViewVerbs } from './verbs/queue-views.ts';
import { recipientMarkVerbs } from './verbs/recipient-marks.ts';
import { reputationVerbs } from './verbs/reputation.ts';
import { retentionVerbs } from './verbs/retention.ts';
import { secondFactorVerbs } from './verbs/second-factors.ts';
import { sessionVerbs } from './verbs/sessions.ts';
import { shapingVerbs } from './verbs/shaping.ts';
import { strayVerbs } from './verbs/strays.ts';
import { submissionVerbs } from './verbs/submissions.ts';
import { suppressionVerbs } from './verbs/suppressions.ts';
import { templateVerbs } from './verbs/templates.ts';
import { keyUseVerbs, tenantVerbs } from './verbs/tenants.ts';
import { trackingVerbs } from './verbs/tracking.ts';
import { transportSecurityVerbs } from './verbs/transport-security.ts';
import { memberVerbs, userVerbs } from './verbs/users.ts';
import { deliveryVerbs } from './verbs/webhook-deliveries.ts';
import { webhookVerbs } from './verbs/webhooks.ts';

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
  const note = `INSERT INTO meta (name, value) VALUES ('last_proof_of_writing', +?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
  connection.sql(note).run(String(at));
}

// What a start of this version would do to the database, and the copy of it that is made before. A migration has no way
// back but that copy.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { Fault } from '../../../base/errors.ts';
import { openForReading } from './database-file.ts';
import { deleteOldest, removeLeftParts, timeInName, writeWholeBackup } from './kept-backups.ts';
import { incompatibilityOf, isOurs, knownMigrations, newestSchema, schemaVersion } from './migrations.ts';

export interface MigrationStep {
  version: number;
  name: string;
  /** The first sentence of its file. */
  what: string;
  /** It writes a whole table again, or every row of one. */
  remakesTable: boolean;
}

export interface UpgradePlan {
  /** 0: there is no database yet. */
  from: number;
  to: number;
  steps: MigrationStep[];
  /** Why this version can't use the database; null: it can. */
  problem: string | null;
  /** Of the database without its free pages: what a copy takes. */
  copyBytes: number;
  /** At most, in the data folder: new tables, and the log of their transaction. */
  migrationBytes: number;
}

/** Only reads, beside a daemon of any version. */
export function planUpgrade(file: string): UpgradePlan {
  const to = newestSchema();
  const nothing: UpgradePlan = { from: 0, to, steps: [], problem: null, copyBytes: 0, migrationBytes: 0 };
  if ((fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return nothing;
  const db = openOrNull(file);
  if (db === null) return { ...nothing, problem: `the database ${file} was not made by Postrider` };
  try {
    const problem = incompatibilityOf(db);
    if (problem !== null) return { ...nothing, from: isOurs(db) ? schemaVersion(db) : 0, problem };
    const from = schemaVersion(db);
    const steps =
      from === 0
        ? []
        : knownMigrations()
            .filter(({ version }) => version > from)
            .map(stepOf);
    const copyBytes = usedBytes(db);
    const migrationBytes = steps.some(({ remakesTable }) => remakesTable) ? 2 * copyBytes : 0;
    return { from, to, steps, problem, copyBytes, migrationBytes };
  } finally {
    db.close();
  }
}

/** Null: it is not a database at all. */
function openOrNull(file: string): Database.Database | null {
  try {
    return openForReading(file);
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_NOTADB') return null;
    throw error;
  }
}

function usedBytes(db: Database.Database): number {
  const value = (pragma: string) => db.pragma(pragma, { simple: true }) as number;
  return (value('page_count') - value('freelist_count')) * value('page_size');
}

function stepOf({ version, name, sql }: { version: number; name: string; sql: string }): MigrationStep {
  const remakesTable = /^(ALTER TABLE \w+ RENAME TO|UPDATE \w+ SET) ?/m.test(sql);
  return { version, name, what: firstSentence(sql), remakesTable };
}

function firstSentence(sql: string): string {
  const [comment = ''] = /^(--.*\n)+/.exec(sql) ?? [];
  const text = comment.replace(/^-- ?/gm, '').replace(/\s+/g, ' ').trim();
  return /^.*?[^.]\.(?= |$)/.exec(text)?.[0] ?? text;
}

/** Beyond the copy itself, so that the daemon does not start with a full disk. */
export const SPARE_BYTES = 16 * 1024 * 1024;

const COPIES = /^postrider-schema-\d{4,}-\d{8}T\d{6}Z\.db$/;

export interface BackupBeforeMigration {
  /** How many are kept; 0: none is made. */
  keep: number;
  now: number;
  /** Null: unknown. */
  freeBytes: number | null;
}

export interface MadeBackup {
  file: string;
  from: number;
  to: number;
}

/**
 * Null: nothing is to be migrated, or none is wanted. The caller holds the data lock. There is one copy per schema: a
 * start that fails again and again must not drive out the copies of earlier upgrades.
 */
export async function backUpBeforeMigration(
  file: string,
  { keep, now, freeBytes }: BackupBeforeMigration,
): Promise<MadeBackup | null> {
  if (keep === 0) return null;
  const { from, to, steps, copyBytes } = planUpgrade(file);
  if (steps.length === 0) return null;
  const folder = path.dirname(file);
  removeLeftParts(folder, COPIES, Number.POSITIVE_INFINITY);
  const needed = copyBytes + SPARE_BYTES;
  if (freeBytes !== null && freeBytes < needed) throw noRoom(file, { from, to, needed, freeBytes });
  const ofSchema = `postrider-schema-${String(from).padStart(4, '0')}-`;
  const copy = `${ofSchema}${timeInName(now)}.db`;
  await writeWholeBackup(file, path.join(folder, copy), { check: false });
  for (const name of fs.readdirSync(folder)) {
    const isEarlier = COPIES.test(name) && name.startsWith(ofSchema) && name !== copy;
    if (isEarlier) fs.rmSync(path.join(folder, name), { force: true });
  }
  deleteOldest(folder, COPIES, { keep, made: copy });
  return { file: path.join(folder, copy), from, to };
}

function noRoom(
  file: string,
  { from, to, needed, freeBytes }: Record<'from' | 'to' | 'needed' | 'freeBytes', number>,
): Fault {
  const message = `the database ${file} must be migrated from schema ${from} to ${to}, and there is no room to back it up first: ${mebibytes(needed)} MiB are needed in ${path.dirname(file)}, ${mebibytes(freeBytes)} MiB are free. Nothing was changed. Free the space, or set data.upgrade_backups = 0 to migrate without a backup`;
  return new Fault(message, { permanence: 'permanent' });
}

export function mebibytes(bytes: number): number {
  return Math.ceil(bytes / (1024 * 1024));
}

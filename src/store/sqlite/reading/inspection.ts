// What commands and the doctor read of the database, in their own process. The check of the whole file runs in a process
// of its own, since only a process can be killed at a deadline.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Inspection } from '../../inspection.ts';
import { inspectionQueries } from '../../sql/reading/inspection-queries.ts';
import { openForReading } from '../engine/database-file.ts';
import { reusableBytes } from '../engine/free-pages.ts';
import { newestSchema, schemaVersion } from '../engine/migrations.ts';
import { ReadingConnection } from '../engine/reading-connection.ts';

/** Null when there is no database. Its schema may be older than the program. */
export function openInspection(file: string): Inspection | null {
  if (!fs.existsSync(file)) return null;
  const db = new ReadingConnection(file);
  const queries = db.answering<Omit<Inspection, 'close'>>(inspectionQueries(db));
  return Object.assign(queries, {
    certificates: hasTable(db, 'certificates') ? queries.certificates : async () => [],
    close: () => db.close(),
  });
}

/** 0 as well where there is no database. */
export async function reusableBytesOf(file: string): Promise<number> {
  if (!fs.existsSync(file)) return 0;
  const db = new ReadingConnection(file);
  try {
    return db.snapshot(() => reusableBytes(db));
  } finally {
    db.close();
  }
}

export function schemaOfFile(file: string): { version: number; newest: number } {
  const newest = newestSchema();
  if (!fs.existsSync(file)) return { version: 0, newest };
  const db = openForReading(file);
  try {
    return { version: schemaVersion(db), newest };
  } finally {
    db.close();
  }
}

function hasTable(db: ReadingConnection, name: string): boolean {
  const table = db.sql("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = +?");
  return db.snapshot(() => table.get(name)) !== undefined;
}

export type FileCheck =
  | { kind: 'none' }
  | { kind: 'checked'; problems: string[]; elapsedMs: number }
  | { kind: 'unfinished'; elapsedMs: number }
  | { kind: 'unreadable'; reason: string };

const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Its snapshot keeps the write-ahead log from being reused: hence the time limit. */
export function checkFile(file: string, limitMs: number): Promise<FileCheck> {
  if (!fs.existsSync(file)) return Promise.resolve({ kind: 'none' });
  const program = fileURLToPath(new URL('./quick-check.ts', import.meta.url));
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const options = { timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const;
    execFile(process.execPath, [program, file], options, (error, stdout, stderr) => {
      const elapsedMs = Math.round(performance.now() - startedAt);
      if (error?.killed) return resolve({ kind: 'unfinished', elapsedMs: limitMs });
      if (error) return resolve({ kind: 'unreadable', reason: stderr.trim().split('\n').at(-1) || error.message });
      resolve({ kind: 'checked', problems: JSON.parse(stdout) as string[], elapsedMs });
    });
  });
}

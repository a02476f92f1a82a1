// Read-only access to the database from outside the daemon, for the doctor. The check of the whole file runs in
// its own process, since only a process can be killed at a deadline.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PlatformSuppression, Suppression } from '../../suppressions.ts';
import { openForReading } from '../engine/database-file.ts';
import { type Row, toId } from '../engine/values.ts';
import { platformFromRow, suppressionFromRow } from '../verbs/suppressions.ts';

export interface StoredNames {
  serviceDkimKeyB64: string | null;
  sendingDomains: string[];
}

/** Null when there is no database. */
export function readStoredNames(file: string, dkimKeyId: string, maxDomains: number): StoredNames | null {
  if (!fs.existsSync(file)) return null;
  const db = openForReading(file);
  try {
    const key = db
      .prepare("SELECT public_part FROM platform_keys WHERE purpose = 'service-dkim' AND key_id = +?")
      .get(dkimKeyId) as Row | undefined;
    const domains = db
      .prepare("SELECT DISTINCT name FROM domains WHERE state = 'verified' ORDER BY name LIMIT +?")
      .all(maxDomains) as Row[];
    return {
      serviceDkimKeyB64: (key?.public_part as string | null | undefined) ?? null,
      sendingDomains: domains.map(({ name }) => name as string),
    };
  } finally {
    db.close();
  }
}

export interface SuppressedBy {
  platform: PlatformSuppression | null;
  /** The entry of the given tenant. */
  tenant: Suppression | null;
}

/** Null when there is no database, 'no_tenant' when the tenant is not in it. */
export function readSuppressedBy(
  file: string,
  { address, tenantId, now }: { address: string; tenantId: string | null; now: number },
): SuppressedBy | 'no_tenant' | null {
  if (!fs.existsSync(file)) return null;
  const db = openForReading(file);
  try {
    const one = (sql: string, ...values: unknown[]) => db.prepare(sql).get(...values) as Row | undefined;
    const tenant = tenantId === null ? null : toId(tenantId);
    if (tenant && !one('SELECT 1 FROM tenants WHERE id = +?', tenant)) return 'no_tenant';
    const listed = one('SELECT * FROM platform_suppressions WHERE address = +? AND expires_at > +?', address, now);
    const own = tenant && one('SELECT * FROM suppressions WHERE tenant_id = +? AND address = +?', tenant, address);
    return { platform: listed ? platformFromRow(listed) : null, tenant: own ? suppressionFromRow(own) : null };
  } finally {
    db.close();
  }
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

// Read-only access to the database from outside the daemon, for the doctor. The check of the whole file runs in
// its own process, since only a process can be killed at a deadline.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CertificateRecord } from '../../certificates.ts';
import type { MessagePage, MessageSearch } from '../../reads.ts';
import { HELD_AFTER_RESTORE } from '../../restored.ts';
import type { PlatformSuppression, Suppression } from '../../suppressions.ts';
import type { Tenant } from '../../tenants.ts';
import { openForReading } from '../engine/database-file.ts';
import { ReadingConnection } from '../engine/reading-connection.ts';
import { fromId, type Row, toId } from '../engine/values.ts';
import { certificateFromRow } from '../verbs/certificates.ts';
import { platformFromRow, suppressionFromRow } from '../verbs/suppressions.ts';
import { searchMessages } from './message-search.ts';

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

/** The IDs of the master keys that encrypted stored secrets. */
export interface SecretsInUse {
  /** Of the service's own keys, which the daemon decrypts when it starts. */
  ofService: string[];
  /** Of the newest secret of each other kind: to read all would take long in a large database. */
  ofNewest: string[];
}

/** Null when there is no database. */
export function readSecretsInUse(file: string): SecretsInUse | null {
  if (!fs.existsSync(file)) return null;
  const db = openForReading(file);
  try {
    const idsOf = (sql: string) => db.prepare(sql).pluck().all() as string[];
    const ofNewest = [
      'SELECT master_key_id FROM signing_keys WHERE sealed IS NOT NULL ORDER BY id DESC LIMIT 1',
      'SELECT master_key_id FROM webhook_secrets ORDER BY id DESC LIMIT 1',
      'SELECT master_key_id FROM second_factors LIMIT 1',
    ].flatMap(idsOf);
    return {
      ofService: idsOf('SELECT DISTINCT master_key_id FROM platform_keys WHERE retired_at IS NULL ORDER BY 1'),
      ofNewest: [...new Set(ofNewest)],
    };
  } finally {
    db.close();
  }
}

export interface StoredDomain {
  domain: string;
  selector: string;
  publicKeyB64: string;
}

export interface StoredDomains {
  domains: StoredDomain[];
  /** How many more there are. */
  leftOut: number;
}

/** Of all tenants, revoked ones left out; null when there is no database. With a name, only that domain. */
export function readStoredDomains(file: string, name: string | null, maxDomains: number): StoredDomains | null {
  if (!fs.existsSync(file)) return null;
  const db = openForReading(file);
  try {
    const live = "d.state <> 'revoked' AND (+@name IS NULL OR d.name = +@name)";
    const counted = db.prepare(`SELECT count(*) AS count FROM domains d WHERE ${live}`).get({ name });
    const rows = db
      .prepare(
        `SELECT d.name, k.selector, k.public_key FROM domains d JOIN signing_keys k ON k.id = d.signing_key
         WHERE ${live} ORDER BY d.name, d.id LIMIT +@maxDomains`,
      )
      .all({ name, maxDomains }) as Row[];
    const domains = rows.map((row) => ({
      domain: row.name as string,
      selector: row.selector as string,
      publicKeyB64: row.public_key as string,
    }));
    return { domains, leftOut: (counted as { count: number }).count - domains.length };
  } finally {
    db.close();
  }
}

/** Those of one directory. Without a database, or before it knows certificates: none. */
export function readCertificates(file: string, directory: string): CertificateRecord[] {
  if (!fs.existsSync(file)) return [];
  const db = openForReading(file);
  try {
    const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'certificates'").get();
    if (!isThere) return [];
    const rows = db.prepare('SELECT * FROM certificates WHERE directory = +?').all(directory) as Row[];
    return rows.map(certificateFromRow);
  } finally {
    db.close();
  }
}

export interface SuppressedBy {
  platform: PlatformSuppression | null;
  /** The entry of the given tenant. */
  tenant: Suppression | null;
}

/** Oldest first. */
export function readTenants(file: string): Pick<Tenant, 'id' | 'name' | 'status'>[] {
  const db = openForReading(file);
  try {
    const rows = db.prepare('SELECT id, name, status FROM tenants ORDER BY id').all() as Row[];
    return rows.map((row) => ({
      id: fromId(row.id),
      name: row.name as string,
      status: row.status as Tenant['status'],
    }));
  } finally {
    db.close();
  }
}

export function readMessages(file: string, tenantId: string, search: MessageSearch): MessagePage {
  const db = new ReadingConnection(file);
  try {
    return searchMessages(db, tenantId, search);
  } finally {
    db.close();
  }
}

/** Null when there is no database. */
export function readSuppressedBy(
  file: string,
  { address, tenantId, now }: { address: string; tenantId: string | null; now: number },
): SuppressedBy | null {
  if (!fs.existsSync(file)) return null;
  const db = openForReading(file);
  try {
    const one = (sql: string, ...values: unknown[]) => db.prepare(sql).get(...values) as Row | undefined;
    const tenant = tenantId === null ? null : toId(tenantId);
    const listed = one('SELECT * FROM platform_suppressions WHERE address = +? AND expires_at > +?', address, now);
    const own = tenant && one('SELECT * FROM suppressions WHERE tenant_id = +? AND address = +?', tenant, address);
    return { platform: listed ? platformFromRow(listed) : null, tenant: own ? suppressionFromRow(own) : null };
  } finally {
    db.close();
  }
}

/** Messages that are neither finished nor parked, in a database of any version. */
export function readUnfinished(file: string): number {
  const db = openForReading(file);
  try {
    const unfinished = 'SELECT count(*) FROM messages WHERE finished_at IS NULL AND parked = 0';
    return db.prepare(unfinished).pluck().get() as number;
  } finally {
    db.close();
  }
}

/** Messages that a restore has held; 0 when there is no database. */
export function readHeld(file: string): number {
  if (!fs.existsSync(file)) return 0;
  const db = openForReading(file);
  try {
    const held = 'SELECT count(*) FROM messages WHERE parked = 1 AND last_reason = +?';
    return db.prepare(held).pluck().get(HELD_AFTER_RESTORE) as number;
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

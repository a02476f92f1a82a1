// What commands and the doctor read of the database, in their own process. The check of the whole file runs in a process
// of its own, since only a process can be killed at a deadline.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CertificateRecord } from '../../certificates.ts';
import type {
  Inspection,
  SecretsInUse,
  StoredDomains,
  StoredNames,
  SuppressedBy,
  SuppressionQuestion,
} from '../../inspection.ts';
import { HELD_AFTER_RESTORE } from '../../restored.ts';
import type { Tenant } from '../../tenants.ts';
import { ReadingConnection } from '../engine/reading-connection.ts';
import type { Queries } from '../engine/statements.ts';
import { fromId, type Row, toId } from '../engine/values.ts';
import { certificateFromRow } from '../verbs/certificates.ts';
import { platformFromRow, suppressionFromRow } from '../verbs/suppressions.ts';
import { searchMessages } from './message-search.ts';

/** Null when there is no database. */
export function openInspection(file: string): Inspection | null {
  if (!fs.existsSync(file)) return null;
  const db = new ReadingConnection(file);
  return {
    names: async (dkimKeyId, maxDomains) => readNames(db, dkimKeyId, maxDomains),
    secretsInUse: async () => readSecretsInUse(db),
    domains: async (name, maxDomains) => readDomains(db, name, maxDomains),
    certificates: async (directory) => readCertificates(db, directory),
    tenants: async () => readTenants(db),
    messages: async (tenantId, search) => searchMessages(db, tenantId, search),
    suppressedBy: async (wanted) => readSuppressedBy(db, wanted),
    unfinished: async () => {
      const unfinished = 'SELECT count(*) FROM messages WHERE finished_at IS NULL AND parked = 0';
      return db.sql(unfinished, 'column').get() as number;
    },
    held: async () => {
      const held = 'SELECT count(*) FROM messages WHERE parked = 1 AND last_reason = +?';
      return db.sql(held, 'column').get(HELD_AFTER_RESTORE) as number;
    },
    close: () => db.close(),
  };
}

function readNames(db: Queries, dkimKeyId: string, maxDomains: number): StoredNames {
  const key = db
    .sql("SELECT public_part FROM platform_keys WHERE purpose = 'service-dkim' AND key_id = +?")
    .get(dkimKeyId) as Row | undefined;
  const domains = db
    .sql("SELECT DISTINCT name FROM domains WHERE state = 'verified' ORDER BY name LIMIT +?", 'column')
    .all(maxDomains) as string[];
  return { serviceDkimKeyB64: (key?.public_part as string | null | undefined) ?? null, sendingDomains: domains };
}

function readSecretsInUse(db: Queries): SecretsInUse {
  const idsOf = (sql: string) => db.sql(sql, 'column').all() as string[];
  const ofNewest = [
    'SELECT master_key_id FROM signing_keys WHERE sealed IS NOT NULL ORDER BY id DESC LIMIT 1',
    'SELECT master_key_id FROM webhook_secrets ORDER BY id DESC LIMIT 1',
    'SELECT master_key_id FROM second_factors LIMIT 1',
  ].flatMap(idsOf);
  return {
    ofService: idsOf('SELECT DISTINCT master_key_id FROM platform_keys WHERE retired_at IS NULL ORDER BY 1'),
    ofNewest: [...new Set(ofNewest)],
  };
}

function readDomains(db: Queries, name: string | null, maxDomains: number): StoredDomains {
  const live = "d.state <> 'revoked' AND (+@name IS NULL OR d.name = +@name)";
  const count = db.sql(`SELECT count(*) FROM domains d WHERE ${live}`, 'column').get({ name }) as number;
  const rows = db
    .sql(
      `SELECT d.name, k.selector, k.public_key FROM domains d JOIN signing_keys k ON k.id = d.signing_key
       WHERE ${live} ORDER BY d.name, d.id LIMIT +@maxDomains`,
    )
    .all({ name, maxDomains }) as Row[];
  const domains = rows.map((row) => ({
    domain: row.name as string,
    selector: row.selector as string,
    publicKeyB64: row.public_key as string,
  }));
  return { domains, leftOut: count - domains.length };
}

function readCertificates(db: Queries, directory: string): CertificateRecord[] {
  const isThere = db.sql("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'certificates'").get();
  if (!isThere) return [];
  return (db.sql('SELECT * FROM certificates WHERE directory = +?').all(directory) as Row[]).map(certificateFromRow);
}

function readTenants(db: Queries): Pick<Tenant, 'id' | 'name' | 'status'>[] {
  const rows = db.sql('SELECT id, name, status FROM tenants ORDER BY id').all() as Row[];
  return rows.map((row) => ({
    id: fromId(row.id),
    name: row.name as string,
    status: row.status as Tenant['status'],
  }));
}

function readSuppressedBy(db: Queries, { address, tenantId, now }: SuppressionQuestion): SuppressedBy {
  const one = (sql: string, ...values: unknown[]) => db.sql(sql).get(...values) as Row | undefined;
  const tenant = tenantId === null ? null : toId(tenantId);
  const listed = one('SELECT * FROM platform_suppressions WHERE address = +? AND expires_at > +?', address, now);
  const own = tenant && one('SELECT * FROM suppressions WHERE tenant_id = +? AND address = +?', tenant, address);
  return { platform: listed ? platformFromRow(listed) : null, tenant: own ? suppressionFromRow(own) : null };
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

// A database as an earlier version of Postrider has left it, with one tenant.
import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { knownMigrations } from '../../src/store/sqlite/engine/migrations.ts';

const APPLICATION_ID = 0x504f5354;

/** The file is postrider.db in the folder, which is made. */
export function oldDatabase(dataDir: string, schema: number): string {
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = path.join(dataDir, 'postrider.db');
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  for (const { sql } of knownMigrations().slice(0, schema)) db.exec(sql);
  db.pragma(`user_version = ${schema}`);
  db.pragma(`application_id = ${APPLICATION_ID}`);
  const tenant = `INSERT INTO tenants
    (id, name, status, tier, tier_pinned, open_tracking, click_tracking, unsubscribe, created_at)
    VALUES (?, 'kept', 'active', '1k', 0, 0, 0, 0, 1)`;
  db.prepare(tenant).run(Buffer.alloc(16, 1));
  db.close();
  return file;
}

export function schemaOf(file: string): unknown {
  const db = new Database(file, { readonly: true });
  try {
    return db.pragma('user_version', { simple: true });
  } finally {
    db.close();
  }
}

// Suppression lists in SQLite.
import type { PlatformSuppression, Suppression, SuppressionReason, SuppressionStore } from '../suppressions.ts';
import type { Connection } from './connection.ts';
import { fromOptionalId, type Row, toId } from './values.ts';

export function suppressionVerbs(db: Connection): SuppressionStore {
  return {
    addSuppression: (tenantId, entry) => db.write(() => insertSuppression(db, tenantId, entry)),
    removeSuppression: (tenantId, address) =>
      db.write(() => {
        const remove = db.sql('DELETE FROM suppressions WHERE tenant_id = ? AND address = ?');
        return remove.run(toId(tenantId), address).changes === 1;
      }),
    listSuppressions: (tenantId, { after, limit }) =>
      db.read(() => {
        const rows = db.sql('SELECT * FROM suppressions WHERE tenant_id = ? AND address > ? ORDER BY address LIMIT ?');
        return (rows.all(toId(tenantId), after ?? '', limit) as Row[]).map(suppressionFromRow);
      }),
    addPlatformSuppression: (entry) => db.write(() => insertPlatformSuppression(db, entry)),
    removePlatformSuppression: (address) =>
      db.write(() => db.sql('DELETE FROM platform_suppressions WHERE address = ?').run(address).changes === 1),
    listPlatformSuppressions: ({ after, limit }) =>
      db.read(() => {
        const rows = db.sql('SELECT * FROM platform_suppressions WHERE address > ? ORDER BY address LIMIT ?');
        return (rows.all(after ?? '', limit) as Row[]).map(platformFromRow);
      }),
  };
}

export function insertSuppression(db: Connection, tenantId: string, entry: Suppression): 'added' | 'exists' {
  const insert = db.sql(
    `INSERT INTO suppressions (tenant_id, address, reason, message_id, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const message = entry.messageId === null ? null : toId(entry.messageId);
  const result = insert.run(toId(tenantId), entry.address, entry.reason, message, entry.createdAt);
  return result.changes === 1 ? 'added' : 'exists';
}

/** A newer statement renews an entry: it expires later. */
export function insertPlatformSuppression(db: Connection, entry: PlatformSuppression): 'added' | 'exists' {
  const known = db.sql('SELECT 1 FROM platform_suppressions WHERE address = ?').get(entry.address) !== undefined;
  db.sql(
    `INSERT INTO platform_suppressions (address, mx_group, rule, message_id, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (address) DO UPDATE SET mx_group = excluded.mx_group, rule = excluded.rule,
       message_id = excluded.message_id, created_at = excluded.created_at, expires_at = excluded.expires_at`,
  ).run(
    entry.address,
    entry.mxGroup,
    entry.rule,
    entry.messageId === null ? null : toId(entry.messageId),
    entry.createdAt,
    entry.expiresAt,
  );
  return known ? 'exists' : 'added';
}

/** The tenant's own list first, with its reason; then the platform's list of mailboxes that do not exist. */
export function suppressionReason(
  db: Connection,
  tenantId: string,
  address: string,
  now: number,
): SuppressionReason | null {
  const own = db.sql('SELECT reason FROM suppressions WHERE tenant_id = ? AND address = ?');
  const row = own.get(toId(tenantId), address) as { reason: SuppressionReason } | undefined;
  if (row) return row.reason;
  const platform = db.sql('SELECT 1 FROM platform_suppressions WHERE address = ? AND expires_at > ?');
  return platform.get(address, now) === undefined ? null : 'hard_bounce';
}

function suppressionFromRow(row: Row): Suppression {
  return {
    address: row.address as string,
    reason: row.reason as SuppressionReason,
    messageId: fromOptionalId(row.message_id),
    createdAt: row.created_at as number,
  };
}

function platformFromRow(row: Row): PlatformSuppression {
  return {
    address: row.address as string,
    mxGroup: row.mx_group as string | null,
    rule: row.rule as string,
    messageId: fromOptionalId(row.message_id),
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
  };
}

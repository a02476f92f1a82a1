// Who changed what, in SQLite.
import type { AuditEntry, AuditStore } from '../audit.ts';
import type { Connection } from './connection.ts';
import { fromOptionalId, type Row, toId } from './values.ts';

export function auditVerbs(db: Connection): AuditStore {
  return {
    recordAudit: (entry) =>
      db.writeMail(() => {
        db.sql(
          `INSERT INTO audit (tenant_id, at, actor, user_id, who, address, action, data)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        ).run(
          entry.tenantId === null ? null : toId(entry.tenantId),
          entry.at,
          entry.actor,
          entry.userId === null ? null : toId(entry.userId),
          entry.who,
          entry.address,
          entry.action,
          JSON.stringify(entry.data),
        );
      }),
    listAudit: (tenantId, { before, limit }) =>
      db.read(() => {
        const list = 'SELECT * FROM audit WHERE tenant_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?';
        return (db.sql(list).all(toId(tenantId), before ?? NEWEST, limit) as Row[]).map(entryFromRow);
      }),
    listAllAudit: ({ before, limit }) =>
      db.read(() => {
        const list = 'SELECT * FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT ?';
        return (db.sql(list).all(before ?? NEWEST, limit) as Row[]).map(entryFromRow);
      }),
    eraseAudit: (upTo, limit) =>
      db.writeMail(() => {
        const erase = 'DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE at <= ? ORDER BY at LIMIT ?)';
        return db.sql(erase).run(upTo, limit).changes;
      }),
  };
}

const NEWEST = Number.MAX_SAFE_INTEGER;

function entryFromRow(row: Row): AuditEntry {
  return {
    seq: row.seq as number,
    tenantId: fromOptionalId(row.tenant_id),
    at: row.at as number,
    actor: row.actor as AuditEntry['actor'],
    userId: fromOptionalId(row.user_id),
    who: row.who as string,
    address: row.address as string | null,
    action: row.action as string,
    data: JSON.parse(row.data as string) as AuditEntry['data'],
  };
}

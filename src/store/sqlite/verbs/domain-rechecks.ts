// When domains are looked at again, in SQLite.
import type { DomainRecheckStore, DueRecheck, RecheckNote } from '../../domain-rechecks.ts';
import type { Domain } from '../../domains.ts';
import type { Connection } from '../engine/connection.ts';
import { type Row, toId } from '../engine/values.ts';
import { DOMAIN_COLUMNS, domainFromRow } from './domains.ts';

export function domainRecheckVerbs(db: Connection): DomainRecheckStore {
  return {
    dueRechecks: (now, limit) => db.read(() => due(db, now, limit)),
    postponeRecheck: (tenantId, domainId, until) =>
      db.write(() => {
        const postpone = db.sql(
          'UPDATE domain_rechecks SET next_at = max(next_at, ?) WHERE tenant_id = ? AND domain_id = ?',
        );
        postpone.run(until, toId(tenantId), toId(domainId));
      }),
    recordRecheck: (seen, note) => db.write(() => record(db, seen, note)),
  };
}

function due(db: Connection, now: number, limit: number): DueRecheck[] {
  const rows = db.sql(
    `SELECT r.since, r.looks, r.misses, r.first_miss_at, f.* FROM domain_rechecks r JOIN (SELECT ${DOMAIN_COLUMNS}) f
       ON f.id = r.domain_id
     WHERE r.next_at IS NOT NULL AND r.next_at <= ? ORDER BY r.next_at LIMIT ?`,
  );
  return (rows.all(now, limit) as Row[]).map((row) => ({
    domain: domainFromRow(row),
    since: row.since as number,
    looks: row.looks as number,
    misses: row.misses as number,
    firstMissAt: row.first_miss_at as number | null,
  }));
}

function record(db: Connection, seen: Domain, note: RecheckNote): boolean {
  const look = db.sql(
    `UPDATE domains SET last_checked_at = @at,
       state = CASE WHEN @reason IS NULL THEN state ELSE 'failed' END,
       verified_at = CASE WHEN @reason IS NULL THEN verified_at END,
       failure_reason = coalesce(@reason, failure_reason)
     WHERE tenant_id = @tenant AND id = @id AND state = @state AND last_checked_at IS @checked`,
  );
  const id = toId(seen.id);
  const tenant = toId(seen.tenantId);
  const { state, lastCheckedAt: checked } = seen;
  if (look.run({ at: note.at, reason: note.failsWith, tenant, id, state, checked }).changes === 0) return false;
  const plan = db.sql(
    `UPDATE domain_rechecks SET next_at = ?, looks = looks + 1, misses = ?, first_miss_at = ?
     WHERE tenant_id = ? AND domain_id = ?`,
  );
  plan.run(note.nextAt, note.misses, note.firstMissAt, tenant, id);
  // A verified domain that fails begins a stretch of its own.
  if (note.failsWith !== null) beginStretch(db, id, note.at, note.nextAt);
  return true;
}

function beginStretch(db: Connection, id: Buffer, at: number, nextAt: number | null): void {
  db.sql(
    `UPDATE domain_rechecks SET since = ?, next_at = ?, looks = 0, misses = 0, first_miss_at = NULL WHERE domain_id = ?`,
  ).run(at, nextAt, id);
}

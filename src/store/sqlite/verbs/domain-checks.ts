// What the last look into DNS has found, in SQLite.
import type { DomainCheckStore, DomainChecks } from '../../domain-checks.ts';
import type { Connection } from '../engine/connection.ts';
import { type Row, toId } from '../engine/values.ts';

export function domainCheckVerbs(db: Connection): DomainCheckStore {
  return {
    recordChecks: (tenantId, domainId, found) => db.writeMail(() => record(db, { tenantId, domainId }, found)),
    lastChecks: (tenantId, domainId) =>
      db.read(() => {
        const last = db.sql('SELECT checked_at, checks FROM domain_checks WHERE tenant_id = ? AND domain_id = ?');
        const row = last.get(toId(tenantId), toId(domainId)) as Row | undefined;
        if (!row) return null;
        return { at: row.checked_at as number, checks: JSON.parse(row.checks as string) as DomainChecks['checks'] };
      }),
  };
}

function record(db: Connection, of: { tenantId: string; domainId: string }, { at, checks }: DomainChecks): void {
  db.sql(
    `INSERT INTO domain_checks (domain_id, tenant_id, checked_at, checks)
     SELECT id, tenant_id, @at, @checks FROM domains WHERE tenant_id = @tenant AND id = @domain
     ON CONFLICT (domain_id) DO UPDATE SET checked_at = excluded.checked_at, checks = excluded.checks
     WHERE excluded.checked_at >= checked_at`,
  ).run({ tenant: toId(of.tenantId), domain: toId(of.domainId), at, checks: JSON.stringify(checks) });
}

// When domains are re-checked, and what was found.
import type { ClaimedRecheck, DomainRecheckStore, RecheckNote } from '../../../domains.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { type Row, toId } from '../../values.ts';
import { DOMAIN_COLUMNS, domainFromRow } from './domains.ts';

export function domainRecheckVerbs(db: Transaction): Work<DomainRecheckStore> {
  return {
    claimRechecks: (now, terms) => claimRechecks(db, now, terms),
    *releaseRechecks(claims) {
      for (const claim of claims) yield* moveClaimed(db, claim, claim.dueAt);
    },
    *postponeRecheck(tenantId, domainId, until) {
      const [tenant, id] = [toId(tenantId), toId(domainId)];
      const ended = db.sql('SELECT 1 FROM domain_rechecks WHERE tenant_id = +? AND domain_id = +? AND next_at IS NULL');
      if ((yield* ended.get(tenant, id)) !== undefined) return yield* beginRecheckPeriod(db, id, until, until);
      const postpone = db.sql(
        'UPDATE domain_rechecks SET next_at = max(next_at, +?) WHERE tenant_id = +? AND domain_id = +?',
      );
      yield* postpone.run(until, tenant, id);
    },
    recordRecheck: (claim, note) => recordRecheck(db, claim, note),
    *recheckedSince(tenantId, domainId) {
      const planned = db.sql(
        'SELECT since FROM domain_rechecks WHERE tenant_id = +? AND domain_id = +? AND next_at IS NOT NULL',
      );
      const row = (yield* planned.get(toId(tenantId), toId(domainId))) as Row | undefined;
      return row === undefined ? null : (row.since as number);
    },
  };
}

function* claimRechecks(
  db: Transaction,
  now: number,
  { limit, leaseUntil }: { limit: number; leaseUntil: number },
): Steps<ClaimedRecheck[]> {
  const due = db.sql(
    `SELECT r.next_at, r.since, r.looks, r.misses, r.first_miss_at, f.*
     FROM domain_rechecks r JOIN (SELECT ${DOMAIN_COLUMNS}) f ON f.id = r.domain_id
     WHERE r.next_at IS NOT NULL AND r.next_at <= +? ORDER BY r.next_at LIMIT +?`,
  );
  const claims = ((yield* due.all(now, limit)) as Row[]).map((row) => ({
    domain: domainFromRow(row),
    leaseUntil,
    dueAt: row.next_at as number,
    since: row.since as number,
    checks: row.looks as number,
    misses: row.misses as number,
    firstMissAt: row.first_miss_at as number | null,
  }));
  for (const claim of claims) yield* moveClaimed(db, { ...claim, leaseUntil: claim.dueAt }, leaseUntil);
  return claims;
}

/** Only while the claim's time is the row's: everything that changes the domain stores another one. */
function* moveClaimed(
  db: Transaction,
  { domain, leaseUntil }: Pick<ClaimedRecheck, 'domain' | 'leaseUntil'>,
  nextAt: number | null,
): Steps<boolean> {
  const move = db.sql(
    'UPDATE domain_rechecks SET next_at = +? WHERE tenant_id = +? AND domain_id = +? AND next_at = +?',
  );
  return (yield* move.run(nextAt, toId(domain.tenantId), toId(domain.id), leaseUntil)).changes === 1;
}

function* recordRecheck(db: Transaction, claim: ClaimedRecheck, note: RecheckNote): Steps<boolean> {
  if (!(yield* moveClaimed(db, claim, note.nextAt))) return false;
  const id = toId(claim.domain.id);
  const tenant = toId(claim.domain.tenantId);
  const { at, nextAt, misses, firstMissAt, failsWith: reason } = note;
  yield* db
    .sql(
      `UPDATE domain_rechecks SET looks = looks + 1, misses = +?, first_miss_at = +?
     WHERE tenant_id = +? AND domain_id = +?`,
    )
    .run(misses, firstMissAt, tenant, id);
  yield* db
    .sql(
      `UPDATE domains SET last_checked_at = +@at,
       state = CASE WHEN CAST(+@reason AS TEXT) IS NULL THEN state ELSE 'failed' END,
       verified_at = CASE WHEN CAST(+@reason AS TEXT) IS NULL THEN verified_at END,
       failure_reason = coalesce(+@reason, failure_reason)
     WHERE tenant_id = +@tenant AND id = +@id`,
    )
    .run({ at, reason, tenant, id });
  // A verified domain that fails begins its own re-check period.
  if (reason !== null) yield* beginRecheckPeriod(db, id, at, nextAt);
  return true;
}

function* beginRecheckPeriod(db: Transaction, id: Buffer, at: number, nextAt: number | null): Steps<void> {
  yield* db
    .sql(
      `UPDATE domain_rechecks SET since = +?, next_at = +?, looks = 0, misses = 0, first_miss_at = NULL WHERE domain_id = +?`,
    )
    .run(at, nextAt, id);
}
